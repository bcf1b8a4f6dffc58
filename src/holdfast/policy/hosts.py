"""From a URL, or a host as it is written, to the one host that would be reached.

Pure text. Programs disagree about crooked URLs, and whoever wrote one counts on that: what is not
plainly one host of one web URL is refused. Only what `Host` holds may be dialled afterwards.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import urljoin

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.policy.addresses import Address, ipv4_of, ipv6_of, is_private, looks_numeric

LONGEST_URL = 8192
LONGEST_NAME = 253
LONGEST_LABEL = 63

_URL = late_pattern(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.ASCII)
_AUTHORITY = late_pattern(
    r"(?:[A-Za-z0-9\-._~%!$&'()*+,;=:]*@)?(?:\[([0-9a-fA-F:.]+(?:%[\w.\-]+)?)\]|([^\[\]:@%]*))"
    r"(?::([0-9]{0,5}))?",
    re.ASCII,
)
_ASCII_NAME = late_pattern(
    r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOCAL_ENDINGS = (".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".lan")


class HostProblem(msgspec.Struct, frozen=True):
    """Why a text names no host that may be judged."""

    reason: str


class Host(msgspec.Struct, frozen=True):
    """One host: a name in lower case and ASCII, or an address in its plain form."""

    name: str
    port: int | None
    address: Address | None
    private: bool
    """Whether it lies inside: this machine, its network, or a name that only those know."""


def host_of_url(url: str) -> Host | HostProblem:
    """The host an http or https URL leads to, with the port that would be dialled."""
    if (problem := _crooked(url)) is not None:
        return problem
    parts = _URL.fullmatch(url)
    if parts is None:
        return HostProblem("it is no http or https URL")
    scheme, authority, rest = parts.groups()
    if rest[:1] in ("?", "#") and "@" in rest:
        return HostProblem("it is not clear where its host ends")
    return _host(authority, _DEFAULT_PORTS[scheme.lower()])


def host_of(text: str) -> Host | HostProblem:
    """The host of a URL, or the host that the text itself is; ``host:port`` included."""
    if "://" in text:
        return host_of_url(text)
    if (problem := _crooked(text)) is not None:
        return problem
    if "@" in text:
        return HostProblem("a host has no user")
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    return _host(text, None)


def redirect_target(url: str, location: str) -> str | HostProblem:
    """Where a redirect leads; `host_of_url` then judges it like any first address."""
    # Joining drops tabs and line feeds, so crooked text has to be seen before.
    if (problem := _crooked(location)) is not None:
        return problem
    try:
        return urljoin(url, location)
    except ValueError:
        return HostProblem("it is no URL")


def _crooked(text: str) -> HostProblem | None:
    if len(text) > LONGEST_URL:
        return HostProblem(f"it is longer than {LONGEST_URL} characters")
    if not text.isprintable() or " " in text or "\\" in text:
        return HostProblem("it holds spaces, control characters or backslashes")
    return None


@lru_cache(maxsize=512)
def _host(authority: str, default_port: int | None) -> Host | HostProblem:
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        return HostProblem("its host is not plain")
    bracketed, name, digits = parts.groups()
    port = int(digits) if digits else default_port
    if port is not None and not 0 < port < 1 << 16:
        return HostProblem("its port does not exist")
    if bracketed is not None:
        address = ipv6_of(bracketed)
        if address is None:
            return HostProblem("the address in brackets does not exist")
        return Host(str(address), port, address, is_private(address))
    return _named(name, port)


def _named(written: str, port: int | None) -> Host | HostProblem:
    name = normal_name(written)
    if name is None:
        return HostProblem("its host is no name")
    if not looks_numeric(name):
        return Host(name, port, None, "." not in name or name.endswith(_LOCAL_ENDINGS))
    address = ipv4_of(name)
    if address is None:
        return HostProblem("its host is a number that is no address")
    return Host(str(address), port, address, is_private(address))


def normal_name(written: str) -> str | None:
    """Lower case, ASCII, without the dot at the end; None when it is no name."""
    if not written.isascii() and unicodedata.normalize("NFKC", written) != written:
        return None
    name = written.lower().removesuffix(".")
    if not name.isascii() or "xn--" in name:
        labels = [_ascii_label(label) for label in name.split(".")]
        if None in labels:
            return None
        name = ".".join(label or "" for label in labels)
    if len(name) > LONGEST_NAME or _ASCII_NAME.fullmatch(name) is None:
        return None
    return name


def _ascii_label(label: str) -> str | None:
    """The label in ASCII; None where two standards, or two programs, would not agree."""
    if label.isascii():
        return label if not label.startswith("xn--") or _is_encoded(label) else None
    folded = unicodedata.normalize("NFKC", label.casefold())
    plain = all(one == "-" or one.isalnum() or _is_mark(one) for one in label)
    if folded != label or not plain or _is_mark(label[0]):
        return None
    return "xn--" + label.encode("punycode").decode("ascii")


def _is_encoded(label: str) -> bool:
    try:
        decoded = label[4:].encode("ascii").decode("punycode")
    except (ValueError, OverflowError):
        return False
    return not decoded.isascii() and _ascii_label(decoded) == label


def _is_mark(one: str) -> bool:
    return unicodedata.category(one).startswith("M")
