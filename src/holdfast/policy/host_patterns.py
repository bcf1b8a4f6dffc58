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

from collections.abc import Iterable
from typing import Literal

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.policy.addresses import Address, address_of, is_private
from holdfast.policy.globs import GlobProblem, compile_glob, plain_text, written_out
from holdfast.policy.hosts import (
    Host,
    HostProblem,
    host_of,
    host_of_url,
    normal_name,
    redirect_target,
)

_PORT = late_pattern(r"(.*[^:]):([0-9]{1,5}|\*)")
_STARS = late_pattern(r"\*{2,}")
_WILD_LABEL = late_pattern(r"[A-Za-z0-9_*?-]+")


class HostPatternProblem(ValueError):
    """A pattern that can never be a host."""


class HostMatch(msgspec.Struct, frozen=True):
    """A host, and the patterns that admit it."""

    host: Host
    patterns: "HostPatterns"
    literal: bool
    """Whether the host is named in full."""


class HostAtom(msgspec.Struct, frozen=True):
    """One pattern taken apart: a host, what lies below a host, or any other wildcard."""

    kind: Literal["name", "below", "wild"]
    name: str
    port: int | None

    def __str__(self) -> str:
        shown = f"*.{self.name}" if self.kind == "below" else self.name
        if self.port is None:
            return shown
        return f"[{shown}]:{self.port}" if ":" in shown else f"{shown}:{self.port}"


class HostPatterns:
    """Compiled patterns: alternatives, of which one suffices."""

    __slots__ = ("_below", "_globs", "_names", "atoms")

    def __init__(self, patterns: Iterable[str]) -> None:
        found = {_atom(one, pattern) for pattern in patterns for one in _alternatives(pattern)}
        self.atoms = tuple(sorted(found, key=str))
        self._names = _ports(atom for atom in self.atoms if atom.kind == "name")
        self._below = _ports(atom for atom in self.atoms if atom.kind == "below")
        wild = _ports(atom for atom in self.atoms if atom.kind == "wild")
        self._globs = [(compile_glob(name, "text"), ports) for name, ports in wild.items()]

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

    def covers(self, atom: HostAtom) -> bool:
        """Whether everything that another pattern admits is admitted here; no when in doubt."""
        if atom.kind == "name":
            host = host_of(str(atom))
            return isinstance(host, Host) and self.match(host) is not None
        return any(own.port in (None, atom.port) and _includes(own, atom) for own in self.atoms)


def common_hosts(layers: Iterable[HostPatterns]) -> tuple[tuple[str, ...], ...]:
    """Lists of patterns that all have to admit a host; none when no host can be admitted.

    Of two lists the wider one is left out. What remains is not merged any further: two wildcards
    have no common pattern that could be written down.
    """
    apart = {tuple(map(str, layer.atoms)): layer for layer in layers}
    if () in apart:
        return ()
    return tuple(
        written
        for written, layer in sorted(apart.items())
        if not any(
            all(map(layer.covers, other.atoms))
            and not (other_written > written and all(map(other.covers, layer.atoms)))
            for other_written, other in apart.items()
            if other is not layer
        )
    )


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
    if match.patterns.names(found, host.port):
        return True
    if host.name == "localhost" or host.name.endswith(".localhost"):
        return found.is_loopback
    return not is_private(found) or (match.literal and host.private)


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


def _atom(pattern: str, written: str) -> HostAtom:
    pattern, port = _split_port(_STARS.sub("*", pattern), written)
    literal = plain_text(pattern)
    if literal is not None:
        host = host_of(literal)
        if isinstance(host, HostProblem) or host.port is not None:
            raise HostPatternProblem(f"host pattern {written!r} is no host")
        return HostAtom("name", host.name, port)
    below = normal_name(pattern[2:]) if pattern.startswith("*.") else None
    if below is not None and address_of(below) is None:
        return HostAtom("below", below, port)
    labels = [_label(label, written) for label in pattern.removesuffix(".").split(".")]
    return HostAtom("wild", ".".join(labels), port)


def _includes(own: HostAtom, other: HostAtom) -> bool:
    if own.name == "*":
        return True
    if own.kind == other.kind == "below":
        return f".{other.name}".endswith(f".{own.name}")
    return own.kind == other.kind and own.name == other.name


def _ports(atoms: Iterable[HostAtom]) -> dict[str, frozenset[int | None]]:
    table: dict[str, frozenset[int | None]] = {}
    for atom in atoms:
        table[atom.name] = table.get(atom.name, frozenset()) | {atom.port}
    return table


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


def _open(ports: frozenset[int | None], port: int | None) -> bool:
    return None in ports or port in ports
