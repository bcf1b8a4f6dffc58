"""Which process opened something that no other may use: a connection does not survive a fork."""

import os

from holdfast.contract.journal import JournalUnavailable


class Owner:
    """The process that made this."""

    def __init__(self) -> None:
        self._number = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether it is the process that asks."""
        return os.getpid() == self._number

    def check(self) -> None:
        """JournalUnavailable in a child that was forked since."""
        if not self.is_here:
            raise JournalUnavailable(
                "the store was opened before this process was forked; open it again in the child"
            )
