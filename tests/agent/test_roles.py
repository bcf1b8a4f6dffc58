"""What a tool is to a loop follows from what is declared of it."""

from pathlib import Path
from typing import Unpack

import pytest
from tool_kit import opened

from holdfast.agent.roles import NAMED, Role, role_of, roles_of
from holdfast.contract.tool_options import ToolOptions
from holdfast.sources.functions import tool_from_function


def look(path: str) -> str:
    """Look at something, e.g. path='a'."""
    return path


def _role(**options: Unpack[ToolOptions]) -> Role:
    return role_of(tool_from_function(look, **options))


@pytest.mark.parametrize("profile", ["code", "host"])
async def test_the_built_in_tools_are_what_their_names_are_known_for(
    profile: str, tmp_path: Path
) -> None:
    async with opened(tmp_path, profile) as hf:
        found = roles_of(hf.tools)
    assert found == {name: NAMED[name] for name in found}
    assert len(found) > 15


def test_a_tool_that_says_nothing_of_itself_may_have_changed_everything() -> None:
    assert _role() == "unknown"
    assert _role(read_only=False) == "execute"
    assert _role(acp_kind="read") == "unknown"


def test_a_tool_that_only_computes_changes_nothing() -> None:
    assert _role(read_only=True) == "still"


READS: ToolOptions = {"requires": {"fs": {"read": ["**"]}}, "uses": {"path": "fs.read"}}


@pytest.mark.parametrize(
    ("options", "role"),
    [
        ({**READS, "acp_kind": "read"}, "read"),
        ({**READS, "acp_kind": "search"}, "search"),
        ({**READS, "acp_kind": "fetch"}, "still"),
        ({**READS, "acp_kind": "search", "effects": ("sandbox_execute",)}, "still"),
        ({**READS, "acp_kind": "read", "destructive": True}, "execute"),
        ({"effects": ("skill_read",)}, "load"),
        ({"effects": ("session_write",), "read_only": False}, "still"),
        ({"effects": ("session_write",), "read_only": False, "acp_kind": "think"}, "plan"),
        ({"effects": ("resource_write",), "read_only": False, "acp_kind": "edit"}, "write"),
        ({"effects": ("resource_write",), "read_only": False, "acp_kind": "move"}, "write"),
        ({"effects": ("resource_write",), "read_only": False}, "execute"),
        (
            {
                "effects": ("resource_write", "sandbox_execute"),
                "read_only": False,
                "acp_kind": "edit",
            },
            "execute",
        ),
        ({**READS, "acp_kind": "read", "ownership": "mcp"}, "unknown"),
    ],
)
def test_what_is_declared_decides(options: ToolOptions, role: Role) -> None:
    assert _role(**options) == role


def test_a_tool_of_a_known_name_is_what_it_declares_and_not_what_its_name_says() -> None:
    assert _role(name="file_read", read_only=False) == "execute"
