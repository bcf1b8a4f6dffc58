"""One request of a program to a host and its answer, passed on message by message.

The body of the request ends where its own head says, so nothing that follows it reaches the host.
The answer is passed on as it comes, up to the end of the connection.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from holdfast.execution.network import http_heads
from holdfast.execution.network.dialling import Line
from holdfast.execution.network.http_heads import Body, Request, Unfit
from holdfast.execution.network.relay import PIECE, Traffic, pass_on

_END_OF_HEAD = b"\r\n\r\n"
_END_OF_LINE = b"\r\n"
_LONGEST_LINE = 8192
_MOST_TRAILERS = 100
_SWITCHING_PROTOCOLS = 101
_FINAL = 200


async def exchange(
    program: Line, host: Line, request: Request, name: str, traffic: Traffic
) -> Unfit | None:
    """Pass on one request and its answer; what is not passed on says why."""
    problems: list[Exception] = []
    _write(host.writer, http_heads.write_request(request, name), traffic.to_host)
    try:
        async with asyncio.TaskGroup() as work:
            sending = work.create_task(_send_body(program, host, request.body, traffic))
            await _pass_answer(program, host, traffic)
            sending.cancel()
    except* (OSError, Unfit) as broken:
        problems += broken.exceptions
    return next((one for one in problems if isinstance(one, Unfit)), None)


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """The bytes up to an empty line, and with it."""
    return await reader.readuntil(_END_OF_HEAD)


async def _pass_answer(program: Line, host: Line, traffic: Traffic) -> None:
    status = 0
    while status < _FINAL:
        try:
            answer = http_heads.read_answer(await read_head(host.reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Unfit(502, "the host closed the connection before it answered") from None
        except asyncio.LimitOverrunError:
            raise Unfit(502, "the head of the host's answer is too long") from None
        status = answer.status
        if status == _SWITCHING_PROTOCOLS:
            raise Unfit(502, "the host switches to a protocol that nobody asked for")
        _write(program.writer, http_heads.write_answer(answer), traffic.from_host)
        await program.writer.drain()
    await pass_on(host.reader, program.writer, traffic.from_host)


async def _send_body(program: Line, host: Line, body: Body, traffic: Traffic) -> None:
    # A host may answer and go before it has read all: its answer counts.
    with suppress(ConnectionError):
        if body.chunked:
            await _send_chunks(program.reader, host.writer, traffic.to_host)
        else:
            await _send_length(program.reader, host.writer, body.length, traffic.to_host)
        await host.writer.drain()
    if not await program.reader.read(1):
        traffic.half_closed()


async def _send_length(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    length: int,
    count: Callable[[int], None],
) -> None:
    while length:
        piece = await reader.read(min(length, PIECE))
        if not piece:
            raise Unfit(400, "the body ended too early")
        _write(writer, piece, count)
        await writer.drain()
        length -= len(piece)


async def _send_chunks(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]
) -> None:
    while size := http_heads.read_chunk_size(await _line(reader)):
        _write(writer, b"%x\r\n" % size, count)
        await _send_length(reader, writer, size, count)
        if await reader.read(1) != b"\r" or await reader.read(1) != b"\n":
            raise Unfit(400, "the body's chunks are malformed")
        _write(writer, _END_OF_LINE, count)
    for _ in range(_MOST_TRAILERS):
        if await _line(reader) == _END_OF_LINE:
            _write(writer, b"0\r\n\r\n", count)
            return
    raise Unfit(400, "there is too much after the body")


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        line = await reader.readuntil(_END_OF_LINE)
    except asyncio.IncompleteReadError:
        raise Unfit(400, "the body ended too early") from None
    except asyncio.LimitOverrunError:
        line = b" " * (_LONGEST_LINE + 1)
    if len(line) > _LONGEST_LINE:
        raise Unfit(400, "a line of the body is too long")
    return line


def _write(writer: asyncio.StreamWriter, words: bytes, count: Callable[[int], None]) -> None:
    writer.write(words)
    count(len(words))
