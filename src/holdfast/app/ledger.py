"""The journal as evidence: is it what was written, and who allowed what. It changes nothing."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import (
    KEY,
    NOTHING_KEPT,
    anchor_folder,
    known_key,
    store_url,
    written_before,
)
from holdfast.app.store_places import explained
from holdfast.contract.journal import JournalError, JournalUnavailable
from holdfast.record import sql
from holdfast.record.absent import AbsentStore
from holdfast.record.anchor_form import Anchor, anchor_name, is_missed
from holdfast.record.anchors import read_anchors
from holdfast.record.archive import called
from holdfast.record.codec import Chain, Stored, is_genuine
from holdfast.record.decisions import Decision, decisions
from holdfast.record.journal import Reader, stored_events
from holdfast.record.postgres.door import read_postgres
from holdfast.record.sqlite.opening import SqliteReader
from holdfast.record.store import NoTables
from holdfast.record.verifying import Problem, Verified, verify

_NO_ANCHORS = (
    "the anchors are not there: nobody can tell whether sessions or their last events are missing;"
    " put {folder} back from a copy of the state home; what is written from now on is anchored anew"
)
_ANOTHER_KEY = (
    "this is not the key that signed this journal: it vouches for none of its events; put the"
    f" {KEY} back that was there when they were written; if it was never another one, all of"
    " them were written by somebody else"
)


_WHILE_TAKEN_AWAY = frozenset({"gone", "back again", "cut off"})
_TELLING_SECONDS = 0.1
"""Between taking a session away and telling so."""


class NotUsable(JournalError):
    """As things are configured there is nothing that could be looked at."""


class StoreProblem(NamedTuple):
    """Something that is wrong with the store as a whole."""

    trouble: Literal["anchors", "key"]
    told: str


class Verdict(NamedTuple):
    """What came of looking at everything."""

    sessions: int
    events: int
    not_anchored: int
    """Sessions of which nobody outside of the store knows how far they had come."""
    imported: int
    """Sessions that were put in as somebody else told them."""
    problems: tuple[Problem | StoreProblem, ...]


def verified(
    settings: Settings,
    surroundings: Surroundings,
    name: str | None,
    seen: Callable[[Verified], None],
) -> Verdict:
    """Look at every session, or at the one that is called so. Blocking; JournalError."""
    with _reading(settings, surroundings) as reader:
        folder = anchor_folder(settings, surroundings)
        anchors = _anchors(folder)
        only = None if name is None else called(reader, name, _missable(anchors))
        absent = isinstance(reader, AbsentStore)
        chain = Chain(b"" if absent else _key(settings, surroundings))
        whole = list(_of_the_store(reader, chain, anchors, folder))
        another_key = any(one.trouble == "key" for one in whole)
        found: list[Verified] = []
        for one in verify(reader, chain, anchors, only):
            seen(one)
            found.append(one)
        found = list(_looked_at_again(reader, chain, folder, found))
    return Verdict(
        sessions=sum(bool(one.session_id) for one in found),
        events=sum(one.events for one in found),
        not_anchored=sum(
            bool(one.session_id) and anchor_name(one.session_id) not in anchors for one in found
        ),
        imported=sum(one.imported for one in found),
        problems=(
            *whole,
            # With another key every event looks edited, which is said once.
            *(
                problem
                for one in found
                for problem in one.problems
                if not (another_key and problem.trouble == "edited")
            ),
        ),
    )


def _looked_at_again(
    reader: Reader, chain: Chain, folder: Path | None, found: list[Verified]
) -> Iterator[Verified]:
    """The same, but of sessions that somebody may have taken away meanwhile what is there now."""
    if any(map(_may_have_gone, found)):
        time.sleep(_TELLING_SECONDS)  # whoever was at it has told so by then
    anchors = _anchors(folder)
    for one in found:
        if _may_have_gone(one):
            yield from verify(reader, chain, anchors, one.session_id)
        else:
            yield one


def _may_have_gone(one: Verified) -> bool:
    """Whether it would look like this, too, if somebody took the session away a moment ago."""
    return any(problem.trouble in _WHILE_TAKEN_AWAY for problem in one.problems)


def missed(settings: Settings, surroundings: Surroundings) -> int:
    """How many sessions are gone that anchors know. Blocking; JournalError."""
    with _reading(settings, surroundings) as reader:
        anchors = _anchors(anchor_folder(settings, surroundings))
        kept = {anchor_name(str(row[0])) for row in reader.rows(sql.ALL_SESSION_IDS, ())}
    return sum(name not in kept for name in _missable(anchors))


def is_signed_elsewhere(settings: Settings, surroundings: Surroundings) -> bool:
    """Whether events are kept, and the key that signs here vouches neither for the first nor for
    the last of them: it is another one than that of other machines. Blocking; JournalError."""
    if surroundings.state_home is None:
        return False
    with _reading(settings, surroundings) as reader:
        rows = [Stored(*row[:10]) for row in reader.rows(sql.EDGE_EVENTS, ())]
    if not rows:
        return False
    chain = Chain(_key(settings, surroundings))
    return not any(is_genuine(row, chain) for row in rows)


def decided(settings: Settings, surroundings: Surroundings, name: str | None) -> Iterator[Decision]:
    """Every decision, or those of the session that is called so. Blocking; JournalError."""
    with _reading(settings, surroundings) as reader:
        yield from decisions(reader, None if name is None else called(reader, name))


def session_called(settings: Settings, surroundings: Surroundings, name: str) -> str:
    """The id of the session that is called so. Blocking; JournalError."""
    with _reading(settings, surroundings) as reader:
        return called(reader, name)


def _missable(anchors: Mapping[str, Anchor]) -> Iterator[str]:
    return (name for name, anchor in anchors.items() if is_missed(anchor))


def _of_the_store(
    reader: Reader, chain: Chain, anchors: Mapping[str, Anchor], folder: Path | None
) -> Iterator[StoreProblem]:
    ids = sorted(str(row[0]) for row in reader.rows(sql.ALL_SESSION_IDS, ()))
    if ids and not anchors:
        yield StoreProblem("anchors", _NO_ANCHORS.format(folder=folder))
    if not _vouches_for_any(reader, chain, ids):
        yield StoreProblem("key", _ANOTHER_KEY)


def _vouches_for_any(reader: Reader, chain: Chain, ids: list[str]) -> bool:
    """Whether the key fits one event at least, or there is none that could tell."""
    events = 0
    try:
        for session_id in ids:
            for row in stored_events(reader, session_id):
                if is_genuine(row, chain):
                    return True
                events += 1
    except JournalUnavailable:
        return True  # which session cannot be read is found when each is looked at
    return not events


@contextmanager
def _reading(settings: Settings, surroundings: Surroundings) -> Generator[Reader]:
    with explained(settings, surroundings):
        reader = _reader(settings, surroundings)
        try:
            yield reader
        finally:
            reader.close()


def _reader(settings: Settings, surroundings: Surroundings) -> Reader:
    """Reads what is there, and makes nothing."""
    if settings.store.kind == "none":
        raise NotUsable(NOTHING_KEPT)
    if settings.store.kind == "postgres":
        try:
            url = store_url(settings.store)
        except JournalUnavailable as problem:
            raise NotUsable(str(problem)) from None
        return _unless_absent(lambda: read_postgres(url))
    path = written_before(settings, surroundings)
    # An empty file is not opened: SQLite would remove the log that may still be beside it.
    if path is None or not path.stat().st_size:
        return AbsentStore()
    return _unless_absent(lambda: SqliteReader(path))


def _unless_absent(opened: Callable[[], Reader]) -> Reader:
    """Whoever opens a place without tables, or asks there first, hears that there are none."""
    reader: Reader = AbsentStore()
    try:
        reader = opened()
        reader.rows(sql.NOTHING, ())
    except NoTables:
        reader.close()
        return AbsentStore()
    except BaseException:
        reader.close()
        raise
    return reader


def _key(settings: Settings, surroundings: Surroundings) -> bytes:
    try:
        return known_key(surroundings.state_home, written_before(settings, surroundings))
    except JournalUnavailable as problem:
        raise NotUsable(str(problem)) from None


def _anchors(folder: Path | None) -> Mapping[str, Anchor]:
    try:
        return {} if folder is None else read_anchors(folder)
    except OSError as problem:
        raise JournalUnavailable(f"{problem.filename}: {problem.strerror}") from None
