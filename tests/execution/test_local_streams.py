"""Bytes over the sockets of one machine."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from holdfast.execution.local_streams import LocalStream, connected, listening

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def pair() -> AsyncGenerator[tuple[LocalStream, LocalStream]]:
    one, other = socket.socketpair()
    for line in (one, other):
        line.settimeout(0)
    async with LocalStream(one) as first, LocalStream(other) as second:
        yield first, second


async def test_what_is_sent_comes_whole_however_much_it_is() -> None:
    sent, came = b"x" * 3_000_000, bytearray()
    async with pair() as (ours, theirs):

        async def read() -> None:
            async for piece in theirs:
                came.extend(piece)

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await ours.send(sent)
            await ours.send_eof()
    assert bytes(came) == sent


async def test_who_is_cancelled_as_its_bytes_come_is_an_error_of_nobody() -> None:
    """The loop of these tests raises whatever is told to it."""
    for _ in range(50):
        async with pair() as (ours, theirs), anyio.create_task_group() as group:
            group.start_soon(theirs.receive)
            await anyio.wait_all_tasks_blocked()
            ours.line.send(b"x")  # there at the very moment
            group.cancel_scope.cancel()


async def test_who_is_cancelled_as_somebody_knocks_is_an_error_of_nobody(tmp_path: Path) -> None:
    path = str(tmp_path / "one.sock")
    async with listening(path, 0o600, 5) as listener:
        for _ in range(5):
            async with anyio.create_task_group() as group:
                group.start_soon(listener.accept)
                await anyio.wait_all_tasks_blocked()
                (await connected(path)).line.close()
                group.cancel_scope.cancel()


async def test_who_reads_is_told_that_it_was_closed() -> None:
    async with pair() as (ours, _), anyio.create_task_group() as group:

        async def read() -> None:
            with pytest.raises(anyio.ClosedResourceError):
                await ours.receive()

        group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        await ours.aclose()
        await ours.aclose()


async def test_who_writes_to_one_who_has_left_is_told() -> None:
    async with pair() as (ours, theirs):
        await theirs.aclose()
        with pytest.raises(anyio.BrokenResourceError):
            await ours.send(b"x")
        await ours.send_eof()
        await ours.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await ours.receive()
        with pytest.raises(anyio.ClosedResourceError):
            await ours.send(b"x")


async def test_where_too_many_knock_one_waits_for_its_turn(tmp_path: Path) -> None:
    path, streams = str(tmp_path / "one.sock"), list[LocalStream]()
    async with listening(path, 0o600, 0) as listener, anyio.create_task_group() as group:

        async def knock() -> None:
            streams.append(await connected(path))

        for _ in range(4):
            group.start_soon(knock)
        await anyio.wait_all_tasks_blocked()
        assert len(streams) < 4
        for _ in range(4):
            streams.append(await listener.accept())
    assert len(streams) == 8
    for one in streams:
        await one.aclose()


async def test_a_place_that_cannot_be_had_is_told_and_nothing_stays_open(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        listening(str(tmp_path / "none" / "one.sock"), 0o600, 5)
    with pytest.raises(FileNotFoundError):
        await connected(str(tmp_path / "one.sock"))
