"""Events as bytes and back: one text per event, versions that only move forward, a keyed chain.

A newer version than this program knows is an error that says so; an older one is brought up to date
by a table. The text that is stored is the text that is hashed. Where it is stored is not known.
"""

import hashlib
import hmac
import string
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, cast

import msgspec

from holdfast.contract.event_kinds import KINDS
from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import JournalError, TooNew
from holdfast.contract.json_value import JsonObject

Upcast = Callable[[JsonObject], JsonObject]
"""The fields of one version as the next one has them."""

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""By kind and version: how to read what an earlier holdfast wrote."""

GENESIS = bytes(32)
"""What the first event of a session follows."""
IMPORTED = hashlib.sha256(b"imported").digest()
"""The same, of a session that was put in as somebody else told it: who holds the key wrote it down,
but was not there."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_encoder = msgspec.json.Encoder(order="deterministic")
_known = {str(kind.__struct_config__.tag): kind for kind in KINDS}
_TAGS = {kind: name for name, kind in _known.items()}
_decoders = {name: msgspec.json.Decoder(kind) for name, kind in _known.items()}


class UnreadableEvent(JournalError):
    """An event that this program cannot read, or must not."""


class NewerEvent(UnreadableEvent, TooNew):
    """One of a kind or version that only a newer holdfast knows."""


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
    """Makes each event vouch for all before it, by a key that is not in the store.

    HMAC-SHA256 (RFC 2104). The key is taken in once, which is more than half of the work.
    """

    def __init__(self, key: bytes) -> None:
        block = key.ljust(64, b"\0") if len(key) <= 64 else hashlib.sha256(key).digest() + bytes(32)
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def link(self, told: bytes) -> bytes:
        """The hash of what is told of an event."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(told)
        outer.update(inner.digest())
        return outer.digest()


_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]
_PAIR_COUNT = len(_PAIRS)
_PLACE_DIGITS = 6
_ID_LENGTH = 30


def placed_id(fresh_id: str, sequence: int) -> str:
    """An event's id that says where in its session the event is: it is found without an index.

    The last digits of a fresh id, which are noise, give way to its number.
    """
    rest, low = divmod(sequence, _PAIR_COUNT)
    high, middle = divmod(rest, _PAIR_COUNT)
    return f"{fresh_id[:-_PLACE_DIGITS]}{_PAIRS[high]}{_PAIRS[middle]}{_PAIRS[low]}"


def place_in(event_id: str) -> int | None:
    """Where an event of this id would be; None: its id does not say so."""
    digits = event_id[-_PLACE_DIGITS:]
    if len(event_id) != _ID_LENGTH or any(digit not in _VALUES for digit in digits):
        return None
    place = 0
    for digit in digits:
        place = place * 62 + _VALUES[digit]
    return place


class Unwritten(msgspec.Struct, frozen=True):
    """What is known of an event before the journal has given it a place."""

    id: str
    micros: int
    wake_id: str | None
    payload: Payload
    body: bytes | None = None
    """The payload's text, where somebody needed it before."""


def text_of(payload: Payload) -> bytes:
    """What is stored of it, and hashed."""
    return _encoder.encode(payload)


def stored(
    event: Unwritten, session_id: str, sequence: int, previous: bytes, chain: Chain
) -> Stored:
    """Give an event its place behind another one."""
    return stored_as(event.id, event, session_id, sequence, previous, chain)


def stored_as(
    event_id: str, event: Unwritten, session_id: str, sequence: int, previous: bytes, chain: Chain
) -> Stored:
    """The same under another id."""
    kind = type(event.payload)
    body = text_of(event.payload) if event.body is None else event.body
    facts = (
        *(session_id, sequence, event_id, event.micros, event.wake_id),
        *(_TAGS[kind], kind.VERSION, body, previous),
    )
    return Stored(*facts, chain.link(vouched(facts)))


def is_genuine(row: Stored, chain: Chain) -> bool:
    """Whether a row is what was written, behind what was written before it."""
    if not all(type(number) is int for number in (row.sequence, row.micros, row.version)):
        return False  # a fraction would be cut off, and so not be seen
    try:
        return hmac.compare_digest(chain.link(vouched(row[:-1])), row.hash)
    except (TypeError, AttributeError, ValueError, struct.error):
        # A column holds something else than it was made for.
        return False


def event_of(
    row: Stored, processed_micros: int | None = None, payload: Payload | None = None
) -> Event:
    """Read a row; raises UnreadableEvent. Who has just written it knows what it says."""
    try:
        at = moment_of(row.micros)
        processed_at = at
        if processed_micros != row.micros:
            processed_at = None if processed_micros is None else moment_of(processed_micros)
    except (OverflowError, TypeError, ValueError) as problem:
        raise _damaged(row, problem) from None
    return Event(
        session_id=row.session_id,
        sequence=row.sequence,
        id=row.id,
        at=at,
        wake_id=row.wake_id,
        payload=payload or _payload(row),
        previous=row.previous,
        hash=row.hash,
        processed_at=processed_at,
    )


@lru_cache(maxsize=64)
def moment_of(micros: int) -> datetime:
    """The moment that many microseconds after 1970 began. Events of one append share theirs."""
    return _EPOCH + timedelta(microseconds=micros)


def micros_of(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _payload(row: Stored) -> Payload:
    kind = _known.get(row.type)
    if kind is None or row.version > kind.VERSION:
        raise NewerEvent(
            f"event {row.sequence} of session {row.session_id} is a {row.type!r} of version"
            f" {row.version}, which this holdfast does not know; it was written by a newer one:"
            " update holdfast to read this session"
        )
    try:
        body = row.body if row.version == kind.VERSION else _up_to_date(row, kind.VERSION)
        return _decoders[row.type].decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, LookupError) as problem:
        raise _damaged(row, problem) from None


def _damaged(row: Stored, problem: Exception) -> UnreadableEvent:
    return UnreadableEvent(
        f"event {row.sequence} of session {row.session_id} is damaged: {problem};"
        " see: holdfast audit verify"
    )


def _up_to_date(row: Stored, current: int) -> bytes:
    fields = cast("JsonObject", msgspec.json.decode(row.body, type=dict))
    for version in range(row.version, current):
        fields = UPCASTS[row.type, version](fields)
    return _encoder.encode(fields)


_length = struct.Struct(">Q").pack
Facts = tuple[str, int, str, int, str | None, str, int, bytes, bytes]
"""The columns of a stored event before its hash."""


def vouched(facts: Facts) -> bytes:
    """All that must not change, each part with its length, so that nothing can be shifted."""
    session_id, sequence, event_id, micros, wake_id, name, version, body, previous = facts
    event = event_id.encode()
    numbers = b"%d %d %d" % (sequence, micros, version)
    wake = "" if wake_id is None else "+" + wake_id
    return b"".join(
        (
            *(previous, _repeated(session_id), _length(len(numbers)), numbers),
            *(_length(len(event)), event, _repeated(wake), _repeated(name)),
            *(_length(len(body)), body),
        )
    )


@lru_cache(maxsize=256)
def _repeated(text: str) -> bytes:
    """Text that many events share, with its length."""
    told = text.encode()
    return _length(len(told)) + told
