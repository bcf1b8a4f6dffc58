"""Host patterns of rules: the language of `requires`, compared with the hosts that calls name.

Both sides are in lower case, in ASCII and without the dot at the end. Unlike a requirement's, the
wildcard of a rule reaches what lies inside, too: it admits nothing, it says what becomes of what
was admitted.
"""

from collections.abc import Callable
from functools import lru_cache

import msgspec

from holdfast.contract.rules import Use
from holdfast.policy.globs import compile_glob
from holdfast.policy.host_patterns import HostAtom, HostPatternProblem, HostPatterns
from holdfast.policy.hosts import Host


class _Fitting(msgspec.Struct, frozen=True):
    fits: Callable[[str], bool]
    port: int | None


def with_port(host: Host) -> str:
    """The host as a rule about one port sees it."""
    return str(HostAtom("name", host.name, host.port))


def spelled_hosts(pattern: str) -> tuple[str, ...]:
    """The patterns without alternation, in their one spelling; as written where it is no host."""
    try:
        return tuple(map(str, HostPatterns([pattern]).atoms))
    except HostPatternProblem:
        return (pattern.lower(),)


def fits_host(pattern: str, use: Use, *, any_port: bool) -> bool:
    """Whether a pattern fits the host of a use; one about a port is also about an unknown one."""
    fitting = _compiled(pattern)
    if fitting is None:
        return compile_glob(pattern, "text")(use.target)
    name, port = _apart(use.spellings[0] if use.spellings else use.target)
    return any(
        one.fits(name) and (one.port in (None, port) or (any_port and port is None))
        for one in fitting
    )


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> tuple[_Fitting, ...] | None:
    """None: it is no host, so only its text can be compared."""
    try:
        atoms = HostPatterns([pattern]).atoms
    except HostPatternProblem:
        return None
    return tuple(_Fitting(_matcher(atom), atom.port) for atom in atoms)


def _matcher(atom: HostAtom) -> Callable[[str], bool]:
    if atom.kind == "name":
        return atom.name.__eq__
    if atom.kind == "below":
        ending = f".{atom.name}"
        return lambda name: name.endswith(ending)
    return compile_glob(atom.name, "text")


def _apart(spelled: str) -> tuple[str, int | None]:
    """Name and port of a host in its one spelling."""
    if ":" not in spelled:
        return spelled, None
    name, _, port = spelled.rpartition(":")
    if not port.isdigit() or (":" in name and not name.startswith("[")):
        return spelled, None
    return name.strip("[]"), int(port)
