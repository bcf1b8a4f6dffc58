"""The door of the HTTP API: who comes from where, with which token, how much, and how often.

Nothing behind it is reached without a token. What is asked for is not known here.
"""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from anyio import current_time
from starlette.responses import Response

from holdfast.app.http_door.rules import (
    NO_TOKEN,
    Door,
    Headers,
    has_token,
    headers_of,
    one,
    same_secret,
    stranger,
)
from holdfast.surfaces.http.entering import ENTER, enter_page, entered
from holdfast.surfaces.http.problems import refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY_BYTES = 8 * 1024 * 1024
MOST_A_SECOND = 2_000
"""Requests of all who may come in, together: more of them are told to come again."""
MOST_STRANGE_A_SECOND = 500
"""Requests of everybody else: they must not use up what the others may ask."""
MOST_WRONG_A_MINUTE = 60
"""Requests with a wrong token: after so many, all such are told to wait."""
_OWN_PAGES = frozenset({"same-origin", "none"})
_SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
}


class Bucket:
    """So many in so many seconds, no more."""

    def __init__(self, most: float, seconds: float) -> None:
        self._most, self._rate = most, most / seconds
        self._left, self._at = most, -1.0

    def take(self) -> float:
        """How long to wait before there is one; 0: it was taken."""
        now = current_time()
        if self._at >= 0:
            self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        return 0.0


class Guard:
    """Stands before the application."""

    def __init__(self, behind: Application, door: Door, port: int) -> None:
        self._behind = behind
        self._door = door
        self._cookie = f"holdfast-{port}"
        """Cookies are for a host, whatever its port."""
        self._pass = _pass_for(door.token)
        self._known = Bucket(MOST_A_SECOND, 1.0)
        self._strange = Bucket(MOST_STRANGE_A_SECOND, 1.0)
        self._wrong = Bucket(MOST_WRONG_A_MINUTE, 60.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            return
        safe = _with_headers(send)
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, safe)
            return
        if scope["path"] == ENTER or _token_in_query(scope) is not None:
            await self._enter(scope, receive, safe)
            return
        await self._behind(scope, _Bounded(receive), safe)

    def _refused(self, scope: Scope) -> Response | None:
        headers = headers_of(scope["headers"])
        if (reason := stranger(self._door, headers)) is not None:
            return refusal(403, reason)
        may_come, foreign = self._may_come(headers)
        bucket = self._known if may_come else self._strange
        if (seconds := bucket.take()) > 0:
            return _later(seconds, "there are too many requests")
        length = one(headers, "content-length")
        if length is not None and length.isdecimal() and int(length) > MOST_BODY_BYTES:
            return refusal(413, f"a request has {MOST_BODY_BYTES:,} bytes at most")
        if may_come or scope["path"] == ENTER or _token_in_query(scope) is not None:
            return None  # the last two are there to bring the token
        return self._unknown(headers) if foreign is None else refusal(403, foreign)

    def _may_come(self, headers: Headers) -> tuple[bool, str | None]:
        """Whether it shows the token or a pass; and why a pass does not count."""
        if has_token(self._door, headers):
            return True, None
        if not self._has_pass(headers):
            return False, None
        foreign = _foreign(headers)
        return foreign is None, foreign

    def _unknown(self, headers: Headers) -> Response:
        sent = one(headers, "authorization") is not None
        if sent and (seconds := self._wrong.take()) > 0:
            return _later(seconds, "there were too many wrong tokens")
        if "text/html" in (one(headers, "accept") or ""):
            return enter_page(401)
        return refusal(401, NO_TOKEN)

    def _has_pass(self, headers: Headers) -> bool:
        for one_of_them in "; ".join(headers.get("cookie", ())).split(";"):
            name, _, value = one_of_them.strip().partition("=")
            if name == self._cookie and same_secret(value, self._pass):
                return True
        return False

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A person brings the token, in an address or in a form: they get a pass for it."""
        if scope["path"] == ENTER and scope["method"] == "GET":
            await enter_page(200)(scope, receive, send)
            return
        given = _token_in_query(scope)
        if given is None:
            given = await _token_in_form(_Bounded(receive))
        elif scope["method"] != "GET":
            await refusal(405, "an address with a token is opened, and nothing else")(
                scope, receive, send
            )
            return
        if same_secret(given, self._door.token):
            answer = entered(scope["path"], self._cookie, self._pass)
        elif (seconds := self._wrong.take()) > 0:
            answer = _later(seconds, "there were too many wrong tokens")
        else:
            answer = enter_page(401, wrong=True)
        await answer(scope, receive, send)


def _pass_for(token: str) -> str:
    """What a browser shows instead of the token: it opens no other door."""
    return hmac.new(token.encode(), b"holdfast console", hashlib.sha256).hexdigest()


def _foreign(headers: Headers) -> str | None:
    """Why a request with a pass was not sent by a page of this server; None: it was.

    For a browser every port of this machine is the same site, so cookies alone prove nothing.
    """
    fetched = one(headers, "sec-fetch-site")
    if fetched is not None and fetched not in _OWN_PAGES:
        return "another site sent this; open the console itself"
    host = one(headers, "host") or ""
    for origin in headers.get("origin", ()):
        if urlsplit(origin).netloc != host:
            return "the Origin header names another site"
    return None


def _token_in_query(scope: Scope) -> str | None:
    if b"token=" not in scope["query_string"] or scope["path"] != "/":
        return None
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return None if found is None else found[0]


async def _token_in_form(receive: Receive) -> str:
    sent = b""
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return ""
        sent += event.get("body", b"")
        if not event.get("more_body", False) or len(sent) > 4096:
            break
    found = parse_qs(sent.decode("utf-8", "replace")).get("token", [""])
    return found[0].strip()


def _later(seconds: float, reason: str) -> Response:
    answer = refusal(429, f"{reason}; try again in {seconds:.1f} s")
    answer.headers["retry-after"] = str(max(1, round(seconds)))
    return answer


def _with_headers(send: Send) -> Send:
    safe = [(name.encode(), value.encode()) for name, value in _SAFE.items()]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", [])
            known = {name for name, _ in own}
            message = {**message, "headers": [*own, *(one for one in safe if one[0] not in known)]}
        await send(message)

    return sending


class TooLarge(Exception):
    """What is sent has no end, or too late."""


class _Bounded:
    """Reads a body as long as it may be."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> MutableMapping[str, Any]:
        event = await self._receive()
        if event["type"] == "http.request":
            self._bytes += len(event.get("body", b""))
            if self._bytes > MOST_BODY_BYTES:
                raise TooLarge
        return event
