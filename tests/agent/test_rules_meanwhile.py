"""A call waits for a person, and the rules change before they answer: it runs once, or is refused,
and nobody is asked any more."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import Desk, calls, home_of
from agents_at_work import at_work as at_work_in

from holdfast import Answer, Ask, Replies, Rule, answer_question, tool
from holdfast.app.settings import Settings
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallIntended,
    CallRefused,
    CallSettled,
)
from holdfast.contract.journal import NotFitting
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.runtime.recorded import recorded_calls

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"}, read_only=False)
def save(path: str) -> str:
    """Save a file."""
    RAN.append(path)
    return f"saved {path}"


def rule(action: Any, permission: str = "save") -> Rule:
    return Rule(permission=permission, pattern="*", action=action, scope="project", source="mine")


SAVE = ("save", '{"path": "a.txt"}')
INTERACTIVE = {"interactive": True}


def at_work(
    folder: Path, turns: Sequence[Any], **options: Any
) -> AbstractAsyncContextManager[Desk]:
    work = folder / "work"
    (work / ".git").mkdir(parents=True, exist_ok=True)
    return at_work_in(folder, turns, workspace=work, **options)


async def unasked(_ask: Ask) -> Answer:
    raise AssertionError("nobody is asked")


async def _paused(folder: Path, *asked: tuple[str, str], **options: Any) -> str:
    """A session whose calls wait for a person."""
    given = {"tools": [save], "rules": [rule("ask")], **options}
    async with at_work(folder, [calls(*(asked or [SAVE]))], **given) as desk:
        await desk.told("Save.")
        return desk.session.id


def _result(desk: Desk) -> dict[str, Any]:
    row = next(one for one in desk.rows() if isinstance(one, ToolResultChunk))
    return json.loads(row.content)


async def _told(desk: Desk) -> list[str]:
    wanted = (ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn, CallIntended, CallSettled)
    kinds = (*wanted, CallRefused)
    return [one.type for one in await desk.events() if isinstance(one.payload, kinds)]


async def test_what_the_rules_allow_by_now_runs_once_and_its_question_is_taken_back(
    tmp_path: Path,
) -> None:
    session = await _paused(tmp_path)
    async with at_work(
        *(tmp_path, ["done"]),
        tools=[save],
        session=session,
        approver=unasked,
        equipment=INTERACTIVE,
    ) as desk:
        (question,) = await desk.holdfast.questions()
        await desk.told()
        assert RAN == ["a.txt"]
        assert _result(desk)["result"] == {"text": "saved a.txt"}
        assert await _told(desk) == [
            *("approval.asked", "approval.withdrawn", "call.intended", "call.settled")
        ]
        (withdrawn,) = await desk.payloads(ApprovalWithdrawn)
        assert withdrawn.approval_id == question.approval_id
        assert withdrawn.reason == "no rule speaks against it: handed over in code"
        assert await desk.holdfast.questions() == ()
        state = await desk.state()
        assert (state.calls, state.confirmation) == ({}, None)
        with pytest.raises(NotFitting):
            await desk.holdfast.answer(question, Answer(allowed=False, by="ada"))
        await desk.told()
        assert RAN == ["a.txt"]


async def test_what_the_rules_deny_by_now_is_refused_and_its_question_is_over(
    tmp_path: Path,
) -> None:
    session = await _paused(tmp_path)
    async with at_work(
        *(tmp_path, ["done"]),
        tools=[save],
        rules=[rule("deny")],
        session=session,
        approver=unasked,
        equipment=INTERACTIVE,
    ) as desk:
        await desk.told()
        assert RAN == []
        assert _result(desk)["kind"] == "rejected"
        assert await _told(desk) == ["approval.asked", "call.refused", "call.settled"]
        assert await desk.holdfast.questions() == ()
        assert (await desk.state()).confirmation is None


async def test_an_answer_for_the_project_that_another_session_got_counts(tmp_path: Path) -> None:
    session = await _paused(tmp_path)

    async def always(_ask: Ask) -> Answer:
        return Answer(allowed=True, by="ada", remember="project")

    common: dict[str, Any] = {"tools": [save], "rules": [rule("ask")]}
    async with at_work(*(tmp_path, [calls(SAVE), "done"]), approver=always, **common) as desk:
        await desk.told("Save it, too.")
    async with at_work(
        *(tmp_path, ["done"]),
        session=session,
        approver=unasked,
        equipment=INTERACTIVE,
        **common,
    ) as desk:
        await desk.told()
        (withdrawn,) = await desk.payloads(ApprovalWithdrawn)
        assert withdrawn.reason.startswith("allowed by the remembered answer save 'a.txt'")
    assert RAN == ["a.txt", "a.txt"]


@pytest.mark.parametrize("allowed", [True, False])
async def test_whoever_answers_before_it_is_taken_back_has_answered(
    tmp_path: Path, allowed: bool
) -> None:
    session = await _paused(tmp_path)
    said: list[str] = []

    async def meanwhile(_inspection: Inspection) -> Opinion:
        """Somebody answers while the call is judged."""
        while asking := [one.approval_id for one in await desk.holdfast.questions()]:
            said.extend(asking)
            await answer_question(
                *(session, asking[0], Answer(allowed=allowed, by="ada", note="so be it")),
                settings=Settings(),
                surroundings=home_of(tmp_path),
            )
        return NOTHING_AGAINST_IT

    async with at_work(
        *(tmp_path, ["done"]),
        tools=[save],
        session=session,
        approver=unasked,
        hooks=[meanwhile],
        equipment={"interactive": True},
    ) as desk:
        await desk.told()
        assert len(said) == 1
        assert (["a.txt"] if allowed else []) == RAN
        ways = ["call.intended"] if allowed else ["call.refused"]
        assert await _told(desk) == ["approval.asked", "approval.answered", *ways, "call.settled"]
        (settled,) = await desk.payloads(CallSettled)
        assert (b"so be it" in bytes(settled.envelope)) is not allowed


async def test_what_a_person_refused_stays_refused_although_the_rules_allow_it(
    tmp_path: Path,
) -> None:
    async with at_work(
        *(tmp_path, [calls(SAVE, ("save", '{"path": "b.txt"}')), "done"]),
        tools=[save],
        rules=[rule("ask")],
    ) as desk:
        await desk.told("Save.")
        session = desk.session.id
        (question,) = await desk.holdfast.questions()
    no = Answer(allowed=False, by="ada", note="not this one")
    where = {"settings": Settings(), "surroundings": home_of(tmp_path)}
    await answer_question(session, question.approval_id, no, **where)  # pyright: ignore[reportArgumentType] - as a dict
    async with at_work(tmp_path, ["done"], tools=[save], session=session) as desk:
        await desk.told()
        assert "not this one" in _result(desk)["message"]
    assert "a.txt" not in RAN


async def test_of_two_that_wait_one_may_run_by_now_and_the_other_is_asked_about(
    tmp_path: Path,
) -> None:
    """What is taken back before others are asked is taken back when it is played again, too."""
    asked: list[str] = []

    async def willing(ask: Ask) -> Answer:
        asked.append(str(ask.prepared.arguments["path"]))
        return Answer(allowed=True, by="ada")

    session = await _paused(tmp_path, SAVE, ("save", '{"path": "b.txt"}'))
    only_b = Rule(permission="save", pattern="b.txt", action="ask", scope="project", source="mine")
    async with at_work(
        *(tmp_path, ()), tools=[save], rules=[only_b], session=session, equipment=INTERACTIVE
    ) as desk:
        await desk.told()
        assert desk.session.last is not None
        assert desk.session.last.ended == "requires_action"
        assert RAN == []  # nothing runs before everybody was asked
        (question,) = await desk.holdfast.questions()
        assert '"b.txt"' in question.arguments
    async with at_work(
        *(tmp_path, ["done"]),
        tools=[save],
        rules=[only_b],
        session=session,
        approver=willing,
        equipment=INTERACTIVE,
    ) as desk:
        await desk.told()
        assert len(await desk.payloads(ApprovalWithdrawn)) == 1
    assert (asked, RAN) == (["b.txt"], ["a.txt", "b.txt"])


async def test_what_was_taken_back_and_did_not_begin_is_judged_anew(tmp_path: Path) -> None:
    """A call whose question was taken back before its program ended is not lost either."""
    session = await _paused(tmp_path, SAVE, ("save", '{"path": "b.txt"}'))
    only_b = Rule(permission="save", pattern="b.txt", action="ask", scope="project", source="mine")
    async with at_work(
        *(tmp_path, ()), tools=[save], rules=[only_b], session=session, equipment=INTERACTIVE
    ) as desk:
        await desk.told()
    asked: list[str] = []

    async def willing(ask: Ask) -> Answer:
        asked.append(str(ask.prepared.arguments["path"]))
        return Answer(allowed=True, by="ada")

    async with at_work(
        *(tmp_path, ["done"]),
        tools=[save],
        rules=[rule("ask")],
        session=session,
        approver=willing,
        equipment=INTERACTIVE,
    ) as desk:
        await desk.told()
    assert (asked, RAN) == (["a.txt", "b.txt"], ["a.txt", "b.txt"])


async def test_a_question_whose_tool_is_denied_by_now_is_refused(tmp_path: Path) -> None:
    asking = calls(("question", '{"questions": [{"question": "Which?"}]}'))
    async with at_work(tmp_path, [asking]) as desk:
        await desk.told("Choose.")
        session = desk.session.id

    async def nobody(_inquiry: Any) -> Replies:
        raise AssertionError("nobody is asked")

    async with at_work(
        *(tmp_path, ["done"]),
        rules=[rule("deny", "question")],
        session=session,
        person=nobody,
        equipment=INTERACTIVE,
    ) as desk:
        await desk.told()
        assert _result(desk)["kind"] == "rejected"
        assert [one.kind for one in await desk.payloads(CallRefused)] == ["rejected"]
        assert await desk.holdfast.inquiries() == ()


async def test_settled_once_more_it_is_not_asked_about(tmp_path: Path) -> None:
    session = await _paused(tmp_path)
    async with at_work(
        *(tmp_path, ["done"]), tools=[save], session=session, equipment=INTERACTIVE
    ) as desk:
        await desk.told()
        (call,) = recorded_calls(await desk.events())
        steps = [one.type for one in call.compared]
        assert steps == ["call.asked", "call.intended", "call.settled"]
