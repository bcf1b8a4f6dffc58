"""Foreign work that is no tool, taken to its end: its own, its deadline's or an abort's.

It is known on which loop that is.
"""

from holdfast.execution.drive import this_loop
from holdfast.execution.run import driven

__all__ = ["driven", "this_loop"]
