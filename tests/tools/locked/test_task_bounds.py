"""What binds the session above a subagent binds the subagent, whatever its own profile says."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import UNRECORDED, opened, result

from holdfast import Holdfast, Subagent
from holdfast.app.settings import AfterEditSettings, HookSettings
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio


async def outcomes(child: Holdfast, *calls: tuple[str, dict[str, Any]]) -> list[object]:
    """By call: that it went well, or the kind of its failure."""
    envelopes = [await child.settle(name, arguments) for name, arguments in calls]
    return [one.failure is None or one.failure.kind for one in envelopes]


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


@pytest.mark.parametrize(
    ("parent", "runs", "refused"),
    [("managed", "ls", "echo hi"), ("readonly", "git status", "touch made")],
)
async def test_commands_are_held_to_what_the_parents_profile_runs(
    workspace: Path, parent: str, runs: str, refused: str
) -> None:
    seen: dict[str, list[object]] = {}
    calls = [bash(runs), bash(refused), bash("ls | wc -l; touch made")]

    async def tries(child: Holdfast, prompt: str) -> str:
        seen[prompt] = await outcomes(child, *calls)
        if prompt == "child":
            await child.settle("task", {"subagent_type": "looser", "prompt": "grandchild"})
        return "done"

    agents = {"looser": Subagent(run=tries, description="Wants more.", profile="code")}
    async with opened(workspace, parent, subagents=agents) as hf:
        seen["parent"] = await outcomes(hf, *calls)
        await result(hf, "task", subagent_type="looser", prompt="child")
    rejected = FailureKind.REJECTED
    assert seen["parent"][1:] == [rejected, rejected]
    assert seen["child"] == seen["grandchild"] == seen["parent"]
    assert list(workspace.iterdir()) == []


async def test_commands_are_held_to_every_profile_above_and_to_the_childs_own(
    workspace: Path,
) -> None:
    seen: dict[str, list[object]] = {}

    async def tries(child: Holdfast, prompt: str) -> str:
        # `echo` is one that reads and none of the managed hand's; with `env` it is vice versa.
        seen[prompt] = await outcomes(child, bash("echo hi"), bash("env"), bash("pwd"))
        return "done"

    agents = {"managed": Subagent(run=tries, description="Tries.", profile="managed")}
    for parent in ("code", "readonly"):
        async with opened(workspace, parent, subagents=agents) as hf:
            await result(hf, "task", subagent_type="managed", prompt=parent)
    rejected = FailureKind.REJECTED
    assert seen == {"code": [rejected, True, True], "readonly": [rejected, rejected, True]}


async def test_a_child_is_opened_also_where_programs_run_after_edits(workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\n", "utf-8")
    after = AfterEditSettings(files="**/*.py", command=("touch", "formatted"))
    settings = msgspec.structs.replace(UNRECORDED, hooks=HookSettings(after_edit=(after,)))

    async def edits(child: Holdfast, _prompt: str) -> str:
        made = await child.settle("write", {"path": "b.py", "content": "y = 2\n"})
        return str(made.failure)

    agents = {"editor": Subagent(run=edits, description="Edits.")}
    async with opened(workspace, "code", settings=settings, subagents=agents) as hf:
        told = await result(hf, "task", subagent_type="editor", prompt="x")
    assert told == {"output": "None"}
    assert (workspace / "formatted").exists()
