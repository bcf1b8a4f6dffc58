"""`plan` and `plan_exit`: a plan is kept with the session, and a person says when it begins."""

from pathlib import Path

import anyio
import pytest
from tool_kit import failure, opened, result

from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.person import Inquiry, Replies
from holdfast.policy.words import NO_ANSWERS
from holdfast.tools.code.plan_exit import NO, YES

pytestmark = pytest.mark.anyio


@pytest.mark.req("SPEC-EXT-05")
async def test_a_plan_lies_with_the_session_and_nothing_of_the_project_changes(
    workspace: Path,
) -> None:
    async with opened(workspace, "code") as hf:
        assert {"plan", "plan_exit"} <= {tool.name for tool in hf.tools}
        first = await result(hf, "plan", plan="# Plan\n1. ä")
        second = await result(hf, "plan", plan="# Another")
        assert first["bytes"] == len("# Plan\n1. ä".encode())
        assert Path(first["path"]).read_text("utf-8") == "# Plan\n1. ä"
        assert Path(second["path"]).read_text("utf-8") == "# Another"
        assert hf.session_id in first["path"]
    assert list(workspace.iterdir()) == []


async def test_a_plan_that_cannot_be_kept_is_unavailable(workspace: Path) -> None:
    blocked = workspace / "file"
    blocked.write_text("")
    around = Surroundings(data_home=blocked / "data")
    async with opened(workspace, "code", surroundings=around) as hf:
        refused = await failure(hf, "plan", plan="x")
        assert refused.kind == FailureKind.UNAVAILABLE


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (YES, {"approved": True}),
        (NO, {"approved": False}),
        ("only step 1", {"approved": False, "note": "only step 1"}),
        (None, {"approved": False}),
    ],
)
async def test_only_yes_ends_planning(
    workspace: Path, said: str | None, told: dict[str, object]
) -> None:
    asked: list[Inquiry] = []

    async def ada(inquiry: Inquiry) -> Replies | None:
        asked.append(inquiry)
        return None if said is None else Replies(answers=((said,),), by="ada")

    async with opened(workspace, "code", person=ada) as hf:
        assert await result(hf, "plan_exit", summary="Three steps.") == told
    assert "Three steps." in asked[0].questions[0].question


async def test_without_a_person_planning_goes_on(workspace: Path) -> None:
    async with opened(workspace, "code") as hf:
        refused = await failure(hf, "plan_exit", summary="Three steps.")
        assert (refused.kind, refused.message) == (FailureKind.REJECTED, NO_ANSWERS)


async def test_the_wait_for_the_person_outlives_the_session(workspace: Path) -> None:
    session = ""
    made = opened(workspace, "code", settings=Settings(), person="elsewhere")
    async with anyio.create_task_group() as group, made as hf:
        session = hf.session_id
        group.start_soon(hf.settle, "plan_exit", {"summary": "Three steps."})
        with anyio.fail_after(10):
            while not await hf.inquiries():  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
    async with opened(workspace, "code", settings=Settings(), session=session) as again:
        (waiting,) = await again.inquiries()
        await again.answer_inquiry(waiting, Replies(answers=((YES,),), by="ada"))
        (envelope,) = await again.resume()
        assert envelope.result_json == b'{"approved":true}'
