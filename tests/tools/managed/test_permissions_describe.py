"""`permissions_describe`: what a session may do as it stands, all at once."""

from pathlib import Path
from typing import Any

import pytest
from outcomes_at_work import (
    BUSY_PLAN,
    OUTCOME,
    StandingShell,
    busy_shell,
    closed_shell,
    idle_shell,
)
from permissions_at_work import (
    ASKING,
    CROWDED,
    ROOMY,
    advised,
    append,
    check,
    level_of,
    named,
    waits,
)
from tool_kit import failure, opened, result

from holdfast.contract.events import ToolConfirmation
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed.crowding import Crowding, Pressure
from holdfast.contract.managed.permissions import GATED
from holdfast.contract.managed.shell_views import ShellPosture

pytestmark = pytest.mark.anyio


@pytest.mark.req("BOA-PDSC-01", "BOA-PDSC-02", "BOA-PDSC-04", "BOA-PDSC-05", "BOA-PDSC-06")
async def test_the_whole_posture_is_told_at_once(workspace: Path) -> None:
    async with advised(workspace) as hf:
        declared: Any = next(one for one in hf.tools if one.name == "permissions_describe")
        assert declared.input_schema["properties"] == {}
        found = await result(hf, "permissions_describe")
        assert found["pending_tool_confirmation_request"] is None
        assert found["always_ask_tools"] == sorted(ASKING)
        assert found["outcome_gated_tools"] == sorted(GATED)
        assert found["outcome_evaluation"]["status"] == "missing_outcome"
        assert found["read_only_alternative"] is None
        await append(hf, waits("shell_run", command="make"))
        found = await result(hf, "permissions_describe")
        pending = found["pending_tool_confirmation_request"]
        assert (pending["id"], pending["tool_name"]) == ("apr_1", "shell_run")
        assert pending["requested_at"].endswith("+00:00")
        assert found["read_only_alternative"] is None
        answered = ToolConfirmation(request_id="apr_1", tool_name="shell_run", allowed=True)
        await append(hf, answered)
        found = await result(hf, "permissions_describe")
        assert found["pending_tool_confirmation_request"] is None


@pytest.mark.req("BOA-PDSC-03", "BOA-PDSC-10")
async def test_a_blocked_command_that_reads_comes_before_whatever_the_shell_needs(
    workspace: Path,
) -> None:
    (workspace / "a.md").write_text("one\n", "utf-8")
    for shell in (busy_shell, closed_shell):
        async with advised(workspace, shell(str(workspace))) as hf:
            await append(hf, waits("shell_exec", command="cat a.md"))
            found = await result(hf, "permissions_describe")
            bash = found["read_only_alternative"]
            assert (bash["tool"], found["next_shell_step"]) == ("bash", bash)
            assert found["shell_read_first_alternatives"][0]["tool"] == "read"
            assert (await result(hf, "bash", **bash["args"]))["stdout"] == "one\n"


@pytest.mark.req("BOA-PDSC-07")
async def test_while_nothing_may_be_shared_the_next_step_is_told(workspace: Path) -> None:
    async with advised(workspace) as hf:
        assert (await result(hf, "permissions_describe"))["next_outcome_step"] is None
        await result(hf, "outcome_define", **OUTCOME)
        step = (await result(hf, "permissions_describe"))["next_outcome_step"]
        assert step["tool"] == "session_get_snapshot"


@pytest.mark.req("BOA-PDSC-08")
@pytest.mark.parametrize(
    ("crowding", "told"),
    [
        (None, None),
        (ROOMY, None),
        (CROWDED, "high"),
        (Crowding(budget={}, pressure=Pressure(level="moderate")), "moderate"),
        (Crowding(budget={}), None),
    ],
)
async def test_a_crowded_context_is_told(
    workspace: Path, crowding: Crowding | None, told: str | None
) -> None:
    async with advised(workspace, crowding=crowding) as hf:
        for found in (await result(hf, "permissions_describe"), await check(hf, "read")):
            assert level_of(found["context_pressure"]) == told


@pytest.mark.req("BOA-PDSC-09")
@pytest.mark.parametrize(
    ("shell", "step", "status"),
    [(busy_shell, "shell_wait", "active"), (closed_shell, "shell_restart", "closed"),
     (idle_shell, None, "active")],
)  # fmt: skip
async def test_a_busy_or_missing_shell_is_told_with_the_way_out(
    workspace: Path, shell: Any, step: str | None, status: str
) -> None:
    async with advised(workspace, shell(str(workspace))) as hf:
        found = await result(hf, "permissions_describe")
        assert named(found["next_shell_step"]) == step
        posture = found["shell_mutation_posture"]
        assert (posture["status"], posture["busy"]) == (status, shell is busy_shell)
        assert (posture["busy_plan"] is not None) is (shell is busy_shell)
    assert BUSY_PLAN.step is not None
    assert BUSY_PLAN.step.tool == "shell_wait"


async def test_a_session_without_a_shell_says_so(workspace: Path) -> None:
    posture = ShellPosture(status="none", cwd=str(workspace))
    async with advised(workspace, StandingShell(posture)) as hf:
        found = await result(hf, "permissions_describe")
        assert found["shell_mutation_posture"]["status"] == "none"
        assert found["shell_mutation_posture"]["persistent_shell"] is None


@pytest.mark.parametrize("name", ["permissions_describe", "permissions_check"])
async def test_nothing_is_known_without_a_journal(workspace: Path, name: str) -> None:
    more = {"tool_name": "read"} if name == "permissions_check" else {}
    async with opened(workspace, "managed") as hf:
        assert (await failure(hf, name, **more)).kind is FailureKind.UNAVAILABLE
