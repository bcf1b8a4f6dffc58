"""The journal as evidence: is it what was written, and who allowed what."""

from collections.abc import Iterator, Mapping

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import DATABASE, anchor_folder, known_key, store_url
from holdfast.record.anchor_form import Anchor
from holdfast.record.anchors import read_anchors
from holdfast.record.codec import Chain
from holdfast.record.decisions import Decision, decisions
from holdfast.record.journal import Reader
from holdfast.record.postgres.door import read_postgres
from holdfast.record.sqlite.opening import SqliteReader
from holdfast.record.verifying import Verified, verify


def verified(
    settings: Settings, surroundings: Surroundings, session_id: str | None
) -> Iterator[Verified]:
    """Look at every session, or at one. Blocking; JournalUnavailable."""
    reader = _reader(settings, surroundings)
    if reader is None:
        return
    try:
        folder = anchor_folder(settings, surroundings)
        anchors: Mapping[str, Anchor] = {} if folder is None else read_anchors(folder)
        chain = Chain(known_key(surroundings.state_home))
        yield from verify(reader, chain, anchors, session_id)
    finally:
        reader.close()


def decided(
    settings: Settings, surroundings: Surroundings, session_id: str | None
) -> Iterator[Decision]:
    """Every decision, or those of one session. Blocking; JournalUnavailable."""
    reader = _reader(settings, surroundings)
    if reader is None:
        return
    try:
        yield from decisions(reader, session_id)
    finally:
        reader.close()


def _reader(settings: Settings, surroundings: Surroundings) -> Reader | None:
    """Reads what is there, and makes nothing; None: nothing was written down yet."""
    if settings.store.kind == "postgres":
        return read_postgres(store_url(settings.store))
    path = surroundings.data_home / DATABASE
    return SqliteReader(path) if path.exists() else None
