"""JSON-RPC messages, read from bytes and written to bytes. What methods mean is not known here."""

from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""One message. Arguments have a bound of their own, below it."""
MAX_BATCH = 100

MAX_ID_CHARACTERS = 1_000
"""Of an id or a token that a client makes up: each answer and each sign of life repeats it."""

Id = Annotated[str, msgspec.Meta(max_length=MAX_ID_CHARACTERS)] | int


class Fault(NamedTuple):
    """Why a message cannot be answered with a result."""

    code: int
    message: str
    data: JsonValue = None


class Request(NamedTuple):
    """Somebody waits for an answer."""

    id: Id
    method: str
    params: bytes


class Notification(NamedTuple):
    """Nobody waits for an answer."""

    method: str
    params: bytes


class Reply(NamedTuple):
    """The answer to a request of ours."""

    id: Id
    result: JsonValue
    """None: it was refused."""


class Malformed(NamedTuple):
    """No message at all."""

    fault: Fault
    id: Id | None


Message = Request | Notification | Reply | Malformed

NO_PARAMS = b"{}"


ABSENT = Raw()
"""Of a part of a message that is kept as text: it is not there."""


class _Wire(msgspec.Struct):
    jsonrpc: str = ""
    id: Id | UnsetType | None = UNSET
    method: str | None = None
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


class _Named(msgspec.Struct):
    id: Id | None = None


_wire = msgspec.json.Decoder(_Wire)
_named = msgspec.json.Decoder(_Named)
_batch = msgspec.json.Decoder(list[Raw])
_plain = msgspec.json.Decoder()
_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """JSON text of whatever it is."""
    try:
        return _encode(value)
    except (ValueError, OverflowError, RecursionError, TypeError):
        return encode_json(value)  # text of a tool's author need not be valid Unicode


def read(text: bytes) -> Message:
    """What a text says. Whatever it is, this comes back."""
    try:
        wire = _wire.decode(text)
    except msgspec.ValidationError as problem:
        return Malformed(Fault(INVALID_REQUEST, f"Invalid request: {problem}"), _id_of(text))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Malformed(Fault(PARSE_ERROR, f"Parse error: {problem}"), None)
    own = None if wire.id is UNSET else wire.id
    if wire.jsonrpc != "2.0":
        return _invalid("jsonrpc has to be '2.0'", own)
    if wire.method is not None:
        return _asked(wire, wire.method)
    if own is None:
        return _invalid("there is neither a method nor an id", None)
    if wire.result is ABSENT and wire.error is ABSENT:
        return _invalid("there is no method", own)
    return Reply(own, None if wire.result is ABSENT else _value(wire.result))


def elements(text: bytes) -> list[bytes] | None:
    """The messages of a batch; None: it is none, or not one that is taken."""
    try:
        found = _batch.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return [bytes(one) for one in found] if 0 < len(found) <= MAX_BATCH else None


def is_batch(text: bytes) -> bool:
    """Whether it is an array."""
    return text.lstrip()[:1] == b"["


def _asked(wire: _Wire, method: str) -> Message:
    params = NO_PARAMS if wire.params is ABSENT else bytes(wire.params)
    if params[:1] != b"{":
        if wire.id is UNSET:
            return Notification(method, NO_PARAMS)
        return Malformed(
            Fault(INVALID_PARAMS, "Invalid params: they have to be an object"), wire.id
        )
    if wire.id is UNSET:
        return Notification(method, params)
    if wire.id is None:
        return _invalid("the id of a request cannot be null", None)
    return Request(wire.id, method, params)


def _invalid(why: str, request_id: Id | None) -> Malformed:
    return Malformed(Fault(INVALID_REQUEST, f"Invalid request: {why}"), request_id)


def _id_of(text: bytes) -> Id | None:
    try:
        return _named.decode(text).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _value(text: Raw) -> JsonValue:
    try:
        return _plain.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def answer(request_id: Id, result: bytes) -> bytes:
    """The answer to a request; ``result`` is JSON text."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), result)


def refusal(request_id: Id | None, fault: Fault) -> bytes:
    """The answer to a request that has no result."""
    error: JsonObject = {"code": fault.code, "message": fault.message}
    if fault.data is not None:
        error["data"] = fault.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (encode(request_id), encode(error))


def notification(method: str, params: JsonObject) -> bytes:
    """What the client is told without being asked for."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def request(request_id: Id, method: str, params: JsonObject) -> bytes:
    """What the client is asked."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
