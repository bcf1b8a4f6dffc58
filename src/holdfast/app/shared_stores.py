"""One opened store for everybody in a process who wants the same one, counted by its users.

The first opens it, and the last to close it closes it. Event loops in several threads may do so at
the same time. A forked child opens its own. How a store is opened is not known here.
"""

import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from anyio import to_thread

from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import (
    MOST_EVENTS,
    EventQuery,
    Journal,
    JournalUnavailable,
    Lease,
    Session,
)
from holdfast.record.store import Store


class StoreName(msgspec.Struct, frozen=True):
    """What makes two opened stores the same one."""

    place: str
    """A file, or the URL of a server."""
    durability: str
    state_home: str | None
    """Where its key and its anchors are."""
    clock: int | None
    """Whose time it goes by; None: the machine's."""


class SharedStores:
    """The stores that are open in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: dict[StoreName, _Shared] = {}
        self._of_parents: list[object] = []

    async def opened(
        self, name: StoreName, file: Path | None, opening: Callable[[], Store]
    ) -> Store:
        """The store of this name; it is closed for this user by closing its journal.

        Raises what opening it raises; whoever comes next tries again.
        """
        shared = self._claimed(name, file)
        try:
            store = shared.store or await to_thread.run_sync(shared.opened, opening)
        except BaseException:
            self._give_up(name, shared)
            raise
        return store._replace(
            journal=SharedJournal(store.journal, partial(self._end, name, shared))
        )

    def forget(self) -> None:
        """In the child after a fork: what is open is the parent's."""
        # Kept, as a connection that nobody knows any more would be closed.
        self._of_parents.append(self._shared)
        self._lock = threading.Lock()
        self._shared = {}

    def _claimed(self, name: StoreName, file: Path | None) -> "_Shared":
        with self._lock:
            shared = self._shared.get(name)
            if shared is None or not shared.is_still_there():
                shared = self._shared[name] = _Shared(file)
            shared.users += 1
            return shared

    def _let_go(self, name: StoreName, shared: "_Shared") -> Store | None:
        """One user less; the store, if that was the last one."""
        with self._lock:
            shared.users -= 1
            if shared.users or shared.is_opening:
                return None
            if self._shared.get(name) is shared:
                del self._shared[name]
            return shared.store

    def _give_up(self, name: StoreName, shared: "_Shared") -> None:
        """One user less. What its thread has opened, or still opens, waits for the next user."""
        with self._lock:
            shared.users -= 1
            unused = not shared.users and shared.store is None and not shared.is_opening
            if unused and self._shared.get(name) is shared:
                del self._shared[name]

    async def _end(self, name: StoreName, shared: "_Shared") -> None:
        last = self._let_go(name, shared)
        if last is not None:
            await last.journal.close()


class _Shared:
    """A store that is open or about to be, and how many use it."""

    def __init__(self, file: Path | None) -> None:
        self.users = 0
        self.store: Store | None = None
        self._file = file
        self._opened_file: tuple[int, int] | None = None
        self._opening = threading.Lock()

    @property
    def is_opening(self) -> bool:
        """Whether a thread is about to open it."""
        return self._opening.locked()

    def opened(self, opening: Callable[[], Store]) -> Store:
        """The store, opened by whoever is first. Blocking."""
        with self._opening:
            if self.store is None:
                if not self.users:
                    raise JournalUnavailable("whoever wanted the store has given up")
                self.store = opening()
                self._opened_file = _identity(self._file)
            return self.store

    def is_still_there(self) -> bool:
        """Whether its file is the one of that name; it may have been moved away since."""
        return self.store is None or _identity(self._file) == self._opened_file


class SharedJournal:
    """A journal that others use, too: closed for one user, and not for them."""

    def __init__(self, journal: Journal, end: Callable[[], Awaitable[None]]) -> None:
        self._journal = journal
        self._end = end
        self._closed = False

    async def create(self, session_id: str, payloads: Sequence[Payload], /) -> tuple[Event, ...]:
        """Begin a session with its first events; one that exists is a JournalError."""
        return await self._open().create(session_id, payloads)

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> tuple[Event, ...]:
        """Append, all or none; what does not fit is refused by NotFitting."""
        journal = self._open()
        return await journal.append(session_id, payloads, epoch=epoch, wake_id=wake_id, ids=ids)

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = MOST_EVENTS
    ) -> tuple[Event, ...]:
        """The events behind a number, in order."""
        return await self._open().events(session_id, after=after, limit=limit)

    async def find(self, session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
        """The events that fit, in order."""
        return await self._open().find(session_id, query)

    async def session(self, session_id: str, /) -> Session:
        """Where a session stands; UnknownSession."""
        return await self._open().session(session_id)

    async def due(self, before_micros: int, /, *, limit: int) -> tuple[Session, ...]:
        """The sessions that have to be run by then, the most urgent first, then by their ids."""
        return await self._open().due(before_micros, limit=limit)

    async def next_due(self) -> int | None:
        """When the first session has to be run; None: not for now."""
        return await self._open().next_due()

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        """Take the right to run it, under a new epoch; LeaseHeld while another has it."""
        return await self._open().lease(session_id, holder, seconds)

    async def take_over(self, lost: Lease, holder: str, seconds: float, /) -> Lease:
        """Take it from somebody who is known to be gone; LeaseHeld when another was faster."""
        return await self._open().take_over(lost, holder, seconds)

    async def renew(self, lease: Lease, seconds: float, /) -> Lease:
        """Keep it for longer; StaleEpoch when it was lost."""
        return await self._open().renew(lease, seconds)

    async def release(self, lease: Lease, /) -> None:
        """Give it back; harmless when it was lost."""
        await self._open().release(lease)

    async def close(self) -> None:
        """Let go of the store; the last one waits for what was begun, and closes it."""
        if not self._closed:
            self._closed = True
            await self._end()

    def _open(self) -> Journal:
        if self._closed:
            raise JournalUnavailable("the journal is closed")
        return self._journal


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Which file it is that has this name now."""
    try:
        found = None if file is None else file.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


STORES = SharedStores()
"""The one registry of a process."""
os.register_at_fork(after_in_child=STORES.forget)
