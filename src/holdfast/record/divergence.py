"""Where two tellings of the same event part ways: the first place, and what stands there.

Pure. Who told the second one, and why, is not known here.
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeAlias, cast

import msgspec

from holdfast.contract.events import Event, Payload
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.record.codec import GENESIS, IMPORTED, Chain, Unwritten, micros_of, stored

Place: TypeAlias = tuple[str | int, ...]
"""The way to a value: names of fields and numbers of items."""

MEASURED: frozenset[Place] = frozenset(
    ("envelope", "metadata", name)
    for name in (
        *("duration_ms", "truncated", "output_path", "tail"),
        *("output_bytes", "dropped_bytes"),
    )
)
"""What an answer says of one run alone: it is taken as it was recorded."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder().decode


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """The first thing that would not be written down again as it was."""

    sequence: int
    event_id: str
    kind: str
    field: str
    """A JSON path into the event."""
    before: JsonValue | msgspec.UnsetType = msgspec.UNSET
    """What was recorded; without it: nothing."""
    after: JsonValue | msgspec.UnsetType = msgspec.UNSET
    """What it would be now."""
    says: str | None = None
    """What is said now, where something else happens."""


class Parting(NamedTuple):
    """Where two values differ, and what each has there."""

    place: Place
    before: JsonValue | msgspec.UnsetType
    after: JsonValue | msgspec.UnsetType


def parting(before: JsonValue, after: JsonValue) -> Parting | None:
    """The first place where two values differ, fields by name; None: they are the same JSON."""
    waiting = [Parting((), before, after)]
    while waiting:
        here = waiting.pop()
        one, other = here.before, here.after
        if isinstance(one, dict) and isinstance(other, dict):
            names = sorted(one.keys() | other.keys(), reverse=True)
            waiting += [_inner(here.place, name, one, other) for name in names]
        elif isinstance(one, list) and isinstance(other, list):
            numbers = range(max(len(one), len(other)) - 1, -1, -1)
            waiting += [_item(here.place, number, one, other) for number in numbers]
        elif type(one) is not type(other) or one != other:
            return here
    return None


def _inner(place: Place, name: str, one: JsonObject, other: JsonObject) -> Parting:
    unset = msgspec.UNSET
    return Parting((*place, name), one.get(name, unset), other.get(name, unset))


def _item(place: Place, number: int, one: list[JsonValue], other: list[JsonValue]) -> Parting:
    unset = msgspec.UNSET
    return Parting(
        (*place, number),
        one[number] if number < len(one) else unset,
        other[number] if number < len(other) else unset,
    )


def json_path(place: Place) -> str:
    """A place as text: `$.envelope.result.lines[2]`."""
    return "$" + "".join(_step(step) for step in place)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _NAME.fullmatch(step) else f"[{_encode(step).decode()}]"


def told(payload: Payload) -> JsonObject:
    """What an event says, as JSON."""
    return cast("JsonObject", _decode(_encode(payload)))


def diverging(
    event: Event, now: Payload | None, left_out: Collection[Place] = MEASURED
) -> Divergence | None:
    """Where what would be written now is not the event, apart from what is left out."""
    before = _comparable(event.payload, left_out)
    if now is None:
        return _at(event, Parting((), before, msgspec.UNSET))
    after = _comparable(now, left_out)
    found = parting(before, after)
    if before["type"] != after["type"]:
        found = Parting(("type",), before["type"], after["type"])
    says = _says(after)
    return None if found is None else _at(event, found, None if says == _says(before) else says)


def _comparable(payload: Payload, left_out: Iterable[Place]) -> JsonObject:
    said = told(payload)
    for *way, last in left_out:
        here: JsonValue = said
        for step in way:
            here = here.get(step) if isinstance(here, dict) and isinstance(step, str) else None
        if isinstance(here, dict) and isinstance(last, str):
            here.pop(last, None)
    return said


def _says(said: JsonObject) -> str | None:
    """Why it is so now, where the event tells."""
    envelope = said.get("envelope")
    given = said.get("reason") or (envelope.get("message") if isinstance(envelope, dict) else None)
    return given if isinstance(given, str) else None


def _at(event: Event, found: Parting, says: str | None = None) -> Divergence:
    return Divergence(
        sequence=event.sequence,
        event_id=event.id,
        kind=event.type,
        field=json_path(found.place),
        before=found.before,
        after=found.after,
        says=says,
    )


def not_vouched_for(events: Iterable[Event], chain: Chain) -> Divergence | None:
    """The first event that is not what was written when its hash was; or the key is another."""
    previous = GENESIS
    for event in events:
        if event.sequence == 1 and event.previous == IMPORTED:
            previous = IMPORTED
        unwritten = Unwritten(event.id, micros_of(event.at), event.wake_id, event.payload)
        wanted = stored(unwritten, event.session_id, event.sequence, previous, chain).hash
        if event.hash != wanted:
            says = "the event was changed after it was written, or the journal's key was"
            return _at(event, Parting(("hash",), event.hash.hex(), wanted.hex()), says)
        previous = event.hash
    return None
