"""The bus of a cluster, with real servers, does what every bus must; so does the fake one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from engine.lines.connected import PATIENCE, both_ends, lines_over
from nats_server import NatsServers as Running
from nats_server import running_nats

from holdfast.contract.bus import Bus, BusUnavailable, OpenedBus
from holdfast.engine.cluster.bus import bus_place
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.lines.frames import MOST_PIECE_BYTES
from holdfast.testing.bus_kit import check_bus
from holdfast.testing.fake_bus import FakeBus


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[OpenedBus]:
    place = bus_place(NatsServers(servers=(url,), namespace="tests"))
    opened = await place.opened()
    try:
        yield opened
    finally:
        await opened.close()


async def test_the_fake_bus_is_a_bus() -> None:
    bus = FakeBus()
    await check_bus(bus, bus, "kit")


async def test_one_server_is_a_bus(nats: Running) -> None:
    (url,) = nats.urls
    async with connected(url) as one, connected(url) as other:
        await check_bus(one.bus, other.bus, "kit")


async def test_a_connection_crosses_servers() -> None:
    with running_nats(3) as servers:
        first, second, _ = servers.urls
        async with connected(first) as one, connected(second) as other:
            await _joined(one.bus, other.bus)
            async with (
                lines_over(one.bus) as here,
                lines_over(other.bus) as there,
                both_ends(here, there) as (asked, taken),
            ):
                await asked.send(b"across")
                assert await taken.receive() == b"across"


async def _joined(one: Bus, other: Bus) -> None:
    """The servers have found each other."""
    heard = anyio.Event()
    listening = await other.subscribe("joined", lambda _subject, _data: heard.set())
    with anyio.fail_after(PATIENCE):
        while not heard.is_set():
            await one.publish("joined", b"")
            await anyio.sleep(0.02)
    await listening.close()


async def test_a_long_stream_crosses_a_server_whole(nats: Running) -> None:
    (url,) = nats.urls
    item = bytes(range(256)) * (MOST_PIECE_BYTES // 256) * 50 + b"tail"
    async with (
        connected(url) as one,
        connected(url) as other,
        lines_over(one.bus) as here,
        lines_over(other.bus) as there,
        both_ends(here, there) as (asked, taken),
        anyio.create_task_group() as group,
    ):
        group.start_soon(asked.send, item)
        heard = bytearray()
        while len(heard) < len(item):
            heard += await taken.receive()
        assert bytes(heard) == item


async def test_somebody_whose_connection_is_cut_is_noticed_with_the_next_sign_of_life(
    nats: Running,
) -> None:
    (url,) = nats.urls
    async with (
        connected(url) as one,
        connected(url) as other,
        lines_over(one.bus, beat=0.01) as here,
        lines_over(other.bus) as there,
        both_ends(here, there) as (asked, _),
    ):
        await other.close()
        with pytest.raises(anyio.BrokenResourceError, match="nobody is there"):
            await asked.receive()


async def test_a_connection_that_is_closed_says_so(nats: Running) -> None:
    (url,) = nats.urls
    async with connected(url) as opened:
        listening = await opened.bus.subscribe("somewhere", lambda _subject, _data: None)
        await opened.close()
        with pytest.raises(BusUnavailable, match="NATS"):
            await opened.bus.publish("somewhere", b"x")
        with pytest.raises(BusUnavailable, match="NATS"):
            await opened.bus.subscribe("somewhere", lambda _subject, _data: None)
        await listening.close()


async def test_where_no_server_is_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.client.CONNECT_SECONDS", 0.2)
    with pytest.raises(BusUnavailable, match="no NATS server can be reached"):
        await bus_place(NatsServers(servers=("nats://127.0.0.1:1",))).opened()


async def test_what_cannot_be_said_or_heard_is_told(nats: Running) -> None:
    (url,) = nats.urls
    async with connected(url) as opened:
        with pytest.raises(BusUnavailable, match="payload"):
            await opened.bus.publish("somewhere", b"x" * 2_000_000)
        with pytest.raises(BusUnavailable, match="subject"):
            await opened.bus.subscribe("no subject", lambda _subject, _data: None)


async def test_a_server_that_stands_still_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.bus._ANSWER_SECONDS", 0.2)
    with running_nats() as servers:
        async with connected(servers.urls[0]) as opened:
            servers.nodes[0].pause()
            try:
                with pytest.raises(BusUnavailable, match="answers in time"):
                    await opened.bus.subscribe("somewhere", lambda _subject, _data: None)
            finally:
                servers.nodes[0].go_on()
            heard = anyio.Event()
            await opened.bus.subscribe("there", lambda _subject, _data: heard.set())
            await opened.bus.publish("there", b"")
            with anyio.fail_after(PATIENCE):
                await heard.wait()
