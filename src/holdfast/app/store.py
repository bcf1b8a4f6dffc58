"""Opening the store that the configuration names, with the key that vouches for it.

The key is kept where people's decisions are, never beside the journal.
"""

import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

from holdfast.app.holders import new_holder
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.shared_stores import STORES, StoreName
from holdfast.app.state_file import make_private, read_bytes, replace
from holdfast.app.store_places import DATABASE, explained
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal, JournalUnavailable, JournalUnusable
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.ports import Clock, IdSource
from holdfast.record.anchors import AnchorFiles, Anchors, NoAnchors
from holdfast.record.codec import Chain
from holdfast.record.postgres import door
from holdfast.record.sqlite.alone import is_alone
from holdfast.record.sqlite.health import check_sqlite
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store, StoreHealth
from holdfast.record.unavailable import NO_ROOM, NoRoom, refused
from holdfast.runtime.clock import TRUE_CLOCKS, SystemClock, clock_of
from holdfast.runtime.held_lease import PLAIN_TIMES, LeaseTimes
from holdfast.runtime.session_log import SessionLog

_PASSWORD = late_pattern(r":[^:@/]*@")
KEY = "journal.key"
_KEY_BYTES = 32
_NO_URL = (
    "store.kind is postgres and store.url is missing; set HOLDFAST_STORE__URL to"
    " postgresql://user:password@host:port/database, or url in your own configuration file"
)
NOTHING_KEPT = "store.kind is none: no sessions are kept; set store.kind = 'sqlite' to keep them"


def open_store(
    settings: Settings, surroundings: Surroundings, clock: Clock, ids: IdSource
) -> Store:
    """The store that the settings name, made where there is none. Blocking; JournalUnavailable."""
    store = settings.store
    if store.kind == "none":
        raise JournalUnavailable(NOTHING_KEPT)
    if store.kind == "postgres":
        return _opened(
            settings, surroundings, partial(door.open_postgres, store_url(store)), (clock, ids)
        )
    path = surroundings.data_home / DATABASE
    opening = partial(open_sqlite, path, durability=store.durability)
    return _opened(settings, surroundings, opening, (clock, ids))


def clock_for(settings: Settings) -> Clock:
    """The clock by which sessions are kept: that of the server, where machines share one."""
    shared = settings.store.url if settings.store.kind == "postgres" else None
    return clock_of(shared) if shared else SystemClock()


async def shared_store(
    settings: Settings, surroundings: Surroundings, clock: Clock, ids: IdSource
) -> Store:
    """The same, opened once for everybody in this process; each closes its own journal of it."""
    home, store = surroundings.state_home, settings.store
    is_file = store.kind == "sqlite"
    path = surroundings.data_home.absolute() / DATABASE
    name = StoreName(
        place=str(path) if is_file else store.url or "",
        durability=store.durability,
        state_home=None if home is None else str(home.absolute()),
        clock=None if isinstance(clock, TRUE_CLOCKS) else id(clock),
    )
    opening = partial(open_store, settings, surroundings, clock, ids)
    return await STORES.opened(name, path if is_file else None, opening)


def _opened(
    settings: Settings,
    surroundings: Surroundings,
    opening: Callable[[Chain, Clock, IdSource, Anchors], Store],
    ports: tuple[Clock, IdSource],
) -> Store:
    with explained(settings, surroundings):
        chain = _chain(settings, surroundings)
        anchors = _anchors(settings, surroundings)
        try:
            return opening(chain, *ports, anchors)
        except BaseException:
            anchors.close()
            raise


def written_before(settings: Settings, surroundings: Surroundings) -> Path | None:
    """The file that sessions were written to, if there is one; JournalUnavailable."""
    path = surroundings.data_home / DATABASE
    try:
        return path if settings.store.kind == "sqlite" and path.lstat() else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise refused(path, problem) from None


def _chain(settings: Settings, surroundings: Surroundings) -> Chain:
    """What signs. Where the key of what is there is missing, it can still be read."""
    home, journal = surroundings.state_home, written_before(settings, surroundings)
    if journal is None or home is None:
        return Chain(journal_key(home))
    try:
        return Chain(known_key(home, journal))
    except JournalUnavailable:
        return _ChainWithoutKey(partial(known_key, home, journal))


class _ChainWithoutKey(Chain):
    """Signs nothing until its key is put back."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        """``key``: JournalUnavailable while it is not there."""
        super().__init__(b"")
        self._key = key
        self._chain: Chain | None = None

    def link(self, told: bytes) -> bytes:
        """The hash of what is told of an event; JournalUnavailable."""
        if self._chain is None:
            self._chain = Chain(self._key())
        return self._chain.link(told)


def store_health(settings: Settings, surroundings: Surroundings) -> StoreHealth:
    """How the store is, without changing it. Blocking; JournalUnavailable, with what to do."""
    if settings.store.kind == "postgres":
        return door.check_postgres(store_url(settings.store))
    return check_sqlite(surroundings.data_home / DATABASE)


def store_url(store: StoreSettings) -> str:
    """Where the database is; JournalUnavailable."""
    if not store.url:
        raise JournalUnavailable(_NO_URL)
    return store.url


def check_key(settings: Settings, surroundings: Surroundings) -> tuple[Path, bool]:
    """Where the key is, and whether it is there or still to be made; JournalUnavailable."""
    home = cast("Path", surroundings.state_home)
    journal = written_before(settings, surroundings)
    path = home / KEY
    if journal is None and _read_key(path) is None:
        return path, False
    known_key(home, journal)
    return path, True


def journal_key(state_home: Path | None) -> bytes:
    """The key that vouches for journals, made once; without a place for it, one that is forgotten.

    JournalUnavailable.
    """
    if state_home is None:
        return secrets.token_bytes(_KEY_BYTES)
    path = state_home / KEY
    if _read_key(path) is None:
        try:
            _make_key(path)
        except OSError as problem:
            raise refused(path, problem) from None
    return known_key(state_home)


def known_key(state_home: Path | None, journal: Path | None = None) -> bytes:
    """The key that was made before, and signed the journal; JournalUnavailable."""
    path = None if state_home is None else state_home / KEY
    found = None if path is None else _read_key(path)
    if found is None:
        named = journal or "the journal"
        raise JournalUnusable(
            f"{path or KEY}: the key that vouches for {named} is not there, so that it can only be"
            f" read; put the key back from a copy, or move {named} away to begin anew"
        )
    if len(found) == _KEY_BYTES:
        return found
    said = f"{path} is not a key: it must be {_KEY_BYTES} bytes"
    if journal is None:
        raise JournalUnusable(
            f"{said}; put the right one back from a copy, or move it away: then a new one is made"
        )
    raise JournalUnusable(
        f"{said}, so that {journal} can only be read; put the right one back from a copy, or move"
        " both away to begin anew"
    )


def _read_key(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError as problem:
        raise JournalUnavailable(f"{path}: {problem.strerror or problem}") from None


def anchor_folder(settings: Settings, surroundings: Surroundings) -> Path | None:
    """Where the ends of this store's sessions are remembered: beside the key; None: nowhere.

    A file is known by its way from there: a home that is moved as a whole keeps what it remembers.
    """
    if surroundings.state_home is None:
        return None
    place = os.path.relpath(surroundings.data_home / DATABASE, surroundings.state_home)
    if settings.store.kind == "postgres":
        place = _PASSWORD.sub("@", store_url(settings.store))
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    return surroundings.state_home / "anchors" / name


def _anchors(settings: Settings, surroundings: Surroundings) -> Anchors:
    folder = anchor_folder(settings, surroundings)
    if folder is None:
        return NoAnchors()
    try:
        make_private(folder)
    except OSError as problem:
        if problem.errno not in NO_ROOM:  # else they are made when there is some
            raise refused(folder, problem) from None
    return AnchorFiles(folder)


def session_log(
    settings: Settings,
    surroundings: Surroundings,
    created: SessionCreated,
    session_id: str,
    clock: Clock,
    ids: IdSource,
) -> SessionLog | None:
    """Where the calls of a session are written down; None: nowhere, as the configuration says."""
    if settings.store.kind == "none":
        return None

    path = surroundings.data_home / DATABASE

    async def opening() -> Journal:
        journal = (await shared_store(settings, surroundings, clock, ids)).journal
        if settings.store.kind == "sqlite" and is_alone(path):
            # Whoever runs a session may do so for long, and would keep all others out.
            await journal.close()
            raise NoRoom.at(path)
        return journal

    return SessionLog(opening, created, session_id, new_holder(), clock, _times(settings, created))


def _times(settings: Settings, created: SessionCreated) -> LeaseTimes:
    """Whoever runs an agent's session says so all the time, and others take it up soon after."""
    if created.agent_id is None:
        return PLAIN_TIMES
    return LeaseTimes(
        lease_seconds=settings.engine.lease_seconds,
        # However it is configured: a lease is renewed before it is over.
        heartbeat_seconds=min(settings.engine.heartbeat_seconds, settings.engine.lease_seconds / 2),
    )


def _make_key(path: Path) -> None:
    """Whoever is first makes it; a file of its name appears only with all of it in it."""
    make_private(path.parent)
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    replace(part, secrets.token_bytes(_KEY_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink()
