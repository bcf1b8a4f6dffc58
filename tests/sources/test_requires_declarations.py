"""What a tool needs, declared as a plain mapping."""

from typing import Any

import pytest

from holdfast.contract.requirements import Prefix, ShellRunRequirement, Wildcard
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool

NO_PATTERN: dict[str, object] = {}


def build() -> None:
    """Build the project."""


def test_every_part_of_a_declaration_is_read() -> None:
    declared: dict[str, object] = {
        "fs": {"read": ["src/**"], "write": ("out/**",)},
        "net": {"hosts": ["*.example"]},
        "shell": [
            {"cmd": "make"},
            {"cmd": "git", "args": ["log", {"wildcard": True}, {"prefix": "--"}]},
            {"cmd": "ls", "args": []},
        ],
        "capabilities": ["clock"],
    }
    requires = tool(build, requires=declared).tool.requires
    assert requires.fs.read == ("src/**",)
    assert requires.fs.write == ("out/**",)
    assert requires.net.hosts == ("*.example",)
    assert requires.shell == (
        ShellRunRequirement("make"),
        ShellRunRequirement("git", ("log", Wildcard(wildcard=True), Prefix("--"))),
        ShellRunRequirement("ls", ()),
    )
    assert requires.capabilities == ("clock",)


@pytest.mark.parametrize(
    ("declared", "hint"),
    [
        ({"disk": {}}, "disk"),
        ({"fs": {"read": "src"}}, r"\$\.fs\.read"),
        ({"net": {"hosts": ["{nowhere}"]}}, "nowhere"),
        ({"shell": [{"cmd": "bin/make"}]}, "bare name"),
        ({"shell": [{"cmd": "git", "args": [NO_PATTERN]}]}, "either wildcard or prefix"),
        ({"shell": [{"cmd": "git", "args": [{"wildcard": True, "prefix": "-"}]}]}, "either"),
        ({"shell": [{"cmd": "git", "args": [{"wildcard": False}]}]}, "matches nothing"),
        ({"shell": [{"cmd": "git", "args": [{"suffix": "x"}]}]}, "suffix"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declared: dict[str, Any], hint: str) -> None:
    with pytest.raises(ToolDefinitionError, match=f"tool 'build': requires: .*{hint}"):
        tool(build, requires=declared)
