"""What each kind of environment can offer at all."""

from collections.abc import Sequence

import pytest

from holdfast.policy.environments import CAPABILITIES_OF, Environment, EnvironmentKind, withheld


@pytest.mark.parametrize(
    ("kind", "tool", "offered"),
    [
        ("web", "bash", False),
        ("web", "read", False),
        ("web", "write", False),
        ("web", "edit", False),
        ("web", "web_fetch", True),
        ("cloud", "bash", True),
        ("cloud", "edit", True),
        ("computer", "bash", True),
        ("computer", "grep", True),
    ],
)
@pytest.mark.req("SPEC-ENVT-01", "SPEC-ENVT-03")
def test_an_environment_offers_what_it_has(kind: EnvironmentKind, tool: str, offered: bool) -> None:
    said = withheld(Environment(kind=kind), CAPABILITIES_OF[tool])
    assert (said is None) == offered


@pytest.mark.req("SPEC-ENVT-01")
def test_a_virtual_file_system_brings_files_to_the_web_but_no_shell() -> None:
    web = Environment(kind="web", virtual_files=True)
    for tool in ("read", "write", "edit", "glob", "grep"):
        assert withheld(web, CAPABILITIES_OF[tool]) is None
    assert withheld(web, CAPABILITIES_OF["bash"]) == "A web environment has no shell."


@pytest.mark.req("SPEC-ENVT-02")
@pytest.mark.parametrize("tool", ["todo", "skill", "tool_search"])
def test_tools_inside_the_session_work_everywhere(tool: str) -> None:
    exercised = CAPABILITIES_OF.get(tool, frozenset[str]())
    kinds: Sequence[EnvironmentKind] = ("web", "cloud", "computer")
    for kind in kinds:
        assert withheld(Environment(kind=kind, confined=False), exercised) is None


@pytest.mark.req("SPEC-ENVT-04")
def test_a_computer_withholds_commands_where_it_cannot_confine_them() -> None:
    bare = Environment(kind="computer", confined=False)
    assert withheld(bare, CAPABILITIES_OF["bash"]) is not None
    for tool in sorted(CAPABILITIES_OF.keys() - {"bash"}):
        assert withheld(bare, CAPABILITIES_OF[tool]) is None
    assert withheld(Environment(kind="cloud", confined=False), CAPABILITIES_OF["bash"]) is None
