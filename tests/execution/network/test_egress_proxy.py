"""The proxy as a server: its door, its end, and what it does when the machine refuses."""

import asyncio
import errno
import logging
import socket
from pathlib import Path
from typing import ClassVar

import pytest
from execution.network.town import LOOPBACK, Gate, Names, echo, proxied, served, until

from holdfast.contract.net import HostAttempt
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.conversation import Ways
from holdfast.execution.network.egress_proxy import EgressProxy
from holdfast.execution.network.proxy_environment import proxy_environment, with_proxy
from holdfast.testing.fakes import FakeClock

REFUSED = b"CONNECT other.example:1 HTTP/1.1\r\n\r\n"


async def test_closing_ends_every_connection_at_once_and_tells_of_each() -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with served(echo) as port, served(silent) as mute, proxied(Gate(LOOPBACK)) as town:
        lines: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        for words in (
            b"",
            b"\x05\x01",
            f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello".encode(),
            f"GET http://127.0.0.1:{mute}/ HTTP/1.1\r\n\r\n".encode(),
            REFUSED,
        ):
            lines.append(await asyncio.open_connection(LOOPBACK, town.proxy.port))
            lines[-1][1].write(words)
        await until(lambda: len(town.told) >= 3)
        await lines[2][0].readuntil(b"hello")
        begun = asyncio.get_running_loop().time()
        await town.proxy.close()
        await town.proxy.close()
        assert asyncio.get_running_loop().time() - begun < 2
        for reader, writer in lines:
            await reader.read()
            writer.transport.abort()
        ended = {told.number: told for told in town.told if told.received is not None}
        assert len(ended) == 3
        assert sum(told.sent or 0 for told in ended.values()) > 5


async def test_a_connection_that_was_just_taken_is_closed_too() -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        proxy = EgressProxy(listener, _ways([]))
        with socket.create_connection(listener.getsockname()) as program:
            accept = getattr(proxy, "_accept")  # noqa: B009 - in the same step as closing
            accept()
            await proxy.close()
            assert program.recv(10) == b""


async def test_the_owner_of_the_door_may_close_it_first() -> None:
    listener = socket.create_server((LOOPBACK, 0))
    proxy = EgressProxy(listener, _ways([]))
    listener.close()
    reader, writer = await asyncio.open_connection(LOOPBACK, proxy.port)
    writer.write(REFUSED)
    assert b"403" in await reader.read()
    writer.close()
    await proxy.close()


class Reluctant(socket.socket):
    """Cannot accept at first."""

    problems: ClassVar = (
        BlockingIOError(),
        OSError(errno.EMFILE, "too many"),
        OSError(errno.EMFILE, "more"),
    )
    left: ClassVar[list[OSError]] = []

    def accept(self) -> "tuple[socket.socket, object]":
        if self.left:
            raise self.left.pop(0)
        return super().accept()


@pytest.mark.parametrize("closed", [False, True])
async def test_a_machine_without_files_left_is_asked_again_later(closed: bool) -> None:
    Reluctant.left = list(Reluctant.problems)
    with Reluctant(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((LOOPBACK, 0))
        listener.listen()
        proxy = EgressProxy(listener, _ways([]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(REFUSED)
        if closed:
            await until(lambda: len(Reluctant.left) == 1)
            await proxy.close()
            await asyncio.sleep(0.15)
            assert len(Reluctant.left) == 1
        else:
            assert b"403" in await reader.read()
            await proxy.close()
        writer.transport.abort()


async def test_what_cannot_be_written_down_is_not_connected(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(_attempt: HostAttempt) -> None:
        raise OSError(errno.ENOSPC, "the disk is full")

    dialled: list[bool] = []

    async def hear(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        dialled.append(await reader.read() != b"")

    with socket.create_server((LOOPBACK, 0)) as listener:
        ways = Ways(Gate(LOOPBACK), Names(), Attempts(FakeClock(), full))
        proxy = EgressProxy(listener, ways)
        async with served(hear) as port:
            reader, writer = await asyncio.open_connection(LOOPBACK, proxy.port)
            writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello".encode())
            with caplog.at_level(logging.ERROR, "holdfast"):
                assert await reader.read() == b""
                await until(lambda: bool(dialled) and bool(caplog.records))
            assert dialled == [False]
            writer.close()
        await proxy.close()


def _ways(told: list[HostAttempt]) -> Ways:
    return Ways(Gate(), Names(), Attempts(FakeClock(), told.append))


def test_programs_are_told_of_the_proxy_in_every_spelling() -> None:
    variables = proxy_environment(4000)
    assert variables["HTTP_PROXY"] == variables["https_proxy"] == "http://127.0.0.1:4000"
    assert variables["ALL_PROXY"] == variables["all_proxy"] == "socks5h://127.0.0.1:4000"
    assert "localhost" in variables["NO_PROXY"].split(",")
    assert {name.upper() for name in variables} == {
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
    }
    assert len(variables) == 8


@pytest.mark.parametrize(
    ("hosts", "direct"),
    [
        ((), "localhost,127.0.0.1,::1"),
        ((("*", "api.example"),), "localhost,127.0.0.1,::1"),
        ((("127.0.0.1:8080", "api.example"),), "localhost,::1"),
        ((("[::1]:8080", "localhost"),), "127.0.0.1"),
        ((("::1",), ("127.0.0.1", "[::1]:1")), "localhost,127.0.0.1"),
        ((("127.0.0.1",), ("127.0.0.2",)), "localhost,127.0.0.1,::1"),
        ((("127.0.0.1", "::1", "localhost:1"),), ""),
    ],
)
def test_a_loopback_that_is_granted_is_asked_of_the_proxy(
    hosts: tuple[tuple[str, ...], ...], direct: str
) -> None:
    variables = proxy_environment(4000, hosts)
    assert variables["NO_PROXY"] == variables["no_proxy"] == direct


def test_variables_that_are_given_on_purpose_outweigh_those_of_the_proxy() -> None:
    door = proxy_environment(4000)
    passed = {"HTTP_PROXY": "http://corporate:1", "NO_PROXY": "corporate", "A": "a"}
    assert with_proxy({}, door) == door
    found = with_proxy(passed, door)
    assert found["HTTP_PROXY"] == found["http_proxy"] == "http://127.0.0.1:4000"
    assert (found["NO_PROXY"], found["A"]) == ("corporate", "a")
    assert "no_proxy" not in found
    given = with_proxy(passed, door, passed)
    assert given["HTTP_PROXY"] == "http://corporate:1"
    assert "http_proxy" not in given
    assert given["https_proxy"] == "http://127.0.0.1:4000"


async def test_many_connections_leave_no_file_behind() -> None:
    async def some() -> None:
        for words in (REFUSED, b"\x05\x01\x02", b"nonsense\r\n\r\n", connect, connect):
            await town.ask(words, close=True)

    async with served(echo) as port, proxied(Gate(LOOPBACK)) as town:
        connect = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello".encode()
        await some()
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(10):
            await some()
        await until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= before)
