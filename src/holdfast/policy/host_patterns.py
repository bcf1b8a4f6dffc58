"""Which hosts a list of patterns admits.

    api.example.com     that host and no other, on any port
    api.example.com:443 on that port
    *.example.com       every name below it, at any depth, not example.com itself
    192.0.2.7, ::1      that address, however it is spelled

What lies inside (this machine, private networks, metadata services, local names) is admitted only
by a pattern that names it in full: no wildcard reaches it. A name that resolves to such an address
is judged again with the address (`admits_address`): otherwise whoever owns a public name could
point it inside.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.policy.addresses import Address, address_of, is_private
from holdfast.policy.globs import GlobProblem, Matches, compile_glob, plain_text, written_out
from holdfast.policy.hosts import (
    Host,
    HostProblem,
    host_of,
    host_of_url,
    normal_name,
    redirect_target,
)

_PORT = re.compile(r"(.*[^:]):([0-9]{1,5}|\*)")
_WILD_LABEL = re.compile(r"[A-Za-z0-9_*?-]+")


class HostPatternProblem(ValueError):
    """A pattern that can never be a host."""


class HostMatch(NamedTuple):
    """A host, and the patterns that admit it."""

    host: Host
    patterns: "HostPatterns"
    literal: bool
    """Whether the host is named in full."""


class HostPatterns:
    """Compiled patterns: alternatives, of which one suffices."""

    __slots__ = ("_below", "_globs", "_names", "written")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.written = tuple(sorted(set(patterns)))
        self._names: dict[str, frozenset[int | None]] = {}
        self._below: dict[str, frozenset[int | None]] = {}
        self._globs: list[tuple[Matches, frozenset[int | None]]] = []
        for pattern in self.written:
            for one in _alternatives(pattern):
                self._add(one, pattern)

    def match(self, host: Host) -> HostMatch | None:
        """What admits the host, or None."""
        ports = self._names.get(host.name)
        if ports is not None and _open(ports, host.port):
            return HostMatch(host, self, literal=True)
        if (self._below or self._globs) and not host.private and self._wild(host):
            return HostMatch(host, self, literal=False)
        return None

    def names(self, address: Address, port: int | None) -> bool:
        """Whether the address itself is granted."""
        ports = self._names.get(str(address))
        return ports is not None and _open(ports, port)

    def _wild(self, host: Host) -> bool:
        if host.address is None:
            _, dot, parent = host.name.partition(".")
            while dot:
                ports = self._below.get(parent)
                if ports is not None and _open(ports, host.port):
                    return True
                _, dot, parent = parent.partition(".")
        return any(_open(ports, host.port) and fits(host.name) for fits, ports in self._globs)

    def _add(self, pattern: str, written: str) -> None:
        pattern, port = _split_port(pattern, written)
        literal = plain_text(pattern)
        if literal is not None:
            host = host_of(literal)
            if isinstance(host, HostProblem) or host.port is not None or "://" in literal:
                raise HostPatternProblem(f"host pattern {written!r} is no host")
            _allow(self._names, host.name, port)
            return
        below = normal_name(pattern[2:]) if pattern.startswith("*.") else None
        if below is not None and address_of(below) is None:
            _allow(self._below, below, port)
            return
        folded = [_label(label, written) for label in pattern.removesuffix(".").split(".")]
        fits = compile_glob(".".join(folded), "text")
        self._globs.append((fits, frozenset({port})))


def admits_address(match: HostMatch, address: Address | str) -> bool:
    """Whether the host may be dialled at this address, which it was resolved to.

    A name that is local by its nature may lead inside when it is named in full, and ``localhost``
    only to this machine. Any other name leads inside only where the address is granted as well.
    """
    found = address_of(str(address))
    if found is None:
        return False
    host = match.host
    if host.address is not None:
        return found == host.address
    if not is_private(found) or match.patterns.names(found, host.port):
        return True
    if not (match.literal and host.private):
        return False
    own = host.name == "localhost" or host.name.endswith(".localhost")
    return found.is_loopback or not own


def judge_hops(patterns: HostPatterns, url: str, locations: Iterable[str]) -> HostMatch | str:
    """Judge a URL and every redirect after it; the last match, or why a hop is refused."""
    at: str | HostProblem = url
    judged: HostMatch | str = judge_url(patterns, url)
    for location in locations:
        if isinstance(judged, str):
            break
        at = redirect_target(at, location)
        if isinstance(at, HostProblem):
            return f"The redirect to {location!r} is refused: {at.reason}."
        judged = judge_url(patterns, at)
    return judged


def judge_url(patterns: HostPatterns, url: str) -> HostMatch | str:
    """Judge one URL: what admits it, or a sentence that says why nothing does."""
    host = host_of_url(url)
    if isinstance(host, HostProblem):
        return f"The URL is refused: {host.reason}."
    return patterns.match(host) or f"No granted host pattern admits {host.name!r}."


def _alternatives(pattern: str) -> list[str]:
    try:
        return written_out(pattern)
    except GlobProblem as problem:
        raise HostPatternProblem(str(problem)) from None


def _split_port(pattern: str, written: str) -> tuple[str, int | None]:
    parts = _PORT.fullmatch(pattern)
    if parts is None or (":" in parts[1] and not parts[1].endswith("]")):
        return pattern, None
    host, digits = parts.groups()
    if digits == "*":
        return host, None
    if not 0 < int(digits) < 1 << 16:
        raise HostPatternProblem(f"host pattern {written!r}: there is no such port")
    return host, int(digits)


def _label(label: str, written: str) -> str:
    if _WILD_LABEL.fullmatch(label):
        return label.lower()
    folded = normal_name(label)
    if folded is None:
        raise HostPatternProblem(f"host pattern {written!r} is no host")
    return folded


def _allow(table: dict[str, frozenset[int | None]], name: str, port: int | None) -> None:
    table[name] = table.get(name, frozenset()) | {port}


def _open(ports: frozenset[int | None], port: int | None) -> bool:
    return None in ports or port in ports
