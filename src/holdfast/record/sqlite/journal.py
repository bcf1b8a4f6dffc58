"""The journal port on SQLite: one thread writes for everybody, readers never wait for it."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import Head, Lease, UnknownSession
from holdfast.contract.ports import Clock, IdSource
from holdfast.record.codec import Chain, Stored, Unwritten, event_of
from holdfast.record.group_commit import GroupCommit
from holdfast.record.sqlite import store
from holdfast.record.sqlite.connection import Durability, open_reader, told
from holdfast.record.sqlite.store import Appending, SqliteCommitter

_T = TypeVar("_T")
_PAGE = (
    "SELECT session_id, sequence, id, micros, wake_id, type, version, body, previous, hash"
    " FROM events WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?"
)


class SqliteJournal:
    """Opened when it is made; closed once."""

    def __init__(
        self,
        path: Path,
        chain: Chain,
        clock: Clock,
        ids: IdSource,
        durability: Durability = "process",
    ) -> None:
        """Blocking; raises JournalUnavailable."""
        self._path = path
        self._chain = chain
        self._clock = clock
        self._ids = ids
        # A commit that waits for the disk would hold up the event loop.
        committer = SqliteCommitter(path, durability)
        self._writer = GroupCommit(committer, at_once=durability == "process")

    async def create(self, session_id: str, payloads: Sequence[Payload], /) -> tuple[Event, ...]:
        """Begin a session with its first events; one that exists is a JournalError."""
        return await self._append(
            Appending(session_id, self._unwritten(payloads, None), creates=True)
        )

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
    ) -> tuple[Event, ...]:
        """Append, all or none. With an epoch, only while it is the newest one: StaleEpoch."""
        return await self._append(Appending(session_id, self._unwritten(payloads, wake_id), epoch))

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = 1000
    ) -> tuple[Event, ...]:
        """The events behind a place, in order."""
        rows = await self._read(
            lambda reader: reader.execute(_PAGE, (session_id, after, limit)).fetchall()
        )
        return tuple(event_of(Stored(*row)) for row in rows)

    async def head(self, session_id: str, /) -> Head:
        """Where a session stands; UnknownSession."""
        row = await self._read(
            lambda reader: reader.execute(
                "SELECT sequence, hash, epoch FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
        )
        if row is None:
            raise UnknownSession(f"there is no session {session_id}; see: holdfast sessions")
        sequence, found, epoch = row
        return Head(session_id=session_id, sequence=sequence, hash=found, epoch=epoch)

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        """Take the right to run it, under a new epoch; LeaseHeld while another has it."""
        now, until = self._until(seconds)
        return await self._writer.do(partial(store.lease, session_id, holder, now, until))

    async def renew(self, lease: Lease, seconds: float, /) -> Lease:
        """Keep it for longer; StaleEpoch when it was lost."""
        return await self._writer.do(partial(store.renew, lease, self._until(seconds)[1]))

    async def release(self, lease: Lease, /) -> None:
        """Give it back; harmless when it was lost."""
        await self._writer.do(partial(store.release, lease))

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store."""
        await self._writer.close()

    async def _append(self, wanted: Appending) -> tuple[Event, ...]:
        rows = await self._writer.do(partial(store.append, wanted, self._chain))
        pairs = zip(rows, wanted.events, strict=True)
        return tuple([event_of(row, event.payload) for row, event in pairs])

    def _unwritten(self, payloads: Sequence[Payload], wake_id: str | None) -> tuple[Unwritten, ...]:
        micros = self._clock.unix_ns() // 1000
        return tuple(Unwritten(self._ids.new("evt"), micros, wake_id, one) for one in payloads)

    def _until(self, seconds: float) -> tuple[int, int]:
        now = self._clock.unix_ns() // 1000
        return now, now + int(seconds * 1_000_000)

    async def _read(self, question: Callable[[sqlite3.Connection], _T]) -> _T:
        def answered() -> _T:
            reader = open_reader(self._path)
            try:
                with told(self._path):
                    return question(reader)
            finally:
                reader.close()

        return await to_thread.run_sync(answered)
