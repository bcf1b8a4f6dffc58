"""Which process opened something that no other may use: a connection does not survive a fork."""

import os

from holdfast.contract.journal import JournalUnavailable


class _Forks:
    """How often this process came out of a fork: asking for its number is a system call."""

    count = 0

    def another(self) -> None:
        self.count += 1


_forks = _Forks()
os.register_at_fork(after_in_child=_forks.another)


class Owner:
    """The process that made this."""

    def __init__(self) -> None:
        self._forks = _forks.count

    @property
    def is_here(self) -> bool:
        """Whether it is the process that asks."""
        return self._forks == _forks.count

    def check(self) -> None:
        """JournalUnavailable in a child that was forked since."""
        if not self.is_here:
            raise JournalUnavailable(
                "the store was opened before this process was forked; open it again in the child"
            )
