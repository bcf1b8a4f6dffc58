"""A flow tool of one's own: what it has to provide, what the model sees, and the table."""

import copy
import json
from collections.abc import Mapping
from typing import cast

import pytest
from support import settle

from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.flow import ToolNameConflictError, table_schemas, tool_table
from holdfast.runtime.definitions import openai_definition
from holdfast.runtime.flow_table import build_table
from holdfast.sources.flow_class import tool_from_flow
from holdfast.testing.fakes import FakeFlowSession
from holdfast.tools.flow import FLOW_BUILTINS

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "examples": ["a b"], "x-own": {"deep": [1, None]}},
        "n": {"$ref": "#/$defs/n"},
    },
    "$defs": {"n": {"type": "integer", "minimum": 0}},
    "required": ["text"],
    "additionalProperties": False,
    "$comment": "kept",
}


class Count(FlowToolCall):
    """The least a flow tool can be."""

    def __init__(self, name: str = "count_words") -> None:
        self._name = name
        self.given: list[tuple[FlowSession, Mapping[str, object]]] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def parameters(self) -> Mapping[str, object]:
        return SCHEMA

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        self.given.append((session, arguments))
        return {"words": len(str(arguments["text"]).split())}


class Described(Count):
    parallel_safe = True

    @property
    def description(self) -> str:
        return "Counts words."


def _function(definition: dict[str, object]) -> dict[str, object]:
    return cast("dict[str, object]", definition["function"])


@pytest.mark.req("RATH-FTC-04")
def test_parameters_go_into_the_definition_unchanged() -> None:
    before = copy.deepcopy(SCHEMA)
    (entry,) = (
        entry
        for entry in table_schemas(tool_table([Count()]))
        if _function(entry)["name"] == "count_words"
    )
    assert entry["type"] == "function"
    assert _function(entry)["parameters"] == before
    bound = openai_definition(tool_from_flow(Count(), FakeFlowSession()))
    assert _function(bound)["parameters"] == before
    assert json.dumps(_function(entry)["parameters"]) == json.dumps(before)
    assert before == SCHEMA


@pytest.mark.req("RATH-FTC-04")
@pytest.mark.parametrize("name", FLOW_BUILTINS)
def test_the_parameters_of_a_built_in_go_into_the_definition_unchanged(name: str) -> None:
    tool = FLOW_BUILTINS[name]
    assert isinstance(tool.parameters, Mapping)
    assert tool.parameters["type"] == "object"
    entries = {str(_function(entry)["name"]): entry for entry in table_schemas(tool_table())}
    assert _function(entries[name])["parameters"] == tool.parameters


@pytest.mark.req("RATH-LAY-01")
def test_the_model_learns_names_and_arguments_and_nothing_of_execution() -> None:
    table = tool_table([Count("plain"), Described("described")])
    schemas = table_schemas(table)
    assert [_function(entry)["name"] for entry in schemas] == sorted(table)
    for entry in schemas:
        tool = table[str(_function(entry)["name"])]
        told: dict[str, object] = {"name": tool.name, "parameters": tool.parameters}
        if tool.description is not None:
            told["description"] = tool.description
        assert entry == {"type": "function", "function": told}
    on_the_wire = json.dumps(schemas)
    for secret in ("parallel_safe", "resource_key", "dispatch", "sandbox", "fs:read", "Backend"):
        assert secret not in on_the_wire


@pytest.mark.req("RATH-LAY-01")
def test_a_bound_tool_tells_the_model_nothing_more() -> None:
    bound = openai_definition(tool_from_flow(Described(), FakeFlowSession()))
    assert bound.keys() == {"type", "function"}
    assert _function(bound).keys() == {"name", "description", "parameters"}
    bare = openai_definition(tool_from_flow(Count(), FakeFlowSession()))
    assert _function(bare).keys() == {"name", "parameters"}


async def test_a_tool_of_name_parameters_and_call_is_complete() -> None:
    assert FlowToolCall.__abstractmethods__ == {"name", "parameters", "__call__"}
    session, tool = FakeFlowSession(), Count()
    answer = await settle(tool_from_flow(tool, session), {"text": "a b c"})
    assert (answer.ok, answer.result) == (True, {"words": 3})
    ((given, arguments),) = tool.given
    assert given is session
    assert arguments == {"text": "a b c"}


def test_nothing_a_flow_tool_provides_or_is_given_speaks_of_streams() -> None:
    offered = {name for name in vars(FlowToolCall) if not name.startswith("_")}
    assert offered == {"name", "description", "parameters", "resource_key", "parallel_safe"}
    assert {name for name in vars(FlowSession) if not name.startswith("_")} == {"require_sandbox"}


@pytest.mark.parametrize("missing", ["name", "parameters", "__call__"])
def test_a_class_without_one_of_the_three_cannot_be_made(missing: str) -> None:
    parts = {
        name: getattr(Count, name) for name in ("name", "parameters", "__call__") if name != missing
    }
    incomplete = cast("type[FlowToolCall]", type("Incomplete", (FlowToolCall,), parts))
    with pytest.raises(TypeError, match="abstract"):
        incomplete()


def test_without_more_words_a_tool_has_no_description_and_runs_alone() -> None:
    assert Count().description is None
    assert Count().resource_key({}) == ("global",)
    assert Described().resource_key({}) == ("safe", "count_words")
    assert tool_from_flow(Described(), FakeFlowSession()).resource_key({}) == (
        "safe",
        "count_words",
    )


def test_the_table_holds_the_built_ins_then_the_users_tools_in_order() -> None:
    own = [Count("zeta"), Count("alpha")]
    table = tool_table(own)
    assert list(table) == [*FLOW_BUILTINS, "zeta", "alpha"]
    assert table["zeta"] is own[0]
    assert tool_table() == dict(FLOW_BUILTINS)


@pytest.mark.parametrize("name", FLOW_BUILTINS)
def test_a_users_tool_cannot_take_a_built_in_name(name: str) -> None:
    with pytest.raises(ToolNameConflictError) as raised:
        tool_table([Count(name)])
    assert str(raised.value) == f"user tool '{name}' shadows a built-in system tool"
    assert isinstance(raised.value, ValueError)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ToolNameConflictError, match="'same' is given twice"):
        tool_table([Count("same"), Count("other"), Count("same")])


def test_a_table_is_a_copy_that_a_loop_may_change() -> None:
    table = build_table(FLOW_BUILTINS, [])
    table.clear()
    assert len(FLOW_BUILTINS) == 6
    assert len(tool_table()) == 6
