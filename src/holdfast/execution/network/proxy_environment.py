"""The variables by which programs learn that there is a proxy. Pure."""

from collections.abc import Iterable, Mapping

_OWN = ("localhost", "127.0.0.1", "::1")
"""What a program's own loopback is called, and the machine's as well."""
_DIRECT = "NO_PROXY"

HostLists = tuple[tuple[str, ...], ...]
"""Patterns of granted hosts, as a sandbox policy holds them: each list has to admit a host."""


def proxy_environment(port: int, hosts: HostLists = ()) -> dict[str, str]:
    """For programs in a sandbox whose proxy listens on this port of their own loopback.

    Programs differ in which spelling they read. What they start on their own loopback they reach
    directly: the proxy would look for it outside. A name of it that is granted means the machine's,
    on every port: few programs tell ports apart here.
    """
    by_http = f"http://127.0.0.1:{port}"
    upper = {
        "HTTP_PROXY": by_http,
        "HTTPS_PROXY": by_http,
        "ALL_PROXY": f"socks5h://127.0.0.1:{port}",
        _DIRECT: ",".join(own for own in _OWN if not _is_granted(own, hosts)),
    }
    return upper | {name.lower(): value for name, value in upper.items()}


def with_proxy(
    own: Mapping[str, str], door: Mapping[str, str], given: Iterable[str] = ()
) -> dict[str, str]:
    """Both; of a variable that is given on purpose the door adds neither spelling.

    Which hosts are asked directly may always be said; another proxy cannot be reached from inside,
    and is left only where the names that are given include it.
    """
    kept = {name.upper() for name in given} | ({_DIRECT} & {name.upper() for name in own})
    return {**own} | {name: value for name, value in door.items() if name.upper() not in kept}


def _is_granted(own: str, hosts: HostLists) -> bool:
    return bool(hosts) and all(own in map(_without_port, patterns) for patterns in hosts)


def _without_port(pattern: str) -> str:
    if pattern.startswith("["):
        return pattern[1:].partition("]")[0]
    return pattern if pattern.count(":") > 1 else pattern.partition(":")[0]
