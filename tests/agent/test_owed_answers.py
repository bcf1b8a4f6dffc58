"""The answer of a reply's only call is written down together with the request that follows from it;
whatever comes in between, it is told where it stands, and it is never lost."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.agent.keeping import Keeper
from holdfast.app.run_watch import RunWatch
from holdfast.contract.chunks import ToolResultChunk, UserChunk
from holdfast.contract.events import (
    CallSettled,
    Event,
    ModelRequested,
    Payload,
    SidecarKept,
    UserMessage,
)
from holdfast.contract.journal import JournalUnavailable
from holdfast.runtime.session_log import SessionLog

pytestmark = pytest.mark.anyio


@tool
def build(what: str) -> str:
    """Build something."""
    return f"built {what}"


@tool
def print_much() -> str:
    """Print more than a model is told."""
    return "line\n" * 60_000


BUILD = calls(("build", '{"what": "a boat"}'))


def log_of(desk: Desk) -> SessionLog:
    log = desk.holdfast.parts.log
    assert log is not None
    return log


class Appends:
    """What was written together."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.groups: list[list[str]] = []
        self._now: list[Event] = []
        log = log_of(desk)
        usual = log._append  # pyright: ignore[reportPrivateUsage] - there is no other view of it

        async def append(payloads: Sequence[Payload], behind: int | None = None) -> object:
            events = await usual(payloads, behind)
            self.groups.append([one.type for one in events])
            return events

        monkeypatch.setattr(log, "_append", append)


async def test_the_answer_of_an_only_call_stands_with_the_request_that_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(tmp_path, [BUILD, "done"], tools=[build]) as desk:
        appends = Appends(desk, monkeypatch)
        await desk.told("Build a boat.")
        together = [one for one in appends.groups if "call.settled" in one]
        assert together == [["call.settled", "model.requested"]]
        settled, asked = (await desk.events())[-6:-4]
        assert isinstance(settled.payload, CallSettled)
        assert isinstance(asked.payload, ModelRequested)
        assert asked.payload.through == settled.sequence
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert bytes(settled.payload.envelope).decode() == answer.content


async def test_a_side_file_is_told_with_the_answer_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [calls(("print_much", "{}")), "done"]
    async with at_work(tmp_path, turns, tools=[print_much]) as desk:
        appends = Appends(desk, monkeypatch)
        await desk.told("Print.")
        together = [one for one in appends.groups if "call.settled" in one]
        assert together == [["sidecar.kept", "call.settled", "model.requested"]]
        assert len(await desk.payloads(SidecarKept)) == 1


async def test_several_calls_are_answered_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them may take long: what the others did is known meanwhile."""
    two = calls(("build", '{"what": "a boat"}'), ("build", '{"what": "a barn"}'))
    async with at_work(tmp_path, [two, "done"], tools=[build]) as desk:
        appends = Appends(desk, monkeypatch)
        await desk.told("Build both.")
        together = [one for one in appends.groups if "call.settled" in one]
        assert together == [["call.settled"], ["call.settled"]]


async def test_words_that_come_before_an_owed_answer_are_told_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request was made without them: it is made anew, and holds both."""
    async with at_work(tmp_path, [BUILD, "done"], tools=[build]) as desk:
        log = log_of(desk)
        usual, journal = log.append, await log.journal()
        spoken: list[Event] = []

        async def append(
            payloads: Sequence[Payload], *, behind: int | None = None
        ) -> tuple[Event, ...]:
            if log.owed and behind is not None and not spoken:
                spoken.extend(await journal.append(desk.session.id, [UserMessage(message="Red!")]))
            return await usual(payloads, behind=behind)

        monkeypatch.setattr(log, "append", append)
        await desk.told("Build a boat.")
        kinds = [one.type for one in await desk.events()]
        at = kinds.index("call.settled")
        assert kinds[at - 1 : at + 2] == ["user.message", "call.settled", "model.requested"]
        assert len(desk.model.requests) == 2
        answer, words = desk.rows()[-2:]
        assert isinstance(answer, ToolResultChunk)
        assert words == UserChunk("Red!")
        (asked,) = (await desk.payloads(ModelRequested))[1:]
        assert asked.through == at + 1
        places = [entry.sequence for entry in desk.session._place.talk.entries]  # pyright: ignore[reportPrivateUsage] - where rows stand
        assert at + 1 in places
        assert (await desk.state()).pending == ()


async def test_an_answer_whose_run_is_cancelled_before_the_next_request_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(tmp_path, [BUILD, "done"], tools=[build]) as desk:
        usual = Keeper.catch_up
        log = log_of(desk)

        async def catch_up(self: Keeper) -> None:
            if any(isinstance(one, CallSettled) for one in log.owed):
                watch = desk.session._watch  # pyright: ignore[reportPrivateUsage] - ends a run
                assert isinstance(watch, RunWatch)
                watch._run.cancel()  # pyright: ignore[reportPrivateUsage] - as a lost lease does
                await anyio.sleep_forever()
            await usual(self)

        monkeypatch.setattr(Keeper, "catch_up", catch_up)
        await desk.told("Build a boat.")
        monkeypatch.undo()
        assert len(desk.model.requests) == 1
        assert len(await desk.payloads(CallSettled)) == 1
        assert (await desk.state()).calls == {}
        await desk.told("Go on.")
        assert len(await desk.payloads(CallSettled)) == 1


async def test_an_answer_that_could_not_be_written_is_written_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(tmp_path, [BUILD, "done"], tools=[build]) as desk:
        log = log_of(desk)
        usual = log._append  # pyright: ignore[reportPrivateUsage] - the store fails below it
        full = [True]

        async def append(
            payloads: Sequence[Payload], behind: int | None = None
        ) -> tuple[Event, ...]:
            if full and any(isinstance(one, CallSettled) for one in payloads):
                raise JournalUnavailable("the disk is full")
            return await usual(payloads, behind)

        monkeypatch.setattr(log, "_append", append)
        with pytest.raises(JournalUnavailable):
            await desk.told("Build a boat.")
        full.clear()
        assert await desk.payloads(CallSettled) == []
        await desk.told("Go on.")
        assert len(await desk.payloads(CallSettled)) == 1
        answers = [one for one in desk.rows() if isinstance(one, ToolResultChunk)]
        assert [one.content for one in answers] == [answers[0].content]
        assert "built a boat" in answers[0].content


@tool(interrupt_behavior="cancel")
async def wait_for_ever() -> str:
    """Wait."""
    await anyio.sleep_forever()
    return "never"


async def test_a_call_that_is_interrupted_has_its_end_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [calls(("wait_for_ever", "{}")), "done"]
    async with at_work(tmp_path, turns, tools=[wait_for_ever]) as desk:
        appends = Appends(desk, monkeypatch)
        async for one in desk.session.run("Wait."):
            if isinstance(one, Event) and one.type == "call.intended":
                await desk.session.interrupt()
        (settled,) = [one for one in appends.groups if "call.settled" in one]
        assert "model.requested" not in settled
        assert (await desk.state()).calls == {}
