"""One connection of a program to the proxy, from its first byte to its end.

The first byte tells SOCKS from HTTP. Then, whatever the way: the host is judged, dialled and the
bytes pass; or the program is told in its own language why not.
"""

import asyncio
from typing import NamedTuple

import msgspec

from holdfast.contract.gates import HostGate, Refusal
from holdfast.contract.net import AttemptKind, Resolver
from holdfast.execution.network import http_heads, socks
from holdfast.execution.network.admission import Unresolved, admit, bracketed
from holdfast.execution.network.attempts import Attempt, Attempts
from holdfast.execution.network.dialling import Dialled, Line, Unreached, dial
from holdfast.execution.network.http_heads import Place, Request, Unfit, write_failure
from holdfast.execution.network.http_relay import exchange, read_head
from holdfast.execution.network.relay import Traffic, farewell, tunnel
from holdfast.execution.network.socks import SocksProblem, read_socks, reply


class ProxyLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the programs of one sandbox may use of the proxy."""

    header_bytes: int = 64 * 1024
    request_seconds: float = 10.0
    """For saying what is wanted."""
    connect_seconds: float = 5.0
    """For each address."""
    idle_seconds: float = 600.0
    """Without a byte either way."""
    half_closed_seconds: float = 60.0
    """The same, once one side has said all."""
    connections: int = 128


USUAL_LIMITS = ProxyLimits()
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Ways(NamedTuple):
    """What a proxy reaches hosts with."""

    gate: HostGate
    resolver: Resolver
    attempts: Attempts
    limits: ProxyLimits = USUAL_LIMITS


class Asked(NamedTuple):
    """What a program wants; without a request it is SOCKS."""

    place: Place
    request: Request | None = None

    @property
    def how(self) -> AttemptKind:
        """The way it was asked."""
        return self.request.kind if self.request else "socks"


class Reached(NamedTuple):
    """A host that answers."""

    name: str
    """As it was judged."""
    address: str
    line: Line


async def converse(program: Line, ways: Ways) -> None:
    """Serve one connection. When it returns the program's end is still to be dropped."""
    try:
        async with asyncio.timeout(ways.limits.request_seconds):
            asked = await _read(program)
    except TimeoutError:
        asked = write_failure(408, "the request took too long")
    except asyncio.LimitOverrunError:
        asked = write_failure(431, "the head of the request is too long")
    except Unfit as problem:
        asked = write_failure(problem.status, problem.reason)
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    if isinstance(asked, Asked):
        asked = await _serve(program, asked, ways)
    if asked is not None:
        await farewell(program, asked)


async def _read(program: Line) -> Asked | bytes:
    first = await program.reader.readexactly(1)
    if first[0] == socks.VERSION:
        wanted = await read_socks(program)
        return wanted.answer if isinstance(wanted, SocksProblem) else Asked(wanted)
    if not http_heads.begins_request(first):
        raise Unfit(400, "this is neither HTTP nor SOCKS 5")
    request = http_heads.read_request(first + await read_head(program.reader))
    return Asked(request.place, request)


async def _serve(program: Line, asked: Asked, ways: Ways) -> bytes | None:
    """Reach the host and pass the bytes; the last words to the program, None to break off."""
    attempt = ways.attempts.begin(asked.how, *asked.place)
    reached = await _reach(asked, ways, attempt)
    if isinstance(reached, bytes):
        return reached
    try:
        attempt.connected(reached.address)
        traffic = Traffic(ways.limits.idle_seconds, ways.limits.half_closed_seconds)
        problem = await _pass(program, reached, asked, traffic, attempt)
    finally:
        reached.line.drop()
    if problem is None:
        return b""
    # What has begun cannot be taken back; the program sees that it breaks off.
    unanswered = asked.how == "http" and not traffic.received
    return write_failure(problem.status, problem.reason) if unanswered else None


async def _reach(asked: Asked, ways: Ways, attempt: Attempt) -> Reached | bytes:
    """The host, or what to tell the program instead."""
    host, port = asked.place
    admitted = await admit(ways.gate, ways.resolver, host, port)
    if isinstance(admitted, Refusal):
        attempt.refused(admitted)
        return _refused(asked, admitted)
    if isinstance(admitted, Unresolved):
        attempt.failed(admitted.reason)
        return _failed(asked, admitted.reason, 502, socks.NO_HOST)
    dialled = await dial(admitted.addresses, port, ways.limits.connect_seconds)
    return _reached(asked, admitted.name, dialled, attempt)


def _reached(
    asked: Asked, name: str, dialled: Dialled | Unreached, attempt: Attempt
) -> Reached | bytes:
    if isinstance(dialled, Dialled):
        return Reached(name, *dialled)
    attempt.failed(dialled.reason)
    if dialled.in_time:
        return _failed(asked, dialled.reason, 502, socks.NO_ANSWER)
    return _failed(asked, dialled.reason, 504, socks.NO_HOST)


async def _pass(
    program: Line, reached: Reached, asked: Asked, traffic: Traffic, attempt: Attempt
) -> Unfit | None:
    problem: Unfit | None = None
    host = reached.line
    try:
        async with traffic.idle:
            if asked.request is not None and asked.how == "http":
                problem = await exchange(program, host, asked.request, reached.name, traffic)
            else:
                program.writer.write(_ESTABLISHED if asked.request else reply(socks.GRANTED))
                await tunnel(program, host, traffic)
    except TimeoutError:
        problem = Unfit(504, "nothing moved for too long")
    finally:
        attempt.ended(traffic.sent, traffic.received, problem.reason if problem else None)
    return problem


def _refused(asked: Asked, refusal: Refusal) -> bytes:
    if asked.request is None:
        return reply(socks.REFUSED)
    shown = f"{bracketed(asked.place.host)}:{asked.place.port}"
    needed = f" It needs {refusal.requirement}" if refusal.requirement else ""
    return write_failure(403, f"{shown} is out of reach. {refusal.reason}{needed}")


def _failed(asked: Asked, reason: str, status: int, code: int) -> bytes:
    return write_failure(status, reason) if asked.request else reply(code)
