"""The bus of a cluster, with real servers, does what every bus must; so does the fake one."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import anyio
import pytest
from engine.cluster.connected import PATIENCE, both_ends, lines_over
from nats.aio.client import Client
from nats_server import NatsServers, running_nats

from holdfast.contract.bus import BusUnavailable
from holdfast.engine.cluster.bus import NatsBus
from holdfast.engine.cluster.frames import MOST_PIECE_BYTES
from holdfast.testing.bus_kit import check_bus
from holdfast.testing.fake_bus import FakeBus

pytestmark = pytest.mark.xdist_group("nats")


@pytest.fixture(scope="module")
def server() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Client]:
    async def unheard(_problem: Exception) -> None:
        """A server that a test ends is no news."""

    client = Client()
    await client.connect(url, error_cb=unheard, max_reconnect_attempts=-1)  # pyright: ignore[reportUnknownMemberType] - of callbacks that are not given
    try:
        yield client
    finally:
        await client.close()


async def test_the_fake_bus_is_a_bus() -> None:
    bus = FakeBus()
    await check_bus(bus, bus, "kit")


async def test_one_server_is_a_bus(server: NatsServers) -> None:
    (url,) = server.urls
    async with connected(url) as one, connected(url) as other:
        await check_bus(NatsBus(one), NatsBus(other), "kit")


async def test_three_servers_are_one_bus_and_connections_cross_them() -> None:
    with running_nats(3) as servers:
        first, second, _ = servers.urls
        async with connected(first) as one, connected(second) as other:
            await _joined(one, other)
            await check_bus(NatsBus(one), NatsBus(other), "kit")
            await check_bus(NatsBus(other), NatsBus(one), "kit")
            async with (
                lines_over(NatsBus(one)) as here,
                lines_over(NatsBus(other)) as there,
                both_ends(here, there) as (asked, taken),
            ):
                await asked.send(b"across")
                assert await taken.receive() == b"across"


async def _joined(one: Client, other: Client) -> None:
    """The servers have found each other."""
    heard = anyio.Event()

    async def hear(_message: object) -> None:
        heard.set()

    await other.subscribe("joined", cb=hear)  # pyright: ignore[reportUnknownMemberType] - of a future that is not given
    with anyio.fail_after(PATIENCE):
        while not heard.is_set():
            await one.publish("joined", b"")
            await anyio.sleep(0.02)


async def test_a_long_stream_crosses_a_server_whole(server: NatsServers) -> None:
    (url,) = server.urls
    item = bytes(range(256)) * (MOST_PIECE_BYTES // 256) * 50 + b"tail"
    async with (
        connected(url) as one,
        connected(url) as other,
        lines_over(NatsBus(one)) as here,
        lines_over(NatsBus(other)) as there,
        both_ends(here, there) as (asked, taken),
        anyio.create_task_group() as group,
    ):
        group.start_soon(asked.send, item)
        heard = bytearray()
        while len(heard) < len(item):
            heard += await taken.receive()
        assert bytes(heard) == item


async def test_somebody_whose_connection_is_cut_is_noticed_at_once(server: NatsServers) -> None:
    (url,) = server.urls
    async with (
        connected(url) as one,
        connected(url) as other,
        lines_over(NatsBus(one)) as here,
        lines_over(NatsBus(other)) as there,
        both_ends(here, there) as (asked, _),
    ):
        await other.close()
        await asked.send(b"x")
        with pytest.raises(anyio.BrokenResourceError, match="nobody is there"):
            await asked.receive()


async def test_a_connection_that_is_closed_says_so(server: NatsServers) -> None:
    (url,) = server.urls
    async with connected(url) as client:
        bus = NatsBus(client)
        listening = await bus.subscribe("somewhere", lambda _subject, _data: None)
        await client.close()
        with pytest.raises(BusUnavailable, match="NATS"):
            await bus.publish("somewhere", b"x")
        with pytest.raises(BusUnavailable, match="NATS"):
            await bus.subscribe("somewhere", lambda _subject, _data: None)
        await listening.close()
