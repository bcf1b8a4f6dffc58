"""The rights in NATS that the documentation gives: they suffice, none is too many, and who has
them reaches nobody else."""

import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest
from engine.cluster.fleets import SELDOM, WORD, Fleet, soon, until, wake
from msgspec.structs import replace
from nats_server import running_nats

from holdfast.engine.cluster.bus import bus_place
from holdfast.engine.cluster.counting import lane_standings, stream_standing
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import Denied, Heard, LinkError, NatsServers, connected
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import ANY, CLASSES, WakeSubject
from holdfast.engine.lines.addresses import Addresses
from holdfast.engine.lines.connecting import Lines, NobodyThere
from holdfast.engine.lines.streams import BusStream
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio

DOCUMENT = Path(__file__).parents[3] / "docs" / "cluster.md"
PASSWORD = "change-this"
_EVERYBODY = "eavesdropper"


def documented() -> str:
    """What the documentation tells a server."""
    (found,) = re.findall(r"```conf\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    return str(found)


def named(config: str, name: str) -> str:
    """The same for another namespace."""
    return config.replace("shop", name)


def rights_in(config: str, kind: str) -> list[str]:
    """What a worker may do by that."""
    (found,) = re.findall(rf"{kind}: \[(.*?)\]", config, re.DOTALL)
    return re.findall(r'"([^"]+)"', found)


def covers(right: str, subject: str) -> bool:
    pattern = re.escape(right).replace(r"\*", "[^.]+")
    return (
        re.fullmatch(pattern.removesuffix(">") + (".+" if right.endswith(">") else ""), subject)
        is not None
    )


@pytest.fixture(scope="module")
def shops() -> Generator[NatsServers]:
    """A server as documented, for two who have an account each, and one of whom hears all."""
    more = f'users: [\n      {{ user: {_EVERYBODY}, password: "{PASSWORD}" }}'
    rights, accounts = documented().replace("users: [", more).split("accounts {")
    (account,) = re.findall(r"^  shop {.*^  }", accounts, re.DOTALL | re.MULTILINE)
    other = named(rights + account, "office").replace(_EVERYBODY, f"{_EVERYBODY}_there")
    other_rights, other_account = other.split("  office {")
    config = f"{rights}{other_rights}accounts {{\n{account}\n  office {{{other_account}\n}}\n"
    with running_nats(more=config) as nats:
        yield NatsServers(
            servers=nats.urls, namespace="shop", user="shop_worker", password=f"{PASSWORD}-too"
        )


def office(worker: NatsServers) -> NatsServers:
    """Somebody else's worker."""
    return replace(worker, user="office_worker", namespace="office")


def setup_of(worker: NatsServers) -> NatsServers:
    return replace(worker, user=f"{worker.namespace}_setup", password=PASSWORD)


async def test_without_streams_who_may_make_none_says_who_does(shops: NatsServers) -> None:
    async with linked(office(shops)) as link:
        with anyio.fail_after(5), pytest.raises(LinkError, match="holdfast worker --once") as told:
            await link.have(Streams(link.names))
    assert "no office-wakes" in str(told.value)


async def made_by_setup(worker: NatsServers) -> None:
    async with linked(setup_of(worker)) as link:
        await link.have(Streams(link.names, tenants=("one",), labels=(ANY,)))


@asynccontextmanager
async def eavesdropping(servers: NatsServers) -> AsyncGenerator[set[str]]:
    said: set[str] = set()

    def hear(heard: Heard) -> None:
        said.add(heard.subject)

    client = await connected(replace(servers, user=_EVERYBODY, password=PASSWORD), print)
    try:
        await client.subscribe(">", hear)
        await client.request("$JS.API.INFO", b"", {}, 5)
        yield said
    finally:
        await client.close()


async def test_the_rights_suffice_and_none_is_too_many(
    shops: NatsServers, postgres_url: str
) -> None:
    async with eavesdropping(shops) as heard:
        await made_by_setup(shops)
        heard.clear()
        await _whole_way(shops, postgres_url)
    config = documented()
    rights = (*rights_in(config, "publish"), *rights_in(config, "subscribe"))
    assert [one for one in rights if not any(covers(one, subject) for subject in heard)] == []


async def _whole_way(servers: NatsServers, url: str) -> None:
    """Wakes, the dead, how it stands, windows: all of it as one who may do little."""
    async with Fleet(servers, url).opened() as fleet:
        runner = ToyRunner(fleet.journal)
        await fleet.made("now", WORD)
        await fleet.made("later", wake(soon(fleet.clock, 1.2)))
        async with fleet.working(runner, replace(SELDOM, look_seconds=0.2)) as engine:
            engine.poke("now")
            await until(lambda: len(runner.order) == 2)
        await _dead_and_back(fleet)
        for name in (fleet.link.names.wakes, fleet.link.names.dead):
            assert await stream_standing(fleet.link, name) is not None
        lanes = await lane_standings(fleet.link)
        assert {one.urgency for one in lanes} == set(CLASSES)
        assert await fleet.link.last("shop-wakes", "shop.wake.one.*.*.nobody") is None
    await _windows(servers)


async def _dead_and_back(fleet: Fleet) -> None:
    dead = Dead(fleet.link)
    await fleet.made("lost", WORD)
    session = await fleet.journal.session("lost")
    await dead.bury(WakeSubject("one", "word", ANY, "lost"), session, "in vain", 5, 1)
    assert [one.session async for one in dead.all()] == ["lost"]
    assert await dead.requeue("one", "lost")
    runner = ToyRunner(fleet.journal)
    async with fleet.working(runner):
        await until(lambda: runner.order == ["lost"])


async def _connected(lines: Lines, subject: str) -> BusStream:
    """As soon as somebody listens there."""
    while True:
        try:
            return await lines.connect(subject)
        except NobodyThere:
            await anyio.sleep(0.02)


async def _windows(servers: NatsServers) -> None:
    addresses = Addresses(servers.namespace)
    here, there = await bus_place(servers).opened(), await bus_place(servers).opened()
    asks, takes = Lines(here.bus, addresses), Lines(there.bus, addresses)
    taken: list[BusStream] = []
    try:
        async with anyio.create_task_group() as group:
            subject = addresses.process("machine", "ses_1")
            group.start_soon(takes.serve, subject, taken.append)
            looked = anyio.Event()
            await here.bus.subscribe(addresses.any_look, lambda _subject, _data: looked.set())
            await there.bus.publish(addresses.look("ses_1"), b"ses_1")
            with anyio.fail_after(10):
                await looked.wait()
                asked = await _connected(asks, subject)
                await asked.send(b"a live line")
                assert await taken[0].receive() == b"a live line"
            group.cancel_scope.cancel()
    finally:
        for lines, opened in ((asks, here), (takes, there)):
            await lines.close()
            await opened.close()


OWN = (
    "STREAM.DELETE.shop-wakes",
    "STREAM.PURGE.shop-wakes",
    "STREAM.UPDATE.shop-wakes",
    "STREAM.CREATE.shop-more",
    "STREAM.MSG.DELETE.shop-wakes",
    "STREAM.SNAPSHOT.shop-wakes",
    "CONSUMER.CREATE.shop-wakes.x.shop.wake.>",
    "CONSUMER.DELETE.shop-wakes.one+word+any",
    "STREAM.NAMES",
    "STREAM.LIST",
)


async def test_a_worker_removes_and_empties_nothing_and_hears_no_wakes(
    shops: NatsServers, caplog: pytest.LogCaptureFixture
) -> None:
    await made_by_setup(shops)
    heard: list[str] = []
    async with linked(shops) as link:
        for subject in OWN:
            with anyio.fail_after(2), pytest.raises(Denied, match="let its user do so"):
                await link.client.request(f"$JS.API.{subject}", b"{}", {}, 5)
        for subject in (">", "shop.>", "shop.wake.>", "$JS.API.>"):
            await link.client.subscribe(subject, lambda one: heard.append(one.subject))
        await link.tell("shop.wake.one.word.any.ses_8", b"{}", {"Nats-Msg-Id": "8"})
        assert await link.last("shop-wakes", "shop.wake.one.word.any.ses_8") is not None
    assert heard == []
    assert "does not let this machine subscribe to shop.wake.>; let its user do so" in caplog.text
    assert "publish" not in caplog.text  # whoever asked was told


async def test_what_is_in_another_account_is_out_of_reach(shops: NatsServers) -> None:
    """Even for those who may do anything in theirs, under the names of the others."""
    await made_by_setup(shops)
    heard: list[str] = []
    there = setup_of(office(shops))
    async with linked(there) as theirs, linked(shops) as ours:
        for subject in (">", "shop.>", "$JS.>"):
            await theirs.client.subscribe(subject, lambda one: heard.append(one.subject))
        await theirs.client.request("$JS.API.INFO", b"", {}, 5)
        heard.clear()
        await ours.tell("shop.wake.one.word.any.ses_9", b"{}", {"Nats-Msg-Id": "9"})
        for told in ("STREAM.INFO", "STREAM.PURGE", "STREAM.DELETE"):
            answer = await theirs.client.request(f"$JS.API.{told}.shop-wakes", b"", {}, 5)
            assert b"stream not found" in answer.body
        gathers = {"name": "office-gathers", "sources": [{"name": "shop-wakes"}]}
        asked = msgspec.json.encode(gathers)
        await theirs.client.request("$JS.API.STREAM.CREATE.office-gathers", asked, {}, 5)
        await theirs.client.publish("shop.look.x", b"x", headers={})
        kept = await ours.last("shop-wakes", "shop.wake.one.word.any.ses_9")
        gathered = await stream_standing(theirs, "office-gathers")
    assert kept is not None
    assert gathered is not None
    assert gathered.messages == 0
    assert not any("ses_9" in one for one in heard)
