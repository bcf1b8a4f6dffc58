"""The system's resolver: off the event loop, limited, and never waited for at the end."""

import asyncio
import socket
import threading

import pytest

from holdfast.execution.network.resolving import SystemResolver

Found = list[tuple[int, int, int, str, tuple[object, ...]]]


async def test_this_machines_own_name_is_known() -> None:
    addresses = await SystemResolver()("localhost")
    assert set(addresses) <= {"127.0.0.1", "::1"}
    assert addresses


@pytest.mark.parametrize("name", ["", "a..b", "x" * 300, "\ud800"])
async def test_what_is_no_name_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = socket.getaddrinfo

    def offline(host: str, *_: object, **__: object) -> object:
        # Never ask a name server from a test.
        return asked(host, 0, flags=socket.AI_NUMERICHOST)

    monkeypatch.setattr(socket, "getaddrinfo", offline)
    with pytest.raises(OSError, match=r".") as problem:
        await SystemResolver()(name)
    assert problem.value.strerror


async def test_addresses_come_once_in_order_and_without_those_of_one_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = ["192.0.2.1", "2001:db8::1", "192.0.2.1", "fe80::1%2"]

    def answer(*_: object, **__: object) -> Found:
        return [(0, 0, 0, "", (place, 0)) for place in places]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    assert await SystemResolver()("a.example") == ("192.0.2.1", "2001:db8::1")


async def test_lookups_are_limited_and_an_abandoned_one_keeps_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()
    begun: list[str] = []

    def slow(host: str, *_: object, **__: object) -> Found:
        begun.append(host)
        answered.wait(10)
        return [(0, 0, 0, "", ("192.0.2.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    resolver = SystemResolver(2)
    tasks = [asyncio.create_task(resolver(name)) for name in "abc"]
    while len(begun) < 2:
        await asyncio.sleep(0.005)
    tasks[0].cancel()
    await asyncio.sleep(0.05)
    assert sorted(begun) == ["a", "b"]
    answered.set()
    assert await tasks[1] == await tasks[2] == ("192.0.2.1",)
    assert tasks[0].cancelled()


async def test_the_place_of_an_abandoned_lookup_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, begun = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> Found:
        begun.set()
        answered.wait(10)
        return [(0, 0, 0, "", ("192.0.2.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    resolver = SystemResolver(1)
    abandoned = asyncio.create_task(resolver("a"))
    await asyncio.to_thread(begun.wait, 10)
    abandoned.cancel()
    await asyncio.sleep(0)
    answered.set()
    assert await resolver("b") == ("192.0.2.1",)  # there is one place, and it was taken
    assert abandoned.cancelled()


def test_a_loop_that_has_ended_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, done = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> Found:
        answered.wait(10)
        done.set()
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await SystemResolver()("a.example")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    asyncio.run(give_up())
    answered.set()
    assert done.wait(10)
    for thread in threading.enumerate():
        if thread.name == "holdfast-resolver":
            thread.join(10)


async def test_a_thread_that_cannot_start_keeps_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    resolver = SystemResolver(1)
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", none_left)
        for _ in range(2):
            with pytest.raises(OSError, match="no thread is left"):
                await resolver("localhost")
    assert await asyncio.wait_for(resolver("localhost"), 10)
