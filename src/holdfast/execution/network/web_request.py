"""One request to the web as a tool words it, and what a redirect makes of it.

Pure. Whether its host may be reached is not decided here; that it is one plain host is.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urljoin

from holdfast.contract.errors import InvalidArguments, PolicyDenied
from holdfast.execution.network.admission import bracketed

LONGEST_URL = 8192
_LONGEST_SHOWN = 500

_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.ASCII)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([^\[\]:%]{1,254}))(?::([0-9]{1,5}))?")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SAFE = "%/?:@!$&'()*+,;=-._~[]"
_PORTS = {"http": 80, "https": 443}

_NOT_THE_TOOLS = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade"),
        *("proxy-authenticate", "te", "trailer", "transfer-encoding", "content-length", "host"),
        *("expect", "http2-settings"),
    }
)
_FOR_ANY_ORIGIN = frozenset(
    {
        *("accept", "accept-charset", "accept-encoding", "accept-language", "cache-control"),
        *("content-encoding", "content-language", "content-type", "if-modified-since"),
        *("if-none-match", "pragma", "range", "user-agent"),
    }
)
_OF_THE_BODY = frozenset(
    {"content-encoding", "content-language", "content-location", "content-type"}
)
_SEE_ELSEWHERE = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER = 303
_POST_BECOMES_GET = frozenset({301, 302})


class WebUrl(NamedTuple):
    """Where a request goes."""

    scheme: str
    host: str
    """As it is written; the gate says what it is called."""
    port: int
    target: str
    """Path and query, in ASCII."""

    @property
    def place(self) -> str:
        """Host and port."""
        return f"{bracketed(self.host)}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What has to be the same for credentials to go along."""
        return self.scheme, self.host.lower().removesuffix("."), self.port

    def __str__(self) -> str:
        usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{bracketed(self.host) if usual else self.place}{self.target}"


class WebRequest(NamedTuple):
    """One request, ready to be sent once its host is judged."""

    method: str
    url: WebUrl
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


def first_request(
    url: str, method: str, headers: Mapping[str, str] | None, body: bytes | None
) -> WebRequest:
    """What a tool asked for; InvalidArguments says what is wrong with it."""
    problem = _crooked(url)
    read = problem or read_url(url)
    if isinstance(read, str):
        raise InvalidArguments(
            f"This is no URL to fetch: {read}.", field="url", expected="https://example.com/page"
        )
    if not _TOKEN.fullmatch(method) or method.upper() == "CONNECT":
        raise InvalidArguments(f"{method!r} is no method of HTTP.", field="method", expected="GET")
    return WebRequest(method.upper(), read, _checked(headers or {}), body)


def is_redirect(status: int, location: str | None) -> bool:
    """Whether an answer asks for another request."""
    return status in _SEE_ELSEWHERE and location is not None


def redirected(request: WebRequest, status: int, location: str | None) -> WebRequest | None:
    """The request that a redirect asks for; None when the answer is none.

    PolicyDenied where it leads out of the web, or from https to http.
    """
    if location is None or not is_redirect(status, location):
        return None
    url = _joined(request.url, location)
    if isinstance(url, str):
        raise _not_followed(request, location, url)
    if (request.url.scheme, url.scheme) == ("https", "http"):
        raise _not_followed(request, str(url), "what is sent encrypted is not sent in the open")
    method, headers, body = request.method, request.headers, request.body
    if (status == _SEE_OTHER and method != "HEAD") or (
        status in _POST_BECOMES_GET and method == "POST"
    ):
        method, body = "GET", None
        headers = tuple(one for one in headers if one[0].lower() not in _OF_THE_BODY)
    if url.origin != request.url.origin:
        # Any other header may be a credential, whatever it is called.
        headers = tuple(one for one in headers if one[0].lower() in _FOR_ANY_ORIGIN)
    return WebRequest(method, url, headers, body)


def read_url(url: str) -> WebUrl | str:
    """A URL taken apart, or why it is none that can be fetched."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return "it does not begin with http:// or https://"
    scheme, authority, target = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        return "credentials belong in a header"
    place = _AUTHORITY.fullmatch(authority)
    port = int(place[3]) if place is not None and place[3] else _PORTS[scheme]
    if place is None or not 0 < port < 1 << 16:
        return "its host is not plain"
    path = target if target.startswith("/") else f"/{target}"
    return WebUrl(scheme, place[1] or place[2], port, quote(path, safe=_SAFE))


def _joined(base: WebUrl, location: str) -> WebUrl | str:
    # Joining drops tabs and line feeds, so crooked text has to be seen before.
    problem = _crooked(location)
    if problem is not None:
        return problem
    try:
        joined = urljoin(str(base), location)
    except ValueError:
        return "it is no URL"
    return read_url(joined)


def _crooked(text: str) -> str | None:
    if len(text) > LONGEST_URL:
        return f"it is longer than {LONGEST_URL} characters"
    if not text.isprintable() or " " in text or "\\" in text:
        return "it holds spaces, control characters or backslashes"
    return None


def _not_followed(request: WebRequest, location: str, reason: str) -> PolicyDenied:
    shown = location[:_LONGEST_SHOWN].encode("unicode_escape").decode("ascii")
    return PolicyDenied(
        f"The redirect from {request.url} to {shown} is not followed: {reason}.",
        extras={"target": shown, "requirement": None},
    )


def _checked(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    seen: set[str] = set()
    for name, value in headers.items():
        folded = name.lower()
        problem = _problem_of(name, value)
        if folded in seen:
            problem = "is given twice"
        if problem is not None:
            raise InvalidArguments(f"The header {name!r} {problem}.", field="headers")
        seen.add(folded)
    return tuple(headers.items())


def _problem_of(name: str, value: str) -> str | None:
    if not _TOKEN.fullmatch(name):
        return "has a name that is none"
    if name.lower() in _NOT_THE_TOOLS:
        return "is not for a tool to set"
    if not value.replace("\t", " ").isprintable():
        return "holds line breaks or control characters"
    return None
