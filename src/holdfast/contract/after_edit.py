"""What happens once a call has changed files: programs of the host look at them."""

from collections.abc import Sequence
from typing import Protocol

from holdfast.contract.call_port import CallPort


class AfterEdit(CallPort, Protocol):
    """The host's programs for changed files. What they find goes with the answer as warnings."""

    def changed(self, paths: Sequence[str], /) -> None:
        """Have them look at these files. Blocking; never raises for what a program does."""
        ...
