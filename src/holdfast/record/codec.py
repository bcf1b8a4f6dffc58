"""Events as bytes and back: one text per event, versions that only move forward, a keyed chain.

A newer version than this program knows is an error that says so; an older one is brought up to date
by a table. The text that is stored is the text that is hashed. Where it is stored is not known.
"""

import hmac
import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, cast

import msgspec

from holdfast.contract.events import KINDS, Event, Payload
from holdfast.contract.journal import JournalError
from holdfast.contract.json_value import JsonObject

Upcast = Callable[[JsonObject], JsonObject]
"""The fields of one version as the next one has them."""

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""By kind and version: how to read what an earlier holdfast wrote."""

GENESIS = bytes(32)
"""What the first event of a session follows."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_encoder = msgspec.json.Encoder(order="deterministic")
_known = {str(kind.__struct_config__.tag): kind for kind in KINDS}
_decoders = {name: msgspec.json.Decoder(kind) for name, kind in _known.items()}


class UnreadableEvent(JournalError):
    """An event that this program cannot read, or must not."""


class Stored(NamedTuple):
    """An event as a store keeps it: columns to look for, and the text that says it all."""

    session_id: str
    sequence: int
    id: str
    micros: int
    """When, in microseconds since 1970."""
    wake_id: str | None
    type: str
    version: int
    body: bytes
    previous: bytes
    hash: bytes


class Chain:
    """Makes each event vouch for all before it, by a key that is not in the store."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def link(self, previous: bytes, *parts: bytes) -> bytes:
        """The hash of an event that follows another. Each part is told with its length."""
        told = [previous]
        for part in parts:
            told += (len(part).to_bytes(8, "big"), part)
        return hmac.digest(self._key, b"".join(told), "sha256")


_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_PLACE_DIGITS = 6
_ID_LENGTH = 30


def placed_id(fresh_id: str, sequence: int) -> str:
    """An event's id that says where in its session the event is: it is found without an index.

    The last digits of a fresh id, which are noise, give way to its number.
    """
    digits = ""
    for _ in range(_PLACE_DIGITS):
        sequence, digit = divmod(sequence, 62)
        digits = _DIGITS[digit] + digits
    return fresh_id[:-_PLACE_DIGITS] + digits


def place_in(event_id: str) -> int | None:
    """Where an event of this id would be; None: its id does not say so."""
    digits = event_id[-_PLACE_DIGITS:]
    if len(event_id) != _ID_LENGTH or any(digit not in _VALUES for digit in digits):
        return None
    place = 0
    for digit in digits:
        place = place * 62 + _VALUES[digit]
    return place


class Unwritten(NamedTuple):
    """What is known of an event before the journal has given it a place."""

    id: str
    micros: int
    wake_id: str | None
    payload: Payload


def stored(
    event: Unwritten, session_id: str, sequence: int, previous: bytes, chain: Chain
) -> Stored:
    """Give an event its place behind another one."""
    kind = type(event.payload)
    name, version = str(kind.__struct_config__.tag), kind.VERSION
    body = _encoder.encode(event.payload)
    found = chain.link(previous, *_vouched(session_id, sequence, event, name, version, body))
    return Stored(
        session_id=session_id,
        sequence=sequence,
        id=event.id,
        micros=event.micros,
        wake_id=event.wake_id,
        type=name,
        version=version,
        body=body,
        previous=previous,
        hash=found,
    )


def is_genuine(row: Stored, chain: Chain) -> bool:
    """Whether a row is what was written, behind what was written before it."""
    told = Unwritten(row.id, row.micros, row.wake_id, Payload())
    parts = _vouched(row.session_id, row.sequence, told, row.type, row.version, row.body)
    return hmac.compare_digest(chain.link(row.previous, *parts), row.hash)


def event_of(
    row: Stored, processed_micros: int | None = None, payload: Payload | None = None
) -> Event:
    """Read a row; raises UnreadableEvent. Who has just written it knows what it says."""
    return Event(
        session_id=row.session_id,
        sequence=row.sequence,
        id=row.id,
        at=moment_of(row.micros),
        wake_id=row.wake_id,
        payload=payload or _payload(row),
        previous=row.previous,
        hash=row.hash,
        processed_at=None if processed_micros is None else moment_of(processed_micros),
    )


def moment_of(micros: int) -> datetime:
    """The moment that many microseconds after 1970 began."""
    return _EPOCH + timedelta(microseconds=micros)


def micros_of(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _payload(row: Stored) -> Payload:
    kind = _known.get(row.type)
    if kind is None or row.version > kind.VERSION:
        raise UnreadableEvent(
            f"event {row.sequence} of session {row.session_id} is a {row.type!r} of version"
            f" {row.version}, which this holdfast does not know; it was written by a newer one:"
            " update holdfast to read this session"
        )
    try:
        body = row.body if row.version == kind.VERSION else _up_to_date(row, kind.VERSION)
        return _decoders[row.type].decode(body)
    except msgspec.MsgspecError as problem:
        raise UnreadableEvent(
            f"event {row.sequence} of session {row.session_id} is damaged: {problem};"
            " see: holdfast audit verify"
        ) from None


def _up_to_date(row: Stored, current: int) -> bytes:
    fields = cast("JsonObject", msgspec.json.decode(row.body, type=dict))
    for version in range(row.version, current):
        fields = UPCASTS[row.type, version](fields)
    return _encoder.encode(fields)


def _vouched(
    session_id: str, sequence: int, event: Unwritten, name: str, version: int, body: bytes
) -> tuple[bytes, ...]:
    """All that must not change, unmistakably one after the other."""
    numbers = f"{sequence} {event.micros} {version}"
    wake = b"" if event.wake_id is None else b"+" + event.wake_id.encode()
    return (session_id.encode(), numbers.encode(), event.id.encode(), wake, name.encode(), body)
