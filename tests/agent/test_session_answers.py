"""What a session of an agent asks is answered by whoever has it open, each question once."""

from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, Ask, Replies, tool
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import Event
from holdfast.contract.journal import NotFitting

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(place)
    return f"deployed to {place}"


DEPLOY = ("deploy", '{"place": "north"}')
YES = Answer(allowed=True, by="ada")
NO = Answer(allowed=False, by="ada")


@pytest.mark.parametrize("by_id", [True, False])
async def test_whoever_has_the_session_open_answers_its_questions(
    tmp_path: Path, by_id: bool
) -> None:
    async with at_work(tmp_path, [calls(DEPLOY), "deployed"], tools=[deploy]) as desk:
        await desk.told("Deploy.")
        (question,) = await desk.session.questions()
        asked = question.approval_id if by_id else question
        with pytest.raises(TypeError, match="is no answer"):
            await desk.session.answer(asked, True)  # pyright: ignore[reportArgumentType] - what a caller may get wrong
        await desk.session.answer(asked, YES)
        assert await desk.session.questions() == ()
        with pytest.raises(NotFitting):
            await desk.session.answer(asked, NO)
        await desk.told()
        assert RAN == ["north"]


@pytest.mark.parametrize("by_id", [True, False])
async def test_whoever_has_the_session_open_replies_to_what_tools_ask(
    tmp_path: Path, by_id: bool
) -> None:
    asking = calls(("question", '{"questions": [{"question": "Which?"}]}'))
    async with at_work(tmp_path, [asking, "The blue one."]) as desk:
        await desk.told("Choose.")
        (inquiry,) = await desk.session.inquiries()
        asked = inquiry.call_id if by_id else inquiry
        with pytest.raises(TypeError, match="is no Replies"):
            await desk.session.reply(asked, [["blue"]])  # pyright: ignore[reportArgumentType] - what a caller may get wrong
        await desk.session.reply(asked, Replies(answers=(("blue",),), by="ada"))
        assert await desk.session.inquiries() == ()
        with pytest.raises(NotFitting):
            await desk.session.reply(asked, Replies(answers=(("red",),), by="bob"))
        await desk.told()
        answer = next(row for row in desk.rows() if isinstance(row, ToolResultChunk))
        assert '"answers":[["blue"]]' in answer.content


async def test_an_answer_is_heard_by_a_call_that_waits_for_somebody_else(tmp_path: Path) -> None:
    async def silent(_ask: Ask) -> Answer:
        await anyio.sleep_forever()
        raise AssertionError("it never says anything")

    async with at_work(
        *(tmp_path, [calls(DEPLOY), "deployed"]), tools=[deploy], approver=silent
    ) as desk:
        async for one in desk.session.run("Deploy."):
            if isinstance(one, Event) and one.type == "approval.asked":
                (question,) = await desk.session.questions()
                await desk.session.answer(question, YES)
        assert RAN == ["north"]
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"
