"""Which calls can change nothing: what is said of a tool counts, and all of it has to agree."""

from collections.abc import Callable
from typing import ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.requirements import (
    NOTHING_REQUIRED,
    FsRequirement,
    NetRequirement,
    RequirementSet,
    requirement_set,
)
from holdfast.contract.runtime import Runtime
from holdfast.contract.todos import TodoList
from holdfast.contract.tool import ArgumentUse, Body, Tool
from holdfast.sources.functions import tool_from_function
from holdfast.sources.objects import tool_from_object

PURE = Tool(
    name="add",
    description="Add.",
    requires=NOTHING_REQUIRED,
    body=Body(style="async", invoke=lambda _values, _runtime: None, only_computes=True),
)

SPEAKS_AGAINST_IT: dict[str, Callable[[Tool], Tool]] = {
    "body": lambda tool: msgspec.structs.replace(
        tool, body=msgspec.structs.replace(tool.body, only_computes=False)
    ),
    "writes": lambda tool: msgspec.structs.replace(tool, read_only=False),
    "destructive": lambda tool: msgspec.structs.replace(tool, destructive=True),
    "effect": lambda tool: msgspec.structs.replace(tool, effects=("session_read",)),
    "uses": lambda tool: msgspec.structs.replace(
        tool, uses=(ArgumentUse(argument="path", capability="fs.read"),)
    ),
    "mcp": lambda tool: msgspec.structs.replace(tool, ownership="mcp"),
    "custom": lambda tool: msgspec.structs.replace(tool, ownership="custom"),
    "reads files": lambda tool: _requiring(tool, RequirementSet(fs=FsRequirement(read=("**",)))),
    "hosts": lambda tool: _requiring(tool, RequirementSet(net=NetRequirement(hosts=("a.b",)))),
    "runs": lambda tool: _requiring(tool, requirement_set({"shell": [{"cmd": "git"}]})),
    "capability": lambda tool: _requiring(tool, RequirementSet(capabilities=("memory",))),
}


def _requiring(tool: Tool, requires: RequirementSet) -> Tool:
    return msgspec.structs.replace(tool, requires=requires)


@given(st.sets(st.sampled_from(sorted(SPEAKS_AGAINST_IT))))
def test_a_tool_is_pure_if_nothing_speaks_against_it(said: set[str]) -> None:
    tool = PURE
    for one in sorted(said):
        tool = SPEAKS_AGAINST_IT[one](tool)
    assert tool.is_pure == (not said)


async def plain(a: int) -> int:
    """Give it back. a: a number, e.g. 1."""
    return a


async def with_runtime(rt: Runtime, a: int) -> int:
    """Give it back. a: a number, e.g. 1."""
    return a


async def with_port(a: int, todos: TodoList) -> int:
    """Give it back. a: a number, e.g. 1."""
    return a


def quick(a: int) -> int:
    """Give it back. a: a number, e.g. 1."""
    return a


def test_that_nothing_is_said_of_a_function_says_nothing_about_it() -> None:
    assert not tool_from_function(plain).is_pure
    assert not tool_from_function(quick).is_pure


def test_an_author_who_says_so_is_taken_at_their_word() -> None:
    assert tool_from_function(plain, read_only=True).is_pure
    assert tool_from_function(quick, inline=True).is_pure
    assert not tool_from_function(quick, inline=True, read_only=False).is_pure


@pytest.mark.parametrize("function", [with_runtime, with_port])
def test_who_is_handed_more_than_arguments_is_not_pure(function: Callable[..., object]) -> None:
    assert not tool_from_function(function, read_only=True).is_pure


class _Thing:
    id = "thing"
    description = "Does something."
    parameters: ClassVar[dict[str, object]] = {"type": "object"}
    requires: ClassVar[dict[str, object]] = {}
    read_only = True

    async def execute(self, _args: object, _runtime: object) -> None:
        """It is handed the runtime."""


def test_an_object_is_handed_the_runtime_and_so_is_not_pure() -> None:
    assert not tool_from_object(_Thing()).is_pure
