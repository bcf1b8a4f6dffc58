"""Looking a use up takes nothing from it: its doubt and the text around it are still there."""

from pathlib import Path

import msgspec
import pytest
from policy.rules_kit import use
from support import make_tool

from holdfast.contract.requirements import requirement_set
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import places_of
from holdfast.policy.reach import Reach
from holdfast.policy.scope import EffectiveScope, compile_scope
from holdfast.policy.tool_scopes import ToolScopes

REQUIRES = requirement_set(
    {
        "fs": {"read": ["**"], "write": ["**"]},
        "net": {"hosts": ["api.example"]},
        "shell": [{"cmd": "git"}],
        "capabilities": ["secrets.has"],
    }
)
TOOL = msgspec.structs.replace(make_tool(), requires=REQUIRES)


@pytest.mark.parametrize("within", [None, "git log > x"])
@pytest.mark.parametrize(
    ("capability", "written", "target"),
    [
        ("fs.read", "a", "a"),
        ("fs.read", "./a/../b", "b"),
        ("fs.write", "link/a", "link/a"),
        ("fs.write", "", ""),
        ("net.fetch", "https://API.example/x", "api.example"),
        ("shell.run", "git log", "git log"),
        ("secrets.has", "x", "x"),
    ],
)
def test_a_use_keeps_its_doubt_and_the_text_around_it(
    tmp_path: Path, capability: str, written: str, target: str, within: str | None
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "docs")
    facts = DiskPaths()
    places = places_of({"workspace": [str(tmp_path)]}, facts)
    scope = EffectiveScope(compile_scope(REQUIRES, places), facts)
    seeing = Reach(ToolScopes(scope, places), facts, places)
    doubtful = msgspec.structs.replace(
        use(capability, written, doubt="it is not known"), within=within
    )
    found = seeing(TOOL, doubtful).use
    assert (found.target, found.doubt, found.capability) == (target, "it is not known", capability)
    if capability != "net.fetch":
        assert found.within == within
