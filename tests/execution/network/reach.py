"""A net for tests, what can be seen of it, and answers as hosts give them."""

from collections.abc import Mapping
from typing import NamedTuple

from execution.network.town import LOOPBACK, Gate, Names

from holdfast.contract.net import HostAttempt
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.fetching import HttpNet, Web
from holdfast.runtime.clock import SystemClock

SOME = 1 << 20


class Reach(NamedTuple):
    """A net, and what can be seen of it."""

    net: HttpNet
    gate: Gate
    names: Names
    told: list[HostAttempt]


def reach(*patterns: str, names: Mapping[str, list[list[str]]] | None = None) -> Reach:
    told: list[HostAttempt] = []
    gate = Gate(*(patterns or (LOOPBACK, "site.example", "other.example")))
    table = {"site.example": [[LOOPBACK]], "other.example": [[LOOPBACK]]} | dict(names or {})
    resolver = Names(table)
    web = Web(resolver, Attempts(SystemClock(), told.append))
    return Reach(HttpNet(gate, web), gate, resolver, told)


def answer(status: str = "200 OK", body: bytes = b"", *fields: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def moved(location: str, status: int = 302) -> bytes:
    return answer(f"{status} Moved", b"", f"Location: {location}")
