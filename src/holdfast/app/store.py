"""Opening the store that the configuration names, with the key that vouches for it.

The key is kept where people's decisions are, never beside the journal.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from holdfast.app.holders import new_holder
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.shared_stores import STORES, StoreName
from holdfast.app.state_file import make_private, read_bytes, replace
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.record.anchors import AnchorFiles, Anchors, NoAnchors
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import check_postgres, open_postgres
from holdfast.record.sqlite.health import check_sqlite
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store, StoreHealth
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.session_log import SessionLog

DATABASE = "holdfast.db"
_PASSWORD = re.compile(r":[^:@/]*@")
KEY = "journal.key"
_KEY_BYTES = 32
_WAYS_OUT = (
    "; let HOLDFAST_HOME name a place that can be written, or set store.kind = 'none' to have"
    " nothing written down"
)
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
            settings, surroundings, partial(open_postgres, store_url(store)), (clock, ids)
        )
    path = surroundings.data_home / DATABASE
    if path.exists() and surroundings.state_home is not None:
        known_key(surroundings.state_home)
    opening = partial(open_sqlite, path, durability=store.durability)
    try:
        return _opened(settings, surroundings, opening, (clock, ids))
    except JournalUnavailable as problem:
        raise JournalUnavailable(f"{problem}{_WAYS_OUT}") from None


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
        clock=None if isinstance(clock, SystemClock) else id(clock),
    )
    opening = partial(open_store, settings, surroundings, clock, ids)
    return await STORES.opened(name, path if is_file else None, opening)


def _opened(
    settings: Settings,
    surroundings: Surroundings,
    opening: Callable[[Chain, Clock, IdSource, Anchors], Store],
    ports: tuple[Clock, IdSource],
) -> Store:
    chain = Chain(journal_key(surroundings.state_home))
    anchors = _anchors(settings, surroundings)
    try:
        return opening(chain, *ports, anchors)
    except BaseException:
        anchors.close()
        raise


def store_health(settings: Settings, surroundings: Surroundings) -> StoreHealth:
    """How the store is, without changing it. Blocking; JournalUnavailable, with what to do."""
    if settings.store.kind == "postgres":
        return check_postgres(store_url(settings.store))
    return check_sqlite(surroundings.data_home / DATABASE)


def store_url(store: StoreSettings) -> str:
    """Where the database is; JournalUnavailable."""
    if not store.url:
        raise JournalUnavailable(_NO_URL)
    return store.url


def journal_key(state_home: Path | None) -> bytes:
    """The key that vouches for journals, made once; without a place for it, one that is forgotten.

    JournalUnavailable.
    """
    if state_home is None:
        return secrets.token_bytes(_KEY_BYTES)
    path = state_home / KEY
    try:
        found = read_bytes(path)
        if found is None:
            _make_key(path)
            found = read_bytes(path)
    except OSError as problem:
        raise JournalUnavailable(f"{path}: {problem.strerror or problem}") from None
    if found is None or len(found) != _KEY_BYTES:
        raise JournalUnavailable(
            f"{path} is not a key: it must be {_KEY_BYTES} bytes; put the right one back, or move"
            " it away to begin with a new one, which cannot vouch for what was written before"
        )
    return found


def known_key(state_home: Path | None) -> bytes:
    """The key that was made before; JournalUnavailable."""
    if state_home is None or not (state_home / KEY).exists():
        raise JournalUnavailable(
            "the key that vouches for the journal is not there"
            f" ({KEY} in the folder of holdfast's state); put it back, or move {DATABASE} away to"
            " begin with another one"
        )
    return journal_key(state_home)


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
        raise JournalUnavailable(f"{folder}: {problem.strerror}") from None
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

    async def opening() -> Journal:
        return (await shared_store(settings, surroundings, clock, ids)).journal

    return SessionLog(opening, created, session_id, new_holder(), clock)


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
