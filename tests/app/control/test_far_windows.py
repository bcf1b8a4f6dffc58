"""A session that one process runs, watched and steered from another by the bus alone."""

import os
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from app.control.owners import PATIENCE, Place, Running, lines
from interrupts import until
from nats_server import NatsServers, running_nats

from holdfast import Answer, answer_question
from holdfast.app import ingress
from holdfast.app.control import wire
from holdfast.app.control.client import NoSocket, Owner, Unreachable, owner_of, poke
from holdfast.app.control.exchange import hear_looks, joined
from holdfast.app.control.following import Followed, Following, Lost
from holdfast.app.settings import Settings
from holdfast.app.store import open_store
from holdfast.app.telling import told_json
from holdfast.contract.events import ApprovalAsked, CallIntended, Event
from holdfast.contract.model import TextDelta
from holdfast.envelope.redact import Redactor
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.surfaces.http.live.feeds import Feeds
from holdfast.surfaces.http.live.pulse import Pulse

pytestmark = [pytest.mark.anyio, pytest.mark.measured]
LAUNCH: dict[str, object] = {"calls": [["launch", {"name": "rocket"}]]}
FOREVER: dict[str, object] = {"calls": [["forever", {}]]}


@pytest.fixture(scope="module")
def server() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@pytest.fixture
def place(tmp_path: Path, server: NatsServers) -> Place:
    return Place(tmp_path, server.urls[0])


@asynccontextmanager
async def far_owner(running: Running) -> AsyncGenerator[Owner]:
    """The process as another machine reaches it, as soon as it is on the bus."""
    async with running.place.journal() as journal:
        lease = (await journal.session(running.session_id)).lease
    assert lease is not None
    elsewhere = running.place.elsewhere
    with anyio.fail_after(PATIENCE):
        async with joined(elsewhere):
            while True:
                try:
                    async with owner_of(running.session_id, lease.holder, elsewhere) as owner:
                        assert owner.process == lease.holder.rpartition("-")[0]
                        yield owner
                        return
                except NoSocket:
                    await anyio.sleep(0.01)


async def test_another_machine_sees_every_event_once_and_the_text_as_it_comes(
    place: Place,
) -> None:
    turns = [{"pieces": ["Hel", "lo"], "before": "go"}]
    with place.running(turns) as running:
        seen: list[wire.Reply] = []
        async with far_owner(running) as owner, aclosing(owner.watch(running.session_id)) as told:
            async for one in told:
                seen.append(one)
                if lines([one])[0]["type"] == "model.requested":
                    place.release("go")
        assert running.ended() == {"ended": "final_response", "response": "Hello"}
        async with place.journal() as journal:
            written = await journal.events(running.session_id)
    shown = lines(seen)
    live = [one for one in shown if one["type"].startswith("live.")]
    events = [one for one in shown if one not in live]
    assert live == [{"type": "live.text", "text": text} for text in ("Hel", "lo")]
    assert [one["id"] for one in events] == [one.id for one in written][: len(events)]
    assert len(written) - len(events) in (0, 1)  # it may be closed before that is told


async def test_an_approval_from_another_machine_counts_at_once(place: Place) -> None:
    with place.running([LAUNCH, {"pieces": ["done"]}]) as running:
        asked = await running.until(lambda one: isinstance(one.payload, ApprovalAsked))
        assert isinstance(asked.payload, ApprovalAsked)
        async with far_owner(running):
            pass  # it is on the bus
        # The process itself looks once an hour.
        await answer_question(
            running.session_id,
            asked.payload.approval_id,
            Answer(allowed=True, by="ada"),
            settings=Settings(),
            surroundings=place.elsewhere,
        )
        await running.until(lambda one: isinstance(one.payload, CallIntended))
        assert running.ended() == {"ended": "final_response", "response": "done"}


async def test_a_command_is_looked_at_and_ended_from_another_machine(place: Place) -> None:
    turns = [{"calls": [["shell", {"command": "echo ready; sleep 600"}]]}, {"pieces": ["over"]}]
    with place.running(turns) as running:
        await running.until(lambda one: one.type == "call.intended")
        session = running.session_id
        with anyio.fail_after(PATIENCE):
            async with far_owner(running) as owner:
                while not (found := await owner.commands(session)):  # noqa: ASYNC110 - it happens in another process
                    await anyio.sleep(0.01)
                (command,) = found
                while not (await owner.tail(session, command.id)).stdout_tail:  # noqa: ASYNC110 - as above
                    await anyio.sleep(0.01)
                assert (await owner.tail(session, command.id)).stdout_tail == "ready\n"
                assert await owner.terminate(session, command.id)
        settled = await running.until(lambda one: one.type == "call.settled")
        assert b'"user"' in told_json(settled)
        assert running.ended()["ended"] == "final_response"


async def test_an_interrupt_from_another_machine_stops_the_run_at_once(place: Place) -> None:
    with place.running([FOREVER]) as running:
        await running.until(lambda one: one.type == "call.intended")
        async with far_owner(running):
            pass
        heard: list[str] = []
        async with place.journal() as journal, anyio.create_task_group() as group:
            elsewhere = place.elsewhere
            # A third machine follows it: it is told that there is something to be read.
            group.start_soon(hear_looks, elsewhere, heard.append)
            async with joined(elsewhere) as joined_lines:
                assert joined_lines is not None
                with anyio.fail_after(PATIENCE):
                    while not heard:
                        subject = joined_lines.addresses.look("first")
                        await joined_lines.bus.publish(subject, b"first")
                        await joined_lines.bus.publish(subject, b"\xff")
                        await anyio.sleep(0.01)
                    await ingress.interrupt(journal, running.session_id, Redactor(()))
                    assert await poke(running.session_id, journal, elsewhere)
                    await until(lambda: running.session_id in heard)
            group.cancel_scope.cancel()
        assert running.ended()["ended"] == "cancelled"


async def test_a_stream_of_events_goes_on_by_its_number_on_another_machine(place: Place) -> None:
    """Of two servers, the second is asked for what comes behind the last that the first told."""
    with place.running([LAUNCH, {"pieces": ["done"]}]) as running:
        asked = await running.until(lambda one: isinstance(one.payload, ApprovalAsked))
        assert isinstance(asked.payload, ApprovalAsked)
        async with far_owner(running):
            pass  # it is on the bus
        numbers: list[int] = []
        with anyio.fail_after(PATIENCE):
            async with streamed(place, running.session_id, 0) as pieces:
                while not numbers or numbers[-1] < asked.sequence:
                    numbers += numbers_in(await anext(pieces))
            async with streamed(place, running.session_id, numbers[-1]) as pieces:
                await answer_question(
                    running.session_id,
                    asked.payload.approval_id,
                    Answer(allowed=True, by="ada"),
                    settings=Settings(),
                    surroundings=place.elsewhere,
                )
                replied = await running.until(
                    lambda one: one.type == "model.replied" and one.sequence > asked.sequence
                )
                while numbers[-1] < replied.sequence:
                    numbers += numbers_in(await anext(pieces))
        assert running.ended() == {"ended": "final_response", "response": "done"}
    assert numbers == list(range(1, numbers[-1] + 1))


def numbers_in(piece: bytes) -> list[int]:
    told = [line.partition(b":")[2] for line in piece.splitlines() if line.startswith(b"id:")]
    return [int(one) for one in told]


@asynccontextmanager
async def streamed(
    place: Place, session_id: str, after: int
) -> AsyncGenerator[AsyncGenerator[bytes]]:
    """What a server that knows the bus alone streams."""
    clock = SystemClock()
    store = open_store(Settings(), place.around, clock, TimeIds(clock))
    try:
        async with anyio.create_task_group() as group:
            pulse = Pulse(store.archive, clock)
            group.start_soon(pulse.run)
            feeds = Feeds(store.journal, place.elsewhere, pulse, group)
            async with aclosing(await feeds.listen(session_id, after, live=True)) as pieces:
                yield pieces
            group.cancel_scope.cancel()
    finally:
        await store.journal.close()


async def test_when_the_process_is_killed_another_machine_reads_on_in_the_journal(
    place: Place,
) -> None:
    with place.running([{"pieces": ["Well"], "before": "go"}]) as running:
        async with far_owner(running):
            pass
        seen: list[Followed] = []
        async with place.journal() as journal:
            following = Following(running.session_id, journal, place.elsewhere)
            with anyio.fail_after(PATIENCE):
                async with aclosing(following()) as told:
                    async for one in told:
                        seen.append(one)
                        if isinstance(one, Event) and one.type == "model.requested":
                            running.kill()
            written = await journal.events(running.session_id)
        assert isinstance(seen[-1], Lost)
        assert [one.id for one in seen if isinstance(one, Event)] == [one.id for one in written]
        assert not any(isinstance(one, TextDelta) for one in seen)


async def test_a_bus_that_was_gone_for_a_while_is_used_again(tmp_path: Path) -> None:
    """Every event is seen once, whatever becomes of the bus; live again when it is back."""
    turns = [{**LAUNCH, "before": "one"}, {"pieces": ["do", "ne"], "before": "two"}]
    with running_nats() as servers:
        place = Place(tmp_path, servers.urls[0])
        with place.running(turns) as running, anyio.fail_after(PATIENCE):
            async with far_owner(running):
                pass
            seen: list[Followed] = []
            async with place.journal() as journal:
                following = Following(running.session_id, journal, place.elsewhere)
                async with aclosing(following()) as told:
                    async for one in told:
                        seen.append(one)
                        if isinstance(one, Event) and one.type == "model.requested":
                            if one.sequence < 8:
                                servers.nodes[0].kill()
                                place.release("one")
                            else:
                                servers.nodes[0].start()
                                servers.nodes[0].wait()
                                place.release("two")
                        if isinstance(one, Event) and isinstance(one.payload, ApprovalAsked):
                            await answer_question(
                                running.session_id,
                                one.payload.approval_id,
                                Answer(allowed=True, by="ada"),
                                settings=Settings(),
                                surroundings=place.around,
                            )
                written = await journal.events(running.session_id)
            assert running.ended()["response"] == "done"
    assert any(isinstance(one, Lost) for one in seen)
    numbers = [one.sequence for one in seen if isinstance(one, Event)]
    assert numbers == list(range(1, numbers[-1] + 1))
    assert len(written) - numbers[-1] in (0, 1)  # it may be closed before that is told


async def test_a_process_that_stands_still_keeps_no_other_machine_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.app.control.client.CONNECT_SECONDS", 0.2)
    with place.running([{"pieces": ["Well"], "before": "go"}]) as running:
        async with far_owner(running):
            pass
        async with place.journal() as journal:
            lease = (await journal.session(running.session_id)).lease
            assert lease is not None
            os.kill(running.process.pid, signal.SIGSTOP)
            try:
                with anyio.fail_after(PATIENCE):
                    with pytest.raises(Unreachable, match="in time"):
                        async with owner_of(running.session_id, lease.holder, place.elsewhere):
                            raise AssertionError
                    assert not await poke(running.session_id, journal, place.elsewhere)
            finally:
                os.kill(running.process.pid, signal.SIGCONT)
