"""Uses inside a sandbox of the program's: rules compare them, ceilings bound them, nothing else."""

from pathlib import Path

import pytest
from support import make_tool

from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.rules import Use
from holdfast.contract.tool import Tool
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import places_of
from holdfast.policy.reach import Reach
from holdfast.policy.sandbox_look import SandboxLook
from holdfast.policy.scope import EffectiveScope, compile_scope
from holdfast.policy.tool_scopes import Beside, ToolScopes

NOTHING = RequirementSet()


def _look(workspace: Path | None, ceiling: RequirementSet | None = None) -> SandboxLook:
    facts = DiskPaths()
    folders = [] if workspace is None else [str(workspace)]
    places = places_of({"workspace": folders, "user-data": []}, facts)
    above = () if ceiling is None else (compile_scope(ceiling, places),)
    agent = EffectiveScope(compile_scope(NOTHING, places), facts, *above)

    def alone(_tool: Tool) -> EffectiveScope:
        return agent

    scopes = ToolScopes(agent, places, strict=False, beside=Beside({}, (), alone))
    return SandboxLook(Reach(scopes, facts, places), {"inside"}.__contains__)


def _use(kind: str, target: str) -> Use:
    capability = {"path": "fs.write", "command": "shell.run", "name": "own"}[kind]
    return Use(capability=capability, kind=kind, target=target)  # type: ignore[arg-type] - a kind


INSIDE, OUTSIDE = make_tool(name="inside"), make_tool(name="outside")


@pytest.mark.parametrize("use", [_use("path", "a"), _use("command", "ls > a"), _use("name", "x")])
def test_what_no_tool_requires_is_reached_inside_alone(use: Use, tmp_path: Path) -> None:
    look = _look(tmp_path)
    assert look(INSIDE, use).refusal is None
    assert look(OUTSIDE, use).refusal is not None


def test_a_call_that_uses_nothing_is_looked_at_as_ever() -> None:
    use = Use(capability=None, kind="name", target="")
    assert _look(None)(INSIDE, use).use is use


@pytest.mark.parametrize(
    ("written", "told"),
    [("b/../a", "a"), ("./a", "a"), ("/elsewhere/a", "/elsewhere/a")],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_path_is_told_as_rules_write_it(
    written: str, told: str, named: bool, tmp_path: Path
) -> None:
    assert _look(tmp_path if named else None)(INSIDE, _use("path", written)).use.target == told


def test_a_path_of_the_folder_is_told_from_there_and_through_its_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to("real")
    look = _look(tmp_path)
    assert look(INSIDE, _use("path", f"{tmp_path}/real/a")).use.target == "real/a"
    found = look(INSIDE, _use("path", "way/a")).use
    assert (found.target, found.spellings) == ("way/a", ("real/a",))


@pytest.mark.parametrize(
    ("ceiling", "use", "reached"),
    [
        ({"shell": [{"cmd": "git"}]}, _use("command", "git status > a"), True),
        ({"shell": [{"cmd": "git"}]}, _use("command", "git status; rm a"), False),
        ({"shell": [{"cmd": "*"}]}, _use("path", "a"), False),
        ({"fs": {"write": ["/srv/**"]}}, _use("path", "a"), True),
        ({"capabilities": ["own"]}, _use("name", "x"), True),
        ({"capabilities": ["other"]}, _use("name", "x"), False),
    ],
)
def test_a_ceiling_bounds_by_capability_and_program(
    ceiling: dict[str, object], use: Use, reached: bool
) -> None:
    looked = _look(None, requirement_set(ceiling))(INSIDE, use)
    assert (looked.refusal is None) is reached
    if not reached:
        assert "more than may be reached" in (looked.refusal or "")
