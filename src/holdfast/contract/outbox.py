"""What has to be run and was not told to anybody yet: the port between a store and who tells it.

That a session has to be run stands in the journal; telling is only a hint, and may be lost or come
twice. So a store remembers for each session that is due whether it was told, and forgets that as
soon as the session becomes due at another moment. Whom it is told to is not known here.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from holdfast.contract.journal import Session


class Outbox(Protocol):
    """Sessions of one store that somebody has to be told of. All raise JournalUnavailable.

    Whoever runs a session looks at its end whether it is still due: while its lease has not ended,
    it is nobody else's to tell.
    """

    async def untold(
        self, now_micros: int, before_micros: int, /, *, limit: int
    ) -> tuple[Session, ...]:
        """Those that are due by ``before_micros`` and were not told, the most urgent first."""
        ...

    async def told(self, sessions: Sequence[Session], /) -> None:
        """These were told, as they stood. One that stands otherwise by now was not."""
        ...

    async def overdue(
        self, now_micros: int, before_micros: int, /, *, after: str, limit: int
    ) -> tuple[Session, ...]:
        """Those that were told and are still due since ``before_micros``: in the order of their
        ids, behind the id ``after``."""
        ...

    async def standing(self, session_ids: Collection[str], /) -> Mapping[str, Session]:
        """Where these stand, those that there are."""
        ...
