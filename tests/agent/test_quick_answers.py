"""Somebody who answers before the session says that it waits: the answer counts, and nothing is
left that waits for another one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, tool
from holdfast.contract.events import ApprovalAnswered, CallSettled, Event, Payload, ToolUse

pytestmark = pytest.mark.anyio

RAN: list[str] = []
YES = Answer(allowed=True, by="ada")


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(place)
    return f"deployed to {place}"


TWO = calls(("deploy", '{"place": "north"}'), ("deploy", '{"place": "south"}'))


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_answer_around_the_word_that_it_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Whoever answers has looked before that word was written: they answer the question alone."""
    RAN.clear()
    async with at_work(tmp_path, [TWO, "done"], tools=[deploy]) as desk:
        log = desk.holdfast.parts.log
        assert log is not None
        usual, journal = log.append, await log.journal()

        async def answered(payloads: Sequence[Payload]) -> tuple[Event, ...]:
            if not any(isinstance(one, ToolUse) for one in payloads):
                return await usual(payloads)
            monkeypatch.setattr(log, "append", usual)
            (question,) = await desk.holdfast.questions()
            said = ApprovalAnswered(
                approval_id=question.approval_id, call_id=question.call_id, allowed=True, by="ada"
            )
            if when == "before":
                await journal.append(desk.session.id, [said])
            written = await usual(payloads)
            if when == "after":
                await journal.append(desk.session.id, [said])
            return written

        monkeypatch.setattr(log, "append", answered)
        await desk.told("Deploy.")
        await desk.told()
        (second,) = await desk.holdfast.questions()
        waits = (await desk.state()).confirmation
        assert waits is not None
        assert waits.id == second.approval_id
        assert RAN == []
        await desk.session.answer(second, YES)
        await desk.told()
        assert RAN == ["north", "south"]
        assert len(await desk.payloads(CallSettled)) == 2
        state = await desk.state()
        assert (state.confirmation, state.status, state.pending) == (None, "idle", ())
