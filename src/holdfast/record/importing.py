"""Reading a session that was written down as text: what `export` wrote, line by line.

A last line that was cut short is left out and told; whatever else is wrong is an error that names
its line. Nothing is opened and nothing is kept here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, NamedTuple

import msgspec
from msgspec.structs import replace

from holdfast.contract.event_kinds import KINDS
from holdfast.contract.events import CallSettled, Event, EventsProcessed, Payload, StatusIdle
from holdfast.contract.json_value import MAX_DEPTH, nests_too_deep
from holdfast.record.codec import Stored, UnreadableEvent, event_of, micros_of, placed_id
from holdfast.record.export import CHAT_TYPES, FORM_VERSION, HEAD_TYPE, WAKE_TYPE
from holdfast.record.rows import text_suffix

_UPDATE = "it was written by a newer holdfast: update holdfast to read it"
_SESSION_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}", re.ASCII)
"""A session has a folder of its name."""

_known = {str(kind.__struct_config__.tag): kind for kind in KINDS}

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class UnreadableExport(Exception):
    """A text that is no session, or not one this program can read."""


class Imported(NamedTuple):
    """A session as a text tells it; its hashes are made when it is kept."""

    session_id: str
    events: tuple[Event, ...]
    remarks: tuple[str, ...] = ()
    """What of the text was left out."""
    before: str = "line "
    """What stands before the number of a line, where one is named."""
    first: int = 1
    """The line of the first event."""

    def line_of(self, event_id: str) -> str:
        """Where an event stands in the text."""
        place = next(at for at, one in enumerate(self.events, self.first) if one.id == event_id)
        return f"{self.before}{place}"


class _Common(msgspec.Struct, frozen=True, kw_only=True):
    """What every event has, whatever its kind."""

    id: str
    type: str
    created_at: Moment
    processed_at: Moment | None = None
    wake_id: str | None = None
    sequence: int
    version: Annotated[int, msgspec.Meta(ge=1)]


class _Document(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    version: int


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    data: msgspec.Raw = msgspec.Raw(b"null")


class _Envelope(msgspec.Struct, frozen=True):
    """What everybody looks at who reads an answer."""

    ok: bool = False
    kind: str | None = None
    message: str | None = None


class _RunWake(msgspec.Struct, frozen=True, kw_only=True):
    class _Told(msgspec.Struct, frozen=True, kw_only=True):
        wake_id: str

    type: str
    data: _Told


_BROKEN = (msgspec.DecodeError, UnicodeError, OverflowError, RecursionError)
"""What a text does that nobody of us wrote."""
_DEEPEST = MAX_DEPTH + 16
"""A result may nest that deep, and stands in an answer, which stands in an event."""
_encode = msgspec.json.Encoder().encode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_common = msgspec.json.Decoder(_Common).decode
_document = msgspec.json.Decoder(_Document).decode
_head = msgspec.json.Decoder(_Head).decode
_envelope = msgspec.json.Decoder(_Envelope).decode
_wake = msgspec.json.Decoder(_RunWake).decode


def read_journal(text: bytes) -> Imported:
    """A session as one text: whose it is, then its events. UnreadableExport."""
    lines = _lines(text)
    try:
        head = _head(lines[0] if lines else b"")
    except _BROKEN:
        head = _Head(type="")
    if head.type in CHAT_TYPES:
        raise UnreadableExport(
            "this is a conversation, which is only for reading; export the session again with"
            " --form events or --form folder"
        )
    if head.type != HEAD_TYPE:
        raise UnreadableExport(f"line 1: it is no session: it has to say {HEAD_TYPE!r} first")
    return _read(lines[1:], read_document(bytes(head.data), "line 1"), first=2)


def read_events(text: bytes, session_id: str) -> Imported:
    """The events of a session that is known, and nothing else. UnreadableExport."""
    return _read(_lines(text), session_id, first=1)


def read_event(line: bytes, session_id: str) -> Event:
    """One event as it is written for others, without its hashes; UnreadableExport."""
    try:
        fields = _fields(line)
    except _BROKEN as problem:
        raise UnreadableExport(f"it is no event ({problem})") from None
    return _event(line, fields, session_id, "the event")


def read_document(text: bytes, where: str) -> str:
    """The id of the session that a document tells of; UnreadableExport."""
    try:
        told = _document(text)
    except _BROKEN as problem:
        raise UnreadableExport(f"{where}: it is no session ({problem})") from None
    if told.version > FORM_VERSION:
        raise UnreadableExport(f"{where}: it has version {told.version} of its form; {_UPDATE}")
    if _SESSION_ID.fullmatch(told.id) is None:
        raise UnreadableExport(f"{where}: {told.id!r} cannot be the id of a session")
    return told.id


def check_names(told: Imported) -> None:
    """Ids have to differ in what a message takes over from the event it is made by.

    UnreadableExport.
    """
    seen: dict[str, str] = {}
    for event in told.events:
        other = seen.setdefault(text_suffix(event.id), event.id)
        if other != event.id:
            raise UnreadableExport(
                f"{told.line_of(event.id)}: the event {event.id} has the same name as {other} in"
                f" {told.line_of(other)}: what follows the first _ has to be another"
            )


def renamed(told: Imported, session_id: str, new_id: Callable[[], str]) -> Imported:
    """The same as another session: events get ids of their own, and name each other by these."""
    names = {one.id: placed_id(new_id(), one.sequence) for one in told.events}
    events = (
        replace(
            one,
            session_id=session_id,
            id=names[one.id],
            payload=_with_names(one.payload, names),
        )
        for one in told.events
    )
    return told._replace(session_id=session_id, events=tuple(events))


def untold_wakes(text: bytes, told: Imported) -> int:
    """How many lines tell of wakes that are not in the events: those that were run are."""
    run = {event.wake_id for event in told.events}
    return sum(_wake_of(line) not in run for line in _lines(text))


def _wake_of(line: bytes) -> str:
    try:
        told = _wake(line)
    except _BROKEN:
        return ""
    return told.data.wake_id if told.type == WAKE_TYPE else ""


def _with_names(said: Payload, names: Mapping[str, str]) -> Payload:
    match said:
        case EventsProcessed():
            return replace(said, event_ids=_named(said.event_ids, names))
        case StatusIdle(blocking_event_ids=tuple(blocking)):
            return replace(said, blocking_event_ids=_named(blocking, names))
        case _:
            return said


def _named(event_ids: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(one, one) for one in event_ids)


def _lines(text: bytes) -> list[bytes]:
    return text.rstrip().split(b"\n") if text.strip() else []


def _read(lines: Sequence[bytes], session_id: str, *, first: int) -> Imported:
    events: list[Event] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, first):
        try:
            fields = _fields(line)
        except _BROKEN as problem:
            if number - first < len(lines) - 1:
                raise UnreadableExport(f"line {number}: it is broken ({problem})") from None
            remark = f"line {number}, the last one, is broken and was left out"
            return Imported(session_id, tuple(events), (remark,), first=first)
        event = _event(line, fields, session_id, f"line {number}")
        if event.sequence != len(events) + 1:
            raise UnreadableExport(
                f"line {number}: event {event.sequence} stands where {len(events) + 1} has to be;"
                " lines are missing or in disorder"
            )
        before = seen.setdefault(event.id, number)
        if before != number:
            raise UnreadableExport(
                f"line {number}: the event {event.id} stands in line {before} already;"
                " an id belongs to one event"
            )
        events.append(event)
    return Imported(session_id, tuple(events), first=first)


def _event(line: bytes, fields: dict[str, msgspec.Raw], session_id: str, where: str) -> Event:
    try:
        told = _common(line)
        too_deep = nests_too_deep(line, _DEEPEST)
    except _BROKEN as problem:
        raise UnreadableExport(f"{where}: it is no event ({problem})") from None
    if too_deep:
        raise UnreadableExport(f"{where}: it nests deeper than {_DEEPEST} levels")
    kind = _known.get(told.type)
    if kind is None or told.version > kind.VERSION:
        raise UnreadableExport(
            f"{where}: this holdfast does not know {told.type!r} of version {told.version};"
            f" {_UPDATE}"
        )
    own = {name: raw for name, raw in fields.items() if name not in _Common.__struct_fields__}
    row = Stored(
        session_id=session_id,
        sequence=told.sequence,
        id=told.id,
        micros=micros_of(told.created_at),
        wake_id=told.wake_id,
        type=told.type,
        version=told.version,
        body=_encode({"type": told.type, **own}),
        previous=b"",
        hash=b"",
    )
    processed = None if told.processed_at is None else micros_of(told.processed_at)
    try:
        event = event_of(row, processed)
        if isinstance(event.payload, CallSettled):
            _envelope(event.payload.envelope)
    except (UnreadableEvent, *_BROKEN) as problem:
        why = problem.__context__ or problem
        raise UnreadableExport(f"{where}: it is no {told.type!r} ({why})") from None
    return event
