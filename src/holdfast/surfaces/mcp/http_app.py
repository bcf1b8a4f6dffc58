"""The HTTP side of the protocol, as a plain ASGI application with one address.

Each request is judged by who sends it, then by its era: a modern one speaks for itself, a legacy
one belongs to a session. What is asked for is not known here.
"""

from collections.abc import MutableMapping
from typing import Any, cast

import msgspec

from holdfast.app.http_door.rules import Door, Headers, headers_of, one, refused
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.surfaces.mcp.batches import taken
from holdfast.surfaces.mcp.eras import (
    HEADER_MISMATCH,
    LEGACY,
    MISSING_CAPABILITY,
    MODERN,
    UNSUPPORTED_VERSION,
    Meta,
    is_modern,
    meta_of,
)
from holdfast.surfaces.mcp.http_answers import Answering, Receiving, Sending, refuse, reply
from holdfast.surfaces.mcp.http_rules import (
    SESSION_HEADER,
    VERSION_HEADER,
    argument_mismatch,
    mismatch,
)
from holdfast.surfaces.mcp.http_sessions import Session, Sessions
from holdfast.surfaces.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_MESSAGE_BYTES,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Fault,
    Malformed,
    Message,
    Request,
    is_batch,
    read,
    refusal,
)

PATH = "/mcp"
_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_ALLOWED = {"allow": "GET, POST, DELETE"}
_NO_SESSION = f"send initialize first, and then {SESSION_HEADER} with every request"
_SESSION_OVER = "there is no such session, or none any more; send initialize"


class App:
    """One server."""

    def __init__(self, door: Door, sessions: Sessions) -> None:
        self._door = door
        self._sessions = sessions

    async def __call__(
        self, scope: MutableMapping[str, Any], receive: Receiving, send: Sending
    ) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = headers_of(scope["headers"])
        problem = refused(self._door, headers)
        if problem is not None:
            status, reason = problem
            asks = {"www-authenticate": "Bearer"} if status == 401 else None
            await refuse(send, status, reason, asks)
        elif scope["path"] != PATH:
            await refuse(send, 404, f"there is nothing here; the address ends in {PATH}")
        elif scope["method"] == "POST":
            await self._post(headers, receive, send)
        elif scope["method"] == "GET" and SESSION_HEADER in headers:
            await self._stream(headers, receive, send)
        elif scope["method"] == "DELETE" and SESSION_HEADER in headers:
            known = self._sessions.end(one(headers, SESSION_HEADER) or "")
            await (reply(send, 204) if known else refuse(send, 404, _SESSION_OVER))
        else:
            await refuse(send, 405, "only POST, and with a session GET and DELETE", _ALLOWED)

    async def _post(self, headers: Headers, receive: Receiving, send: Sending) -> None:
        kind = (one(headers, "content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            await refuse(send, 415, "send a message as application/json")
            return
        text = await _body(receive)
        if text is None:
            await refuse(send, 413, f"a message has {MAX_MESSAGE_BYTES:,} bytes at most")
            return
        message = None if is_batch(text) else read(text)
        if isinstance(message, Malformed):
            await reply(send, 400, refusal(message.id, message.fault))
            return
        meta = meta_of(message.params) if isinstance(message, Request) else Meta()
        if isinstance(message, Request) and isinstance(meta, Fault):
            await reply(send, 400, refusal(message.id, meta))
            return
        version = one(headers, VERSION_HEADER)
        speaks_for_itself = isinstance(meta, Meta) and is_modern(meta)
        if speaks_for_itself or (version is not None and version not in LEGACY):
            await self._modern(message, headers, receive, send)
        else:
            await self._legacy(text, message, headers, receive, send)

    async def _modern(
        self, message: Message | None, headers: Headers, receive: Receiving, send: Sending
    ) -> None:
        if not isinstance(message, Request):
            known = message is not None and one(headers, VERSION_HEADER) in MODERN
            # The only notification clients have is a cancellation, and here that is to hang up.
            await (reply(send, 202) if known else refuse(send, 400, "send one request"))
            return
        fault = self._mismatch(message, headers)
        if fault is not None:
            await reply(send, 400, refusal(message.id, fault))
            return
        answering = Answering()
        ticket = self._sessions.everybody.take(message, answering)
        await answering.respond(
            send,
            receive,
            status=lambda code: _STATUS.get(code, 200),
            gone=_nothing if ticket is None else ticket.drop,
        )

    def _mismatch(self, message: Request, headers: Headers) -> Fault | None:
        params = cast("JsonObject", _decoded(message.params) or {})
        meta = meta_of(message.params)
        if isinstance(meta, Fault) or not isinstance(meta.version, str):
            return None  # it is refused for that
        fault = mismatch(headers, meta.version, message.method, params)
        if fault is not None or message.method != "tools/call":
            return fault
        tool = self._sessions.shared.tools.get(str(params.get("name")))
        if tool is None:
            return None
        return argument_mismatch(headers, tool.input_schema, params.get("arguments"))

    async def _legacy(
        self,
        text: bytes,
        message: Message | None,
        headers: Headers,
        receive: Receiving,
        send: Sending,
    ) -> None:
        found = await self._session(message, headers)
        if not isinstance(found, Session):
            await refuse(send, *found)
            return
        if message is not None and not isinstance(message, Request):
            found.client.take(message, Answering())
            await reply(send, 202)
            return
        answering = Answering()
        taken(text, found.client, answering)
        told = {SESSION_HEADER: found.id} if _begins(message) else None
        if _begins(message) and found.client.caller is None:
            self._sessions.end(found.id)  # its handshake was refused
            told = None
        # To hang up is no cancellation in this era: the call goes on.
        await answering.respond(send, receive, status=_always_ok, gone=_nothing, headers=told)

    async def _session(
        self, message: Message | None, headers: Headers
    ) -> Session | tuple[int, str]:
        name = one(headers, SESSION_HEADER)
        if name is None:
            if not _begins(message):
                return 400, _NO_SESSION
            return await self._sessions.open() or (503, "there are too many sessions; try later")
        return self._sessions.used(name) or (404, _SESSION_OVER)

    async def _stream(self, headers: Headers, receive: Receiving, send: Sending) -> None:
        """What no request of the client brought about, for as long as it listens."""
        session = self._sessions.used(one(headers, SESSION_HEADER) or "")
        if session is None:
            await refuse(send, 404, _SESSION_OVER)
            return
        if session.stream is not None:
            await refuse(send, 409, "the session has such a stream already")
            return
        answering = session.stream = Answering()
        end = session.client.listed_to(answering)
        try:
            await answering.respond(send, receive, status=_always_ok, gone=_nothing, waits=False)
        finally:
            end()
            session.stream = None


def _begins(message: Message | None) -> bool:
    return isinstance(message, Request) and message.method == "initialize"


async def _body(receive: Receiving) -> bytes | None:
    """The whole of it; None: it is too long, or whoever sent it hung up before its end."""
    pieces: list[bytes] = []
    size, more = 0, True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        piece = cast("bytes", event.get("body", b""))
        size += len(piece)
        if size > MAX_MESSAGE_BYTES:
            return None
        pieces.append(piece)
        more = bool(event.get("more_body", False))
    return b"".join(pieces)


def _decoded(text: bytes) -> JsonValue:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _always_ok(_code: int) -> int:
    return 200


def _nothing() -> None:
    return None
