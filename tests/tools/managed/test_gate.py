"""The gate before what is shared: asked where it is written, open once the outcome is reached; and
whoever else may decide that."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from agents_at_work import Desk, home_of
from outcomes_at_work import (
    DEFINE,
    FAILS,
    OUTCOME,
    WORK,
    agent_of_the_till,
    asks,
    evaluation_of,
    managed_of,
    records,
)
from tool_kit import failure, result

from holdfast import Answer, answer_question, tool
from holdfast.app.settings import Settings
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import CallSettled
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed.outcomes import Case, Verdict
from holdfast.contract.outcomes import Evaluation, Grade

pytestmark = pytest.mark.anyio

SHARED: list[str] = []
YES = Answer(allowed=True, by="ada")


@pytest.fixture(autouse=True)
def nothing_is_shared() -> None:
    SHARED.clear()


async def answer(folder: Path, desk: Desk) -> None:
    (question,) = await desk.holdfast.questions()
    await answer_question(
        *(desk.session.id, question.approval_id, YES),
        settings=Settings(),
        surroundings=home_of(folder),
    )


def sharing(desk: list[Desk]) -> Any:
    """A tool that shares what it is given, behind the gate."""

    @tool(permission_policy="always_ask", read_only=False)
    async def share(text: str, require_outcome_pass: bool | None = None) -> str:
        """Share a text."""
        gate = managed_of(desk[0].holdfast).gate
        verdict = await gate.passed("share", required=require_outcome_pass)
        SHARED.append(text)
        return verdict.status

    return share


@pytest.mark.req("BOA-GATE-06")
async def test_the_gate_says_which_tool_waits_for_what(tmp_path: Path) -> None:
    desks: list[Desk] = []
    given = {"tools": [sharing(desks)], "approver": allowing}
    async with agent_of_the_till(tmp_path, [DEFINE, "Not yet."], **given) as desk:
        desks.append(desk)
        await desk.told("Define.")
        refused = await failure(desk.holdfast, "share", text="all of it")
        assert refused.kind is FailureKind.REJECTED
        found = await evaluation_of(desk)
        step = found["next_suggested_tool"]
        assert refused.message == (
            "share requires outcome_evaluate to return status=pass; it returns not_ready:"
            f" {found['summary']} Next: {step['tool']}."
        )
        assert refused.extras["outcome_status"] == "not_ready"
        assert refused.extras["outcome_summary"] == found["summary"]
        assert refused.extras["next_step"] == step
        assert SHARED == []


async def allowing(_ask: Any) -> Answer:
    return YES


@pytest.mark.req("BOA-GATE-04")
@pytest.mark.parametrize(
    ("turns", "required", "shared"),
    [
        (["Hello."], None, True),
        (["Hello."], True, False),
        ([DEFINE, "Not yet."], None, False),
        ([DEFINE, "Not yet."], True, False),
        ([DEFINE, "Not yet."], False, True),
        (WORK, None, True),
        (WORK, True, True),
    ],
)
async def test_the_gate_is_asked_where_there_is_an_outcome_or_the_call_wants_it(
    tmp_path: Path, turns: list[Any], required: bool | None, shared: bool
) -> None:
    desks: list[Desk] = []
    given = {"tools": [sharing(desks)], "approver": allowing}
    async with agent_of_the_till(tmp_path, turns, **given) as desk:
        desks.append(desk)
        await desk.told("Mend the till.")
        arguments = {} if required is None else {"require_outcome_pass": required}
        told: Envelope = await desk.holdfast.settle("share", {"text": "it", **arguments})
        assert (told.failure is None, SHARED) == (shared, ["it"] if shared else [])


@pytest.mark.req("BOA-GATE-04")
async def test_an_override_is_shown_to_whoever_has_to_confirm_it(tmp_path: Path) -> None:
    desks: list[Desk] = []
    share = asks("share", text="it", require_outcome_pass=False)
    async with agent_of_the_till(tmp_path, [DEFINE, share], tools=[sharing(desks)]) as desk:
        desks.append(desk)
        await desk.told("Share it.")
        found = await result(desk.holdfast, "permissions_describe")
        waits = found["pending_tool_confirmation_request"]
        assert waits["input"] == {"text": "it", "require_outcome_pass": False}


async def test_a_run_that_was_only_paused_for_the_answer_leaves_the_verdict_as_it_was(
    tmp_path: Path,
) -> None:
    """A person confirms elsewhere: the call runs in the next run, with what the last one earned."""
    desks: list[Desk] = []
    turns = [*WORK, asks("share", text="it"), "It is shared."]
    async with agent_of_the_till(tmp_path, turns, tools=[sharing(desks)]) as desk:
        desks.append(desk)
        await desk.told("Mend the till.")
        await desk.told("Share it.")
        assert (await evaluation_of(desk))["status"] == "blocked"
        assert SHARED == []
        await answer(tmp_path, desk)
        await desk.told()
        assert SHARED == ["it"]
        assert (await evaluation_of(desk))["status"] == "pass"
        kept = [one["evaluation"]["status"] for one in await records(desk)]
        assert kept == ["pass", "blocked", "pass"]


async def test_what_failed_in_a_paused_run_counts_in_the_one_that_goes_on(tmp_path: Path) -> None:
    desks: list[Desk] = []
    turns = [*WORK, FAILS, asks("share", text="it"), "It is not shared."]
    async with agent_of_the_till(tmp_path, turns, tools=[sharing(desks)]) as desk:
        desks.append(desk)
        await desk.told("Mend the till.")
        await desk.told("Share it.")
        await answer(tmp_path, desk)
        await desk.told()
        assert SHARED == []
        (row,) = [one for one in await desk.payloads(CallSettled) if one.tool == "share"]
        assert b"fail: " in bytes(row.envelope)


class Lenient:
    """An evaluator of another kind."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    async def verdict(self, case: Case, /) -> Verdict:
        self.cases.append(case)
        return Verdict(
            Grade(status="in_progress", confidence="low", summary="I do not know."),
            Evaluation(status="pass", confidence="low", summary="It seems fine to me."),
        )


@pytest.mark.req("BOA-EVAL-25")
async def test_another_evaluator_decides_for_the_tools_the_history_and_the_gate(
    tmp_path: Path,
) -> None:
    desks: list[Desk] = []
    given = {"tools": [sharing(desks)], "approver": allowing}
    async with agent_of_the_till(tmp_path, [DEFINE, "Not yet."], **given) as desk:
        desks.append(desk)
        judging = managed_of(desk.holdfast).judging
        judging.evaluator = lenient = Lenient()
        await desk.told("Define.")
        found = await evaluation_of(desk)
        assert (found["summary"], found["promotion_ready"]) == ("It seems fine to me.", True)
        (kept,) = await records(desk)
        assert kept["evaluation"]["summary"] == "It seems fine to me."
        assert (await result(desk.holdfast, "share", text="it")) is not None
        assert SHARED == ["it"]
        outcome = lenient.cases[-1].standing.outcome
        assert outcome is not None
        assert outcome.title == OUTCOME["title"]


async def test_a_verdict_of_another_evaluator_is_ready_by_its_status_alone(tmp_path: Path) -> None:
    async with agent_of_the_till(tmp_path, WORK) as desk:
        judging = managed_of(desk.holdfast).judging
        plain = judging.evaluator

        class Sly:
            async def verdict(self, case: Case, /) -> Verdict:
                graded, found = await plain.verdict(case)
                return Verdict(graded, msgspec.structs.replace(found, promotion_ready=True))

        judging.evaluator = Sly()
        await result(desk.holdfast, "outcome_define", **OUTCOME)
        found = await evaluation_of(desk)
        assert (found["status"], found["promotion_ready"]) == ("not_ready", False)
