"""The one door through which anything becomes a tool."""

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool
from holdfast.sources.intake import to_tool


def add(a: int) -> int:
    """Add one."""
    return a + 1


class Greeter:
    id = "greet"
    description = "Greet."
    parameters: Mapping[str, object] = {"type": "object"}
    requires: Mapping[str, object] = {}

    def execute(self, args: dict[str, object], runtime: object, /) -> object:
        return args


class Adder:
    """Add one."""

    def __call__(self, a: int) -> int:
        return a + 1


class Flow(FlowToolCall):
    @property
    def name(self) -> str:
        return "flow"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"type": "object"}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return None


def test_a_tool_and_a_decorated_function_are_taken_as_they_are() -> None:
    decorated = tool(add)
    assert to_tool(decorated) is decorated.tool
    assert to_tool(decorated.tool) is decorated.tool


def test_a_plain_function_is_treated_as_decorated() -> None:
    assert to_tool(add).name == "add"
    assert to_tool(add).input_schema == tool(add).tool.input_schema


def test_an_object_with_the_fields_is_a_tool() -> None:
    assert to_tool(Greeter()).name == "greet"


def test_a_callable_object_is_a_function() -> None:
    assert to_tool(Adder()).name == "Adder"


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        (Greeter, "register an instance"),
        (Flow(), "tool_from_flow"),
        ("add", "is not a tool"),
        (5, "is not a tool"),
        (None, "is not a tool"),
        ({"id": "x"}, "is not a tool"),
        (lambda: None, "<lambda>"),
    ],
)
def test_anything_else_is_refused_with_advice(candidate: Any, text: str) -> None:
    with pytest.raises(ToolDefinitionError, match=text):
        to_tool(candidate)


@pytest.mark.req("SPEC-CON-08")
@pytest.mark.parametrize("field", ["id", "description", "parameters", "requires"])
def test_an_object_meant_as_a_tool_is_told_what_it_lacks(field: str) -> None:
    members = {name: value for name, value in vars(Greeter).items() if name != field}
    with pytest.raises(ToolDefinitionError, match=f"field {field}"):
        to_tool(type("Greeter", (), members)())
