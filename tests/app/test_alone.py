"""A tool with processes of its own reaches what it requires itself, and lends nothing to others."""

from pathlib import Path

import msgspec
import pytest
from tool_kit import UNRECORDED, answer, opened, result

from holdfast import Holdfast, Runtime, Subagent, tool
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings
from holdfast.contract.requirements import requirement_set
from holdfast.contract.tool import Alone, Tool

pytestmark = pytest.mark.anyio

ANY_COMMAND = {"shell": [{"cmd": "*"}]}


@tool(requires={**ANY_COMMAND, "fs": {"read": ["**"]}})
async def together(rt: Runtime, command: str) -> str:
    """Run a command with what all tools require."""
    return await _printed(rt, command)


@tool(requires=ANY_COMMAND)
async def apart(rt: Runtime, command: str) -> str:
    """Run a command."""
    return await _printed(rt, command)


async def _printed(rt: Runtime, command: str) -> str:
    report = await rt.shell.run(command)
    return (report.stdout.text() + report.stderr.text()).strip()


def alone(started_from: tuple[str, ...] = (), **requires: object) -> Tool:
    wanted = requirement_set({**ANY_COMMAND, **requires})
    own = Alone(started_from=started_from)
    return msgspec.structs.replace(apart.tool, alone=own, requires=wanted)


async def test_its_processes_do_not_have_what_other_tools_require(workspace: Path) -> None:
    command = f"cat {workspace}/notes.txt"
    async with opened(workspace, "bare", tools=[together, apart]) as hf:
        assert (
            await answer(hf, "apart", command=command)
        ).result_json == b'{"text":"of the workspace"}'
    async with opened(workspace, "bare", tools=[together, alone()]) as hf:
        assert (
            await answer(hf, "together", command=command)
        ).result_json == b'{"text":"of the workspace"}'
        assert b"of the workspace" not in (await answer(hf, "apart", command=command)).result_json


async def test_what_it_requires_is_no_others(workspace: Path) -> None:
    elsewhere = workspace.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a").write_text("of its own", "utf-8")
    own = alone(fs={"read": [f"{elsewhere}/**"]})
    async with opened(workspace, "bare", tools=[together, own]) as hf:
        command = f"cat {elsewhere}/a"
        assert (await answer(hf, "apart", command=command)).result_json == b'{"text":"of its own"}'
        assert b"of its own" not in (await answer(hf, "together", command=command)).result_json


async def test_what_its_program_is_made_of_is_read_below_any_ceiling(workspace: Path) -> None:
    program = workspace.parent / "program"
    program.mkdir()
    (program / "part").write_text("its part", "utf-8")
    linked = workspace.parent / "linked"
    linked.symlink_to(program)
    ceiling = msgspec.convert({"read": ["**"], "shell": [{"cmd": "*"}]}, RequirementSettings)
    settings = msgspec.structs.replace(UNRECORDED, policy=PolicySettings(ceiling=ceiling))
    own = alone((str(linked), str(workspace.parent / "missing")), fs={"read": ["**"]})
    async with opened(workspace, "bare", tools=[own], settings=settings) as hf:
        command = f"cat {program}/part"
        assert (await answer(hf, "apart", command=command)).result_json == b'{"text":"its part"}'
        (program / "part").touch()
        written = await answer(hf, "apart", command=f"echo x > {program}/part; cat {program}/part")
    assert b"its part" in written.result_json
    assert (program / "part").read_text("utf-8") == "its part"


async def _child_runs(child: Holdfast, command: str) -> str:
    return (await child.settle("apart", {"command": command})).result_json.decode()


async def test_a_subagent_has_of_it_what_its_parent_has(workspace: Path) -> None:
    elsewhere = workspace.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a").write_text("of its own", "utf-8")
    own = alone(fs={"read": [f"{elsewhere}/**"]})
    runs = Subagent(run=_child_runs, description="Runs it.")
    asks = {"subagent_type": "a", "prompt": f"cat {elsewhere}/a"}
    async with opened(workspace, "code", tools=[own], subagents={"a": runs}) as hf:
        assert "of its own" in (await result(hf, "task", **asks))["output"]


async def test_a_subagents_own_tool_is_bounded_by_what_its_parent_reaches(workspace: Path) -> None:
    elsewhere = workspace.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a").write_text("of its own", "utf-8")
    wider = alone(fs={"read": [f"{elsewhere}/**"]})
    runs = Subagent(run=_child_runs, description="Runs it.", tools=[wider])
    asks = {"subagent_type": "a", "prompt": f"cat {elsewhere}/a"}
    for of_the_parent in ([], [alone()]):  # none of that name, or one that requires less
        session = opened(workspace, "code", tools=of_the_parent, subagents={"a": runs})
        async with session as hf:
            assert "of its own" not in (await result(hf, "task", **asks))["output"]
