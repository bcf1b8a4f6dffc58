"""Foreign work that is no tool, taken to its end: its own, its deadline's or an abort's."""

from holdfast.execution.run import driven

__all__ = ["driven"]
