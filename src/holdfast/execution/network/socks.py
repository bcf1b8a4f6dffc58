"""SOCKS 5 (RFC 1928) as far as programs need it: CONNECT to a name or an address, without a login.

It reads and writes a greeting and a request; what is done with them is not known here.
"""

import asyncio
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from holdfast.execution.network.dialling import Line
from holdfast.execution.network.http_heads import Place, Unfit, read_place

VERSION = 5
GRANTED = 0
FAILED = 1
REFUSED = 2
NO_HOST = 4
NO_ANSWER = 5
_NO_SUCH_COMMAND = 7
_NO_SUCH_ADDRESS = 8
_NO_LOGIN = 0
_NO_METHOD = 0xFF
_CONNECT = 1
_IPV4 = 1


class SocksProblem(NamedTuple):
    """A request that is not answered with a connection, and the bytes that say so."""

    answer: bytes


async def read_socks(line: Line) -> Place | SocksProblem:
    """Read what follows the first byte; an IncompleteReadError: the program went away."""
    methods = await _counted(line.reader)
    if _NO_LOGIN not in methods:
        return SocksProblem(bytes((VERSION, _NO_METHOD)))
    line.writer.write(bytes((VERSION, _NO_LOGIN)))
    version, command, _, kind = await line.reader.readexactly(4)
    if version != VERSION:
        return SocksProblem(reply(FAILED))
    host = await _host(line.reader, kind)
    if host is None:
        return SocksProblem(reply(_NO_SUCH_ADDRESS))
    port = int.from_bytes(await line.reader.readexactly(2), "big")
    if command != _CONNECT:
        return SocksProblem(reply(_NO_SUCH_COMMAND))
    try:
        return read_place(host.decode("ascii"), port)
    except (Unfit, UnicodeDecodeError):
        return SocksProblem(reply(FAILED))


def reply(code: int) -> bytes:
    """An answer; where the connection begins on our side is nobody's business."""
    return bytes((VERSION, code, 0, _IPV4, 0, 0, 0, 0, 0, 0))


async def _host(reader: asyncio.StreamReader, kind: int) -> bytes | None:
    match kind:
        case 1:
            return str(IPv4Address(await reader.readexactly(4))).encode()
        case 4:
            return str(IPv6Address(await reader.readexactly(16))).encode()
        case 3:
            return await _counted(reader)
        case _:
            return None


async def _counted(reader: asyncio.StreamReader) -> bytes:
    (length,) = await reader.readexactly(1)
    return await reader.readexactly(length)
