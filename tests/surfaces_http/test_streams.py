"""Streams of one session: nothing is left out or told twice; live pieces come before the whole."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from http_listening import is_event, live_text, numbers, told_until
from interrupts import until
from served_home import PATIENCE, Served, StreamEvent, served, told_by
from talking_model import TalkingModel

from holdfast.contract.events import UserMessage
from holdfast.contract.rules import Rule
from holdfast.surfaces.http.live import feeds, pulse, subscription

pytestmark = pytest.mark.anyio


async def until_live(found: list[StreamEvent], least: int = 1) -> None:
    """Wait until so much was told live."""
    with anyio.fail_after(PATIENCE):
        await until(lambda: sum(one.kind == "live" for one in found) >= least)


def without(event: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != key}


class Ears:
    """Listens in the background, until what it waits for was told."""

    def __init__(self, home: Served, session: str, kind: str, **query: Any) -> None:
        self.found: list[StreamEvent] = []
        self._wanted = home, session, kind, query

    async def __call__(self) -> None:
        home, session, kind, query = self._wanted
        path = f"/sessions/{session}/stream"
        async with aclosing(told_by(home.client, path, **query)) as told:
            async for one in told:
                self.found.append(one)
                if is_event(kind)(one):
                    return


async def test_what_is_said_live_comes_before_the_event_that_tells_it_whole(tmp_path: Path) -> None:
    model = TalkingModel()
    async with served(tmp_path, model=model) as home:
        session = await home.begun("Count.")
        early = Ears(home, session, "agent.message")
        quiet = Ears(home, session, "agent.message", live=False)
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(early)
                group.start_soon(quiet)
                await until_live(early.found, 3)
                model.stops.set()
        whole = early.found[-1].data
        said = live_text(early.found)
        assert said
        assert whole["message"].endswith(said)  # from where it began to listen, without a gap
        assert numbers(early.found) == list(range(1, whole["sequence"] + 1))
        assert {one.kind for one in quiet.found} == {"event"}
        assert numbers(quiet.found) == numbers(early.found)


async def test_who_comes_late_is_told_nothing_live_of_what_was_told_whole(tmp_path: Path) -> None:
    """Their first events come from the journal, and what was said before those must not follow."""
    model = TalkingModel(seconds=0.001)
    async with served(tmp_path, model=model) as home:
        session = await home.begun("Count.")
        first = Ears(home, session, "agent.message")
        late = [Ears(home, session, "agent.message") for _ in range(10)]
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(first)
                await until_live(first.found, 3)
                for one in late[:5]:
                    group.start_soon(one)
                await until_live(late[4].found)
                model.stops.set()
                for one in late[5:]:
                    group.start_soon(one)
        for one in late:
            assert one.found[-1].data["message"].endswith(live_text(one.found))
            kinds = [told.kind for told in one.found]
            assert "live" not in kinds[kinds.index("event", len(kinds) - 1) :]
            assert numbers(one.found) == numbers(first.found)


async def test_a_stream_goes_on_behind_the_last_event_that_was_seen(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "echo one"}')), "Done.", "And more."]
    async with served(tmp_path, turns) as home:
        session = await home.begun("Go.")
        path = f"/sessions/{session}/stream"
        seen = await told_until(home, path, is_event("call.settled"))
        await home.at_rest(session)
        last = {"last-event-id": str(seen[-1].id)}
        end = (await home.events(session))[-1]["sequence"]
        rest = await told_until(home, path, lambda one: one.id == end, last)
        assert numbers([*seen, *rest]) == list(range(1, end + 1))
        by_number = await told_until(home, path, lambda one: one.id == end, after=end - 2)
        assert numbers(by_number) == [end - 1, end]
        told = [without(one.data, "processed_at") for one in (*seen, *rest) if one.kind == "event"]
        shown = await home.events(session)  # when a word was taken into account is known later
        assert told == [without(one, "processed_at") for one in shown]
        wrong = await home.client.get(f"/api/v1{path}", headers={"last-event-id": "x"})
        assert wrong.status_code == 422


async def test_a_stream_goes_on_over_a_restart_of_the_server(tmp_path: Path) -> None:
    async with served(tmp_path, ["One."]) as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        end = (await home.events(session))[-1]["sequence"]
        path = f"/sessions/{session}/stream"
        seen = await told_until(home, path, lambda one: one.id == end)
    async with served(tmp_path, ["Two."]) as home:
        rest = Ears(home, session, "agent.message", after=seen[-1].id)
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(rest)
                await home.post(f"/sessions/{session}/messages", message="More.")
        ids = numbers([*seen, *rest.found])
        assert ids == list(range(1, len(ids) + 1))
        assert rest.found[-1].data["message"] == "Two."


async def test_thousands_of_events_are_told_once_each(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        session = await home.begun(None)
        log = home.runner.parts.log
        assert log is not None
        journal = await log.journal()
        lease = await journal.lease(session, "a test", 60.0)
        for _ in range(50):
            words = [UserMessage(message="word " * 20)] * 100
            await journal.append(session, words, epoch=lease.epoch)
        await journal.release(lease)
        end = (await home.get(f"/sessions/{session}"))["events"]
        assert end == 5_001
        path = f"/sessions/{session}/stream"
        found = await told_until(home, path, lambda one: one.id == end)
        assert numbers(found) == list(range(1, end + 1))
        rest = await told_until(home, path, lambda one: one.id == end, after=2_500)
        assert numbers(rest) == list(range(2_501, end + 1))


async def test_who_reads_slowly_loses_live_pieces_which_is_told_and_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscription, "MOST_HELD", 20)
    model = TalkingModel(seconds=0.001, at_once=200)
    async with served(tmp_path, model=model) as home:
        session = await home.begun("Count.")
        ears = Ears(home, session, "agent.message")
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(ears)
                await until(lambda: any(one.kind == "missed" for one in ears.found))
                model.stops.set()
        missed = sum(one.data["count"] for one in ears.found if one.kind == "missed")
        assert missed > 0
        whole = ears.found[-1].data
        assert numbers(ears.found) == list(range(1, whole["sequence"] + 1))
        assert len(live_text(ears.found)) < len(whole["message"])


async def test_fifty_who_listen_are_told_the_same(tmp_path: Path) -> None:
    model = TalkingModel(seconds=0.02)
    async with served(tmp_path, model=model) as home:
        session = await home.begun("Count.")
        many = [Ears(home, session, "agent.message") for _ in range(50)]
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                for one in many:
                    group.start_soon(one)
                for one in many:
                    await until_live(one.found)
                model.stops.set()
        told = {tuple(numbers(one.found)) for one in many}
        assert len(told) == 1
        for one in many:
            assert one.found[-1].data["message"].endswith(live_text(one.found))


async def test_streams_end_when_the_server_does(tmp_path: Path) -> None:
    ended: list[str] = []
    model = TalkingModel()
    async with served(tmp_path, model=model) as home, anyio.create_task_group() as group:
        session = await home.begun("Count.")
        begun = [anyio.Event(), anyio.Event()]

        async def listen(path: str, heard: anyio.Event) -> None:
            async with aclosing(told_by(home.client, path)) as told:
                async for _ in told:
                    heard.set()
            ended.append(path)

        group.start_soon(listen, f"/sessions/{session}/stream", begun[0])
        group.start_soon(listen, "/stream", begun[1])
        with anyio.fail_after(PATIENCE):
            for one in begun:
                await one.wait()
            home.leave()
            await until(lambda: len(ended) == 2)
            model.stops.set()


async def test_a_stream_ends_with_its_session(tmp_path: Path) -> None:
    async with served(tmp_path, ["One."]) as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        await home.until(session, lambda row: row["runner"] == "nobody")
        heard = anyio.Event()

        async def listen() -> None:
            async with aclosing(told_by(home.client, f"/sessions/{session}/stream")) as told:
                async for _ in told:
                    heard.set()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(listen)
                await heard.wait()
                await home.delete(f"/sessions/{session}")
        await home.get(f"/sessions/{session}/stream", 404)


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is told, and not found by looking now and then."""
    monkeypatch.setattr(pulse, "LOOK_SECONDS", 600.0)
    monkeypatch.setattr(feeds, "_LOOK_SECONDS", 600.0)
    monkeypatch.setattr(feeds, "_ASK_SECONDS", 600.0)


@pytest.mark.usefixtures("nobody_looks")
async def test_a_call_of_the_workbench_is_told_as_it_happens(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        bench = (await home.get("/server"))["workbench"]
        await home.post("/tools/todo/calls", 200, arguments={"todos": []})
        ears = Ears(home, bench, "call.settled", after=2**31)
        async with anyio.create_task_group() as group:
            with anyio.fail_after(PATIENCE):
                group.start_soon(ears)
                await anyio.sleep(0.1)  # it listens, and has looked for the last time
                await home.post("/tools/todo/calls", 200, arguments={"todos": []})
        assert ears.found[-1].data["tool"] == "todo"


@pytest.mark.usefixtures("nobody_looks")
async def test_a_run_that_an_answer_begins_is_told_as_it_happens(tmp_path: Path) -> None:
    rule = Rule(permission="bash", pattern="**", action="ask", scope="project", source="test")
    turns = [calls(("bash", '{"command": "true"}')), "Done."]
    async with served(tmp_path, turns, rules=[rule]) as home:
        session = await home.begun("Go.")
        await home.until(session, lambda row: row["waiting"]["approvals"])
        await home.until(session, lambda row: row["runner"] == "nobody")
        ears = Ears(home, session, "agent.message")
        async with anyio.create_task_group() as group:
            with anyio.fail_after(PATIENCE):
                group.start_soon(ears)
                await until(lambda: any(is_event("approval.asked")(one) for one in ears.found))
                (question,) = (await home.get("/approvals"))["approvals"]
                said = {"session_id": session, "allow": True}
                await home.post(f"/approvals/{question['approval_id']}", **said)
        told = numbers(ears.found)
        assert told == list(range(1, len(told) + 1))
