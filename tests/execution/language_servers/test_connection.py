"""A conversation with a server: who waits is told what became of it, who asks gets an answer."""

import math
from typing import Any

import anyio
import pytest

from holdfast.contract.errors import OperationTimedOut, Unavailable
from holdfast.execution.language_servers.connection import (
    MOST_PUBLISHED,
    MOST_PUBLISHED_BYTES,
    MOST_REGISTERED,
    Connection,
)
from holdfast.execution.language_servers.frames import FrameReader, framed

pytestmark = pytest.mark.anyio

PULL = "textDocument/diagnostic"


class Server:
    """The other side: what it was told, and what it says."""

    def __init__(self) -> None:
        self.connection = Connection("odd")
        self.told: list[Any] = []
        self._reader = FrameReader()
        self.connection.sends_by(self._take)

    def _take(self, content: bytes) -> None:
        self.told += self._reader.feed(content)

    def says(self, **message: Any) -> None:
        self.connection.heard(framed({"jsonrpc": "2.0", **message}))

    def asks(self, method: str, params: Any = None) -> Any:
        """What it is answered, without what every message has."""
        self.says(id="one", method=method, params=params)
        answer = self.told.pop()
        assert (answer.pop("jsonrpc"), answer.pop("id")) == ("2.0", "one")
        return answer

    def publishes(self, params: Any) -> None:
        self.says(method="textDocument/publishDiagnostics", params=params)


def test_what_a_server_asks_is_answered_and_nothing_is_edited() -> None:
    server = Server()
    edit = server.asks("workspace/applyEdit", {"edit": {}})["result"]
    assert edit["applied"] is False
    assert server.asks("window/workDoneProgress/create", {"token": 1}) == {"result": None}
    assert server.asks("workspace/configuration", {"items": [{}, {}]}) == {"result": [None, None]}
    refused = server.asks("odd/private")
    assert refused["error"]["code"] == -32601
    assert "odd/private" in refused["error"]["message"]


def test_what_it_asks_before_it_can_be_spoken_to_is_answered_then() -> None:
    connection, told = Connection("odd"), list[bytes]()
    for number in (1, 2):
        asked: Any = {"jsonrpc": "2.0", "id": number, "method": "window/showMessageRequest"}
        connection.heard(framed(asked))
    connection.sends_by(told.append)
    answers: list[Any] = FrameReader().feed(b"".join(told))
    assert [one["id"] for one in answers] == [1, 2]
    connection.notify("exit", {})
    assert len(told) == 3


def test_only_methods_are_registered() -> None:
    server = Server()
    wanted: list[Any] = [{"method": 5}, "odd", {"method": PULL}]
    assert server.asks("client/registerCapability", {"registrations": wanted}) == {"result": None}
    assert server.connection.registered == {PULL}


async def test_an_answer_counts_once_and_only_for_who_asked() -> None:
    server = Server()
    got: list[Any] = []

    async def ask() -> None:
        got.append(await server.connection.ask("odd/question", {}, math.inf))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        number = server.told[0]["id"]
        server.says(id=number + 1, result="for nobody")
        server.says(id=str(number), result="for nobody")
        server.says(id=number, result="first")
        server.says(id=number, result="second")
    server.says(id=server.told[0]["id"], result="too late")
    assert got == ["first"]


async def test_who_asks_one_that_has_ended_is_told_at_once() -> None:
    server = Server()
    server.connection.over("exit status 5")
    with anyio.fail_after(5):
        with pytest.raises(Unavailable, match="exit status 5"):
            await server.connection.ask("odd/question", {}, math.inf)
        with pytest.raises(Unavailable, match="exit status 5"):
            await server.connection.published_or_registered("file:///a", 1, PULL, math.inf)


async def test_who_waits_for_what_is_wrong_is_told_when_it_ends() -> None:
    server = Server()

    async def wait() -> None:
        with pytest.raises(Unavailable, match="signal 9"):
            await server.connection.published_or_registered("file:///a", 1, PULL, math.inf)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            server.connection.over("signal 9")


async def test_waiting_for_what_is_wrong_has_a_deadline() -> None:
    server = Server()
    server.publishes({"uri": "file:///a", "version": 1, "diagnostics": []})
    server.publishes({"uri": "file:///b", "version": 2, "diagnostics": []})
    with pytest.raises(OperationTimedOut, match="file:///a"):
        await server.connection.published_or_registered("file:///a", 2, PULL, 0.05)


def test_what_is_published_in_no_known_shape_is_passed_over() -> None:
    server = Server()
    nameless: Any = {"uri": 1, "diagnostics": []}
    odd_ones: tuple[Any, ...] = (None, [], {"diagnostics": []}, {"uri": "file:///a"}, nameless)
    for odd in odd_ones:
        server.publishes(odd)
    assert server.connection.published == {}
    server.publishes({"uri": "file:///a", "version": "1", "diagnostics": [1]})
    kept = server.connection.published["file:///a"]
    assert (kept.version, kept.items) == (None, [1])


def test_of_so_many_files_those_heard_of_last_are_remembered() -> None:
    server = Server()
    uris = [f"file:///{number}" for number in range(MOST_PUBLISHED)]
    for uri in (*uris, uris[0], "file:///new"):
        server.publishes({"uri": uri, "diagnostics": []})
    assert [*server.connection.published] == [*uris[2:], uris[0], "file:///new"]


def test_what_is_remembered_of_files_is_bounded_together() -> None:
    server = Server()
    for number in range(40):
        server.publishes({"uri": f"file:///{number}", "diagnostics": ["x" * (1 << 20)]})
    kept = server.connection.published
    assert [*kept] == [f"file:///{number}" for number in range(9, 40)]
    assert sum(len(one.content) for one in kept.values()) <= MOST_PUBLISHED_BYTES
    most: list[Any] = ["x" * (MOST_PUBLISHED_BYTES - 1_000)]
    server.publishes({"uri": "file:///most", "diagnostics": most})
    assert [*kept] == ["file:///most"]
    assert kept["file:///most"].items == most
    for number in range(3):
        server.publishes({"uri": f"{number}" * (MOST_PUBLISHED_BYTES // 2), "diagnostics": []})
    assert [uri[0] for uri in kept] == ["2"]


def test_only_so_many_methods_are_registered() -> None:
    server = Server()
    server.asks("client/registerCapability", {"registrations": [{"method": "x" * 257}]})
    assert server.connection.registered == set()
    many: list[Any] = [{"method": f"odd/{number}"} for number in range(MOST_REGISTERED)]
    server.asks("client/registerCapability", {"registrations": [*many, {"method": PULL}]})
    assert server.connection.registered == {one["method"] for one in many}
