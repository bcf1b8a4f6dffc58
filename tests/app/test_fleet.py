"""A fleet as it is composed: who writes something down tells workers, and tenants keep apart."""

from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_scripts import says, script
from msgspec.json import decode
from msgspec.structs import replace
from nats_server import NatsServers
from postgres_server import PostgresServer

from holdfast.app.agent_settings import ClusterSettings, EngineSettings, TenantSettings
from holdfast.app.configuration import Configuration
from holdfast.app.control.client import poke
from holdfast.app.fleet import announce, announcing, opened_link, servers_of
from holdfast.app.holders import lives_elsewhere, this_process
from holdfast.app.holdfast import Holdfast
from holdfast.app.meter import Meter
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.agents import Agent
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster import client
from holdfast.engine.cluster.streams import ACK_SECONDS, Streams
from holdfast.runtime.clock import SystemClock
from holdfast.testing.fake_journal import FakeJournal

_numbers = count(1)


@pytest.fixture
def settings(postgres_server: PostgresServer, nats: NatsServers) -> Generator[Settings]:
    """Of two tenants, in a namespace of this test alone."""
    with postgres_server.database() as own, postgres_server.database() as other:
        yield Settings(
            engine=EngineSettings(kind="cluster"),
            store=StoreSettings(kind="postgres", url=own),
            cluster=ClusterSettings(
                servers=nats.urls,
                namespace=f"fleet{next(_numbers)}",
                tenant={"other": TenantSettings(url=other)},
            ),
        )


def of_other(settings: Settings) -> Settings:
    """The same as somebody has them who works for the other tenant."""
    url = settings.cluster.tenant["other"].url
    cluster = ClusterSettings(
        servers=settings.cluster.servers, namespace=settings.cluster.namespace, own="other"
    )
    store = StoreSettings(kind="postgres", url=url)
    return Settings(engine=settings.engine, store=store, cluster=cluster)


def opened(settings: Settings, folder: Path, model: str, **more: Any) -> Holdfast:
    options: dict[str, Any] = {
        "configuration": Configuration(settings=settings, project=folder),
        "surroundings": Surroundings(
            data_home=folder.parent / "data", state_home=folder.parent / "state"
        ),
        "model": model,
        **more,
    }
    return Holdfast(profile="bare", workspace=str(folder), **options)


async def begun(settings: Settings, folder: Path, model: str) -> str:
    """A session with something said in it that nobody has run."""
    async with opened(settings, folder, model) as hf:
        session = await hf.new_session()
        async for _ in session.run("x"):
            pass
        store = await hf.agents.all_sessions()
        await session.close()
        await store.journal.append(session.id, [UserMessage(message="more")])
        return session.id


async def test_a_worker_runs_the_sessions_of_all_its_tenants_and_no_others(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "elsewhere"))
    model = script(tmp_path, says("Done."))
    one = await begun(settings, tmp_path, model)
    other = await begun(of_other(settings), tmp_path, model)
    ends: list[WakeEnd] = []
    meter = Meter()
    async with opened(settings, tmp_path, model) as hf:
        executed = await hf.agents.run_due(ends.append, None, meter, forever=False)
    assert executed == 2
    assert {end.session_id for end in ends if end.executed} == {one, other}
    assert all(end.ended == "final_response" for end in ends if end.executed)
    assert meter.runs == 2
    assert not (tmp_path / "elsewhere").exists()  # one key signs for all tenants
    async with opened(settings, tmp_path, model) as hf:
        assert await hf.run_due() == 0


async def test_what_a_worker_that_stands_still_ran_another_of_its_machine_takes_over(
    settings: Settings, tmp_path: Path
) -> None:
    """Its lease has run out, and by that its processes have ended: nobody waits for its own end."""
    session = await begun(settings, tmp_path, script(tmp_path, says("Done.")))
    another = await anyio.open_process(["sleep", "60"])
    try:
        began = Path(f"/proc/{another.pid}/stat").read_text("ascii").rpartition(")")[2].split()[19]
        holder = f"{this_process().rpartition('/')[0]}/{another.pid}-{began}-12345678"
        assert lives_elsewhere(holder)
        ends: list[WakeEnd] = []
        async with opened(settings, tmp_path, script(tmp_path, says("Done."))) as hf:
            store = await hf.agents.all_sessions()
            await store.journal.lease(session, holder, 0.001)
            await anyio.sleep(0.002)
            with anyio.fail_after(10):
                assert await hf.run_due(told=ends.append) == 1
    finally:
        another.kill()
        await another.aclose()
    assert [end.ended for end in ends if end.executed] == ["final_response"]


async def test_a_worker_that_says_nothing_keeps_a_hint_for_less_than_a_lease(
    settings: Settings, tmp_path: Path
) -> None:
    short = replace(settings, engine=EngineSettings(kind="cluster", lease_seconds=3))
    model = script(tmp_path, says("Done."))
    for configured, seconds in ((settings, ACK_SECONDS), (short, 2.0)):
        async with opened(configured, tmp_path, model) as hf, opened_link(configured) as link:
            await hf.run_due()
            asked = f"$JS.API.CONSUMER.LIST.{link.names.wakes}"
            lanes = decode((await link.client.request(asked, b"{}", {}, 5)).body)["consumers"]
        assert {lane["config"]["ack_wait"] for lane in lanes} == {int(seconds * 1e9)}


async def test_a_tenants_session_of_another_project_is_run_under_the_rules_of_its_own(
    settings: Settings, tmp_path: Path
) -> None:
    model = script(tmp_path, says("Done."))
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    session = await begun(of_other(settings), there, model)
    places: list[Path] = []

    def of_another(place: Path) -> Holdfast:
        places.append(place)
        return opened(settings, place, model)

    ends: list[WakeEnd] = []
    async with opened(settings, here, model, other_projects=of_another) as hf:
        assert await hf.run_due(told=ends.append) == 1
    assert places == [there]
    assert [end.session_id for end in ends if end.executed] == [session]


async def test_a_machine_with_another_key_is_no_worker(settings: Settings, tmp_path: Path) -> None:
    """What it signed could not be verified by any other."""
    model = script(tmp_path, says("Done."))
    await begun(settings, tmp_path, model)
    stranger = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "elsewhere")
    async with opened(settings, tmp_path, model, surroundings=stranger) as hf:
        with pytest.raises(ConfigurationError, match=r"journal\.key of this machine is not"):
            await hf.run_due()
    async with opened(settings, tmp_path, model) as hf:
        assert await hf.run_due() == 1


async def test_what_is_written_down_is_told_at_once(settings: Settings) -> None:
    journal = FakeJournal(SystemClock())
    await journal.create("due", [SessionCreated(agent_id="kit"), UserMessage(message="go")])
    await journal.create("idle", [SessionCreated(agent_id="kit")])
    await journal.create("held", [SessionCreated(agent_id="kit"), UserMessage(message="go")])
    await journal.lease("held", "host:1:x", 60)
    around = Surroundings(data_home=Path("/nowhere"), announces=announcing(settings))
    async with opened_link(settings) as link:
        await link.have(Streams(link.names))
        for session_id in ("due", "idle", "held"):
            await poke(session_id, journal, around)
        kept = await link.last(link.names.wakes, link.names.any_wake("default", "due"))
        assert kept is not None
        assert b"go" not in kept.data
        for session_id in ("idle", "held"):
            wake = link.names.any_wake("default", session_id)
            assert await link.last(link.names.wakes, wake) is None


async def test_who_cannot_tell_loses_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = FakeJournal()
    await journal.create("due", [SessionCreated(agent_id="kit"), UserMessage(message="go")])
    session = await journal.session("due")
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.2)
    gone = ClusterSettings(servers=("nats://127.0.0.1:1",), namespace="gone")
    nobody = Settings(engine=settings.engine, store=settings.store, cluster=gone)
    with anyio.fail_after(5):
        assert not await announce(servers_of(nobody), "default", session, clock=SystemClock())
    long = ClusterSettings(servers=settings.cluster.servers, namespace="a.b")
    assert not await announce(
        servers_of(Settings(cluster=long)), "default", session, clock=SystemClock()
    )


async def test_a_worker_without_servers_says_so(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.2)
    gone = ClusterSettings(servers=("nats://127.0.0.1:1",), namespace="gone")
    nobody = Settings(engine=settings.engine, store=settings.store, cluster=gone)
    async with opened(nobody, tmp_path, script(tmp_path, says("x"))) as hf:
        with pytest.raises(JournalUnavailable, match="no NATS server"):
            await hf.run_due()


def labelled(settings: Settings, *labels: str) -> Settings:
    return replace(settings, cluster=replace(settings.cluster, labels=labels, tenant={}))


async def test_a_session_is_run_by_workers_of_its_label_alone(
    settings: Settings, tmp_path: Path
) -> None:
    model = script(tmp_path, says("Done."))
    north = Agent(id="north", runs_on="region-north")
    at = labelled(settings)
    async with opened(at, tmp_path, model, agents=[north]) as hf:
        begun = [
            await hf.new_session(agent="north"),
            await hf.new_session(agent="north", runs_on="region-south"),
            await hf.new_session(runs_on="region-south"),
        ]
        for session in begun:
            await session.send("go")
            await session.close()
        # Taken up and let go by somebody who says nothing of it, it stays where it was.
        again = await hf.new_session(session=begun[2].id)
        await again.questions()
        await again.close()
    ran: list[list[str]] = []
    for labels in ([], ["region-north"], ["region-south", "gpu"]):
        ends: list[WakeEnd] = []
        async with opened(labelled(settings, *labels), tmp_path, model, agents=[north]) as hf:
            await hf.run_due(told=ends.append)
        ran.append([end.session_id for end in ends if end.executed])
    assert ran[:2] == [[], [begun[0].id]]
    assert sorted(ran[2]) == sorted(session.id for session in begun[1:])


async def test_a_label_that_is_none_is_refused(settings: Settings, tmp_path: Path) -> None:
    async with opened(labelled(settings), tmp_path, script(tmp_path, says("Done."))) as hf:
        with pytest.raises(ConfigurationError, match="a label has 1 to 63 characters"):
            await hf.new_session(runs_on="x" * 64)
