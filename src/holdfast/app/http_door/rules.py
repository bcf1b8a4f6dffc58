"""Who may come over HTTP, by what a request's headers say. Pure.

Host and Origin keep pages of other sites out, which could otherwise have a browser send requests
to this machine; the token keeps everybody else out. What is asked for is not known here.
"""

from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

Headers = Mapping[str, Sequence[str]]
"""By name in small letters: every value, in order."""
NO_TOKEN = "the token is missing or wrong; send it as: Authorization: Bearer TOKEN"


class Door(NamedTuple):
    """Who may come in."""

    names: tuple[str, ...]
    """Host names beside this machine's own."""
    token: str


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """As they came."""
    found: dict[str, list[str]] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        found.setdefault(key, []).append(value.decode("latin-1").strip())
    return found


def one(headers: Headers, name: str) -> str | None:
    """The value of a header; None: there is none."""
    return headers.get(name, (None,))[0]


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def stranger(door: Door, headers: Headers) -> str | None:
    """Why whoever sends this comes from elsewhere; None: they do not."""
    hosts = headers.get("host", ())
    if len(hosts) != 1 or not _is_ours(door, f"//{hosts[0]}"):
        return "the Host header names another host"
    if any(not _is_ours(door, origin) for origin in headers.get("origin", ())):
        return "the Origin header names another site"
    return None


def has_token(door: Door, headers: Headers) -> bool:
    """Whether the token is sent along, as programs do."""
    scheme, _, token = (one(headers, "authorization") or "").partition(" ")
    return scheme.lower() == "bearer" and same_secret(token.strip(), door.token)


def same_secret(given: str, known: str) -> bool:
    """Whether they are the same, told in the same time whatever they are."""
    return compare_digest(given.encode("utf-8", "replace"), known.encode("utf-8", "replace"))


def refused(door: Door, headers: Headers) -> tuple[int, str] | None:
    """The status and the reason for somebody who may not come in; None: they may."""
    if (reason := stranger(door, headers)) is not None:
        return 403, reason
    return None if has_token(door, headers) else (401, NO_TOKEN)


def _is_ours(door: Door, address: str) -> bool:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        return False
    return host is not None and (is_loopback(host) or host in {one.lower() for one in door.names})
