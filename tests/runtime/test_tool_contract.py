"""What every tool owes and gets, whichever way it was made."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from support import make_tool, settle

from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Tool
from holdfast.envelope.dialects import ok
from holdfast.runtime.definitions import full_definition, openai_definition
from holdfast.sources.flow_class import tool_from_flow
from holdfast.sources.functions import tool
from holdfast.sources.intake import to_tool
from holdfast.testing.fakes import FakeFlowSession

pytestmark = pytest.mark.anyio


@tool
def by_function(n: int) -> int:
    """Double a number, e.g. n=2."""
    return n * 2


class ByObject:
    id = "by_object"
    description = "Double a number, e.g. n=2."
    parameters: Mapping[str, object] = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    requires: Mapping[str, object] = {"net": {"hosts": ["numbers.example"]}}

    def execute(self, args: Mapping[str, Any], runtime: Runtime) -> object:
        return args["n"] * 2


class ByFlow(FlowToolCall):
    @property
    def name(self) -> str:
        return "by_flow"

    @property
    def description(self) -> str:
        return "Double a number, e.g. n=2."

    @property
    def parameters(self) -> Mapping[str, object]:
        return ByObject.parameters

    def __call__(self, session: FlowSession, arguments: Mapping[str, Any]) -> object:
        return arguments["n"] * 2


TOOLS = [
    to_tool(by_function),
    to_tool(ByObject()),
    tool_from_flow(ByFlow(), FakeFlowSession()),
]


@pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
@pytest.mark.req("SPEC-CON-02")
async def test_every_tool_describes_its_parameters_and_needs_and_answers_in_the_envelope(
    made: Tool,
) -> None:
    definition = full_definition(made)
    schema = definition["input_schema"]
    assert isinstance(schema, dict)
    assert "n" in schema["properties"]
    assert definition["requires"] == {
        "fs": {"read": [], "write": []},
        "net": {"hosts": list(made.requires.net.hosts)},
        "shell": [],
        "capabilities": [],
    }
    good = msgspec.json.decode(ok.render(await settle(made, '{"n": 21}')))
    bad = msgspec.json.decode(ok.render(await settle(made, '{"n": "x"}')))
    assert (good["ok"], good["result"], good["tool"]) == (True, 42, made.name)
    assert (bad["ok"], bad["kind"], bad["tool"]) == (False, "invalid_args", made.name)


@pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
@pytest.mark.req("RATH-FTC-10")
async def test_every_source_is_checked_by_the_same_preflight(made: Tool) -> None:
    for arguments, field in (("{}", "n"), ('{"n": 1, "m": 2}', "m"), ('{"n": []}', "n")):
        envelope = await settle(made, arguments)
        assert envelope.failure is not None
        assert envelope.failure.kind is FailureKind.INVALID_ARGS
        assert envelope.failure.field == field


@pytest.mark.req("BOA-OWN-02")
async def test_a_managed_capability_is_executed_by_the_runtime_itself() -> None:
    entered: list[str] = []
    managed = make_tool(lambda _values, _runtime: entered.append("here"))
    assert managed.ownership == "managed"
    assert (await settle(managed)).ok
    assert entered == ["here"]


async def test_a_custom_capability_is_never_executed_by_the_runtime() -> None:
    entered: list[str] = []
    custom = msgspec.structs.replace(
        make_tool(lambda _values, _runtime: entered.append("here")), ownership="custom"
    )
    envelope = await settle(custom)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE
    assert entered == []


@pytest.mark.req("BOA-DEF-04")
async def test_a_definition_without_an_input_schema_has_an_empty_one() -> None:
    bare = Tool(
        name="bare",
        description="Takes whatever comes.",
        requires=NOTHING_REQUIRED,
        body=Body(style="inline", invoke=lambda values, _runtime: dict(values)),
    )
    assert bare.input_schema == {}
    assert (await settle(bare, '{"x": "1"}')).result == {"x": "1"}
    assert full_definition(bare)["input_schema"] == {}
    assert openai_definition(bare)["function"] == {
        "name": "bare",
        "description": "Takes whatever comes.",
    }
    given = make_tool(schema={"type": "object", "properties": {"x": {"type": "string"}}})
    assert full_definition(given)["input_schema"] is given.input_schema
