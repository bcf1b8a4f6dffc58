"""What others write between a run's look at its session and its first event: the replay of it sees
as much as the run saw, although no event says how much that was."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from agents_at_work import Desk, at_work, calls
from run_replays import all_events, deploy, first_of, with_payload

from holdfast.app.run_replaying import replay_run
from holdfast.contract.events import (
    ApprovalAnswered,
    Event,
    Payload,
    SpanStarted,
    StatusChanged,
    ToolConfirmation,
    UserInterrupt,
    UserMessage,
)

pytestmark = pytest.mark.anyio

DEPLOY = calls(("deploy", '{"place": "north"}'))
WORD = UserMessage(message="And another thing.")


async def append(desk: Desk, *payloads: Payload) -> None:
    log = desk.holdfast.parts.log
    assert log is not None
    await (await log.journal()).append(desk.session.id, payloads)


@contextmanager
def meanwhile(desk: Desk, payloads: Sequence[Payload]) -> Generator[None]:
    """Somebody writes right before the next event of whoever runs the session."""
    log = desk.holdfast.parts.log
    assert log is not None
    usual = log.append

    async def beaten(said: Sequence[Payload]) -> tuple[Event, ...]:
        late.undo()
        await append(desk, *payloads)
        return await usual(said)

    with pytest.MonkeyPatch.context() as late:
        late.setattr(log, "append", beaten)
        yield


@pytest.mark.parametrize("words", [1, 3])
async def test_words_that_came_too_late_for_the_beginning(tmp_path: Path, words: int) -> None:
    async with at_work(tmp_path, ["one", "two"]) as desk:
        await desk.session.send("First.")
        with meanwhile(desk, [WORD] * words):
            await desk.told()
        (begun, *_) = await desk.payloads(StatusChanged)
        assert begun.reason == "1 new event"
        events = await all_events(desk)
    found = await replay_run(events)
    assert found.divergence is None
    assert found.wakes >= 1


@pytest.mark.parametrize("note", ["Another way, please.", None])
async def test_an_answer_behind_an_interrupt_that_came_too_late_for_the_beginning(
    tmp_path: Path, note: str | None
) -> None:
    async with at_work(tmp_path, [DEPLOY, "done"], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        (asked,) = await desk.holdfast.questions()
        await append(desk, UserInterrupt(note=note))
        name = asked.approval_id
        confirmed = ToolConfirmation(request_id=name, tool_name="deploy", allowed=False)
        answered = ApprovalAnswered(
            approval_id=name, call_id=asked.call_id, allowed=False, by="ada"
        )
        with meanwhile(desk, [confirmed, answered]):
            await desk.told()
        assert (await desk.state()).pending == ()


async def test_a_run_that_nothing_explains_is_named(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path, ["one", "two"]) as desk:
        await desk.session.send("First.")
        with meanwhile(desk, [WORD]):
            await desk.told()
        events: Sequence[Event] = await all_events(desk)
    begun = first_of(events, StatusChanged)
    other = msgspec.structs.replace(begun.payload, reason="7 new events")
    found = (await replay_run(with_payload(events, begun.sequence, other))).divergence
    assert found is not None
    assert (found.sequence, found.field, found.after) == (
        *(begun.sequence, "$.reason"),
        "1 new event",
    )


async def test_a_journal_of_before_says_why_a_run_began_in_its_own_words(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["one"]) as desk:
        await desk.told("First.")
        events: Sequence[Event] = await all_events(desk)
    began = first_of(events, StatusChanged)
    span = first_of(events, SpanStarted)
    words = msgspec.structs.replace(began.payload, reason="1 new events")
    told = msgspec.structs.replace(span.payload, summary="1 new events")
    assert (words, told) != (began.payload, span.payload)
    recorded = with_payload(with_payload(events, began.sequence, words), span.sequence, told)
    assert (await replay_run(recorded)).divergence is None
