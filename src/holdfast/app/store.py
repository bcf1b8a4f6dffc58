"""Opening the store that the configuration names, with the key that vouches for it.

The key is kept where people's decisions are, never beside the journal.
"""

import hashlib
import os
import secrets
from contextlib import suppress
from functools import partial
from pathlib import Path

from anyio import to_thread

from holdfast.app.holders import this_process
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.state_file import make_private, read_bytes, replace
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.record.anchors import AnchorFiles, Anchors, NoAnchors
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.runtime.session_log import SessionLog

DATABASE = "holdfast.db"
KEY = "journal.key"
_KEY_BYTES = 32
_WAYS_OUT = (
    "; let HOLDFAST_HOME name a place that can be written, or set store.kind = 'none' to have"
    " nothing written down"
)


def open_store(
    settings: Settings, surroundings: Surroundings, clock: Clock, ids: IdSource
) -> Store:
    """The store of this machine, made where there is none. Blocking; JournalUnavailable."""
    path = surroundings.data_home / DATABASE
    try:
        return open_sqlite(
            path,
            Chain(journal_key(surroundings.state_home)),
            clock,
            ids,
            settings.store.durability,
            _anchors(surroundings),
        )
    except JournalUnavailable as problem:
        raise JournalUnavailable(f"{problem}{_WAYS_OUT}") from None


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
            f" ({KEY} in the folder of holdfast's state); put it back"
        )
    return journal_key(state_home)


def anchor_folder(surroundings: Surroundings) -> Path | None:
    """Where the ends of this store's sessions are remembered: beside the key; None: nowhere."""
    if surroundings.state_home is None:
        return None
    place = str(surroundings.data_home / DATABASE).encode()
    return surroundings.state_home / "audit" / "anchors" / hashlib.sha256(place).hexdigest()[:16]


def _anchors(surroundings: Surroundings) -> Anchors:
    folder = anchor_folder(surroundings)
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
        opened = partial(open_store, settings, surroundings, clock, ids)
        return (await to_thread.run_sync(opened)).journal

    return SessionLog(opening, created, session_id, this_process(), clock)


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
