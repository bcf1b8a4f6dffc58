"""The conformance check for tools passes good ones and can fail."""

from collections.abc import Mapping

import msgspec
import pytest
from support import make_tool

from holdfast import Runtime, tool
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ArgumentFault, Body
from holdfast.sources.flow_class import tool_from_flow
from holdfast.testing.fakes import FakeFlowSession
from holdfast.testing.tool_check import check_tools
from holdfast.tools.flow import FLOW_BUILTINS

pytestmark = pytest.mark.anyio

CLOSED: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.req("SPEC-CHECK-07")
async def test_every_shipped_tool_passes_the_check() -> None:
    session = FakeFlowSession()
    tools = [tool_from_flow(flow, session) for flow in FLOW_BUILTINS.values()]
    assert len(tools) == 6
    assert await check_tools([*tools, make_tool(schema=CLOSED)]) == []


async def test_a_tool_without_a_word_about_itself_is_found_out() -> None:
    silent = msgspec.structs.replace(make_tool(name="quiet"), description=" ")
    assert await check_tools([silent]) == ["quiet: publishes an empty description"]
    nameless = msgspec.structs.replace(make_tool(), name=" ")
    assert await check_tools([nameless]) == [" : publishes no name"]


async def test_a_tool_whose_schema_is_no_object_or_not_usable_is_found_out() -> None:
    problems = await check_tools([make_tool(name="odd", schema={"type": "array"})])
    assert "odd: its input_schema does not describe an object" in problems
    (problem,) = await check_tools([make_tool(name="bad", schema={"minimum": "x"})])
    assert problem.startswith("bad: cannot be registered")


async def test_the_check_never_enters_the_real_body() -> None:
    entered: list[object] = []
    body = Body(
        style="inline",
        invoke=lambda values, _runtime: entered.append(values),
        decode=lambda _arguments: ArgumentFault(message="never"),
    )
    tool = msgspec.structs.replace(make_tool(schema=CLOSED), body=body)
    assert await check_tools([tool]) == []
    assert entered == []


@tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


def shout(text: str) -> str:
    """Make text loud."""
    return text.upper()


class Plain:
    id = "plain"
    description = "Does nothing."
    parameters = CLOSED
    requires: Mapping[str, object] = {}

    def execute(self, args: dict[str, object], _runtime: Runtime, /) -> object:
        return args


async def test_the_check_takes_whatever_can_be_registered() -> None:
    assert await check_tools([greet, greet.tool, shout, Plain()]) == []


async def test_what_cannot_be_registered_is_a_line_and_the_rest_is_still_checked() -> None:
    flow = next(iter(FLOW_BUILTINS.values()))
    silent = msgspec.structs.replace(greet.tool, description=" ")
    number, needs_a_session, empty = await check_tools([42, flow, silent])
    assert number.startswith("42 is not a tool; register a function")
    assert needs_a_session.startswith(f"the flow tool {flow.name!r} needs a session")
    assert empty == "greet: publishes an empty description"
