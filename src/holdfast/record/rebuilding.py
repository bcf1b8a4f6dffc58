"""A session's events added up again, from nothing: what the rows beside them have to be."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

from holdfast.contract.archive import Difference
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.record import sql
from holdfast.record.appending import applied, known
from holdfast.record.codec import GENESIS, Stored, event_of
from holdfast.record.journal import Rows, stored_events
from holdfast.record.rows import Desk, Draft, Loads, Mark, Rebuilt, brief_of, fresh

_Key: TypeAlias = tuple[object, ...]


def rebuilt(reader: Rows, session_id: str) -> Rebuilt:
    """Add them up; UnknownSession. Blocking."""
    found = reader.rows(sql.SESSION, (session_id,))
    if not found:
        raise UnknownSession.named(session_id)
    kept = sql.session_of(found[0])
    called: set[str] = set()
    desk = Desk(_loads(called))
    first = reader.rows(sql.EVENTS_AFTER, (session_id, 0, 1))
    created_at = Stored(*first[0][:10]).micros if first else kept.created_at
    beginning = GENESIS if first else kept.hash
    draft = Draft(desk, fresh(session_id, created_at, kept.number, beginning))
    processed: dict[str, Mark] = {}
    for row in takewhile(
        lambda one: one.sequence <= kept.sequence, stored_events(reader, session_id)
    ):
        draft.events.append(row)
        processed[row.id] = Mark(row.sequence, sql.processed_at(row))
        applied(draft, row, event_of(row).payload)
        called.update(draft.state.calls)
    for marked in draft.marked:
        for event_id in marked.event_ids:
            mark = processed.get(event_id)
            if mark is not None and mark.at is None:
                processed[event_id] = Mark(mark.sequence, marked.at)
    if draft.events:
        draft.kept(draft.events[-1].micros)
    made = desk.session(session_id) or draft.row
    session = made._replace(epoch=kept.epoch, holder=kept.holder, until=kept.until)
    return Rebuilt(session, desk.messages, list(desk.new_parts.values()), processed)


def put_right(again: Rebuilt, desk: Desk) -> None:
    """Put the rows right, unless something happened meanwhile; JournalError."""
    row = known(again.session.id, desk)
    if (row.number, row.sequence) != (again.session.number, again.session.sequence):
        raise JournalError(f"session {again.session.id} went on meanwhile; try again")
    # Who runs it is not in its events, and may be another since.
    session = again.session._replace(epoch=row.epoch, holder=row.holder, until=row.until)
    desk.rebuild(again._replace(session=session))


def differences(reader: Rows, again: Rebuilt) -> tuple[Difference, ...]:
    """Where the rows that are kept are not those. Blocking."""
    session_id = again.session.id
    kept = sql.session_values(sql.session_of(reader.rows(sql.SESSION, (session_id,))[0]))
    found = list(_between("session", sql.SESSION_NAMES, kept, sql.session_values(again.session)))
    briefs = reader.rows(sql.BRIEF, (again.session.number,))
    brief = briefs[0] if briefs else None
    found += _between("brief", sql.BRIEF_NAMES, brief, brief_of(again.session))
    there: dict[_Key, sql.Row] = {
        (row[0],): row for row in reader.rows(sql.ALL_MESSAGES, (session_id,))
    }
    wanted: dict[_Key, sql.Row] = {(one.id,): tuple(one) for one in again.messages}
    found += _among("message", sql.MESSAGE_NAMES, there, wanted)
    # By their places, as these are what a store keeps one of.
    there = {(row[1], row[3]): row for row in reader.rows(sql.ALL_PARTS, (session_id,))}
    wanted = {(one.message_id, one.number): tuple(one) for one in again.parts}
    found += _among("part", sql.PART_NAMES, there, wanted)
    marks = {row[0]: row[1] for row in reader.rows(sql.MARKS, (session_id,))}
    for event_id, mark in again.processed.items():
        if marks.get(event_id) != mark.at:
            what = f"event {event_id} processed_at"
            found.append(_difference(what, marks.get(event_id), mark.at))
    return tuple(found)


def _among(
    what: str,
    names: Sequence[str],
    there: Mapping[_Key, sql.Row],
    wanted: Mapping[_Key, sql.Row],
) -> Iterator[Difference]:
    for key in sorted(there.keys() | wanted.keys(), key=str):
        one, other = there.get(key), wanted.get(key)
        yield from _between(f"{what} {(one or other or key)[0]}", names, one, other)


def _between(
    what: str, names: Sequence[str], kept: sql.Row | None, wanted: sql.Row | None
) -> Iterator[Difference]:
    if kept is None or wanted is None:
        if kept is not wanted:
            yield _difference(what, kept, wanted)
        return
    for name, one, other in zip(names, kept, wanted, strict=True):
        if one != other:
            yield _difference(f"{what} {name}", one, other)


def _difference(what: str, kept: object, wanted: object) -> Difference:
    return Difference(
        what=what,
        kept=None if kept is None else str(kept),
        wanted=None if wanted is None else str(wanted),
    )


def _loads(called: set[str]) -> Loads:
    """Nothing is there; a call was known if it was open once."""

    def was_called(_session_id: str, call_id: str) -> bool:
        return call_id in called

    return Loads(
        session=_no_row,
        part=_no_row,
        has_event=_never,
        was_called=was_called,
        new_number=lambda: 0,
    )


def _no_row(*_key: object) -> None:
    return None


def _never(*_key: object) -> bool:
    return False
