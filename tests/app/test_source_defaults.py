"""What a source leaves open: one documented set of needs each, no description, an open object."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from holdfast import tool
from holdfast.agent.flow.asking import model_tool as flow_model_tool
from holdfast.agent.models.anthropic_messages import anthropic_tool
from holdfast.agent.models.chat_messages import chat_tool
from holdfast.agent.models.responses_items import responses_tool
from holdfast.agent.outfit import model_tool
from holdfast.contract.builtin import builtin
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Tool
from holdfast.policy.source_grants import DEFAULT_REQUIREMENTS, Source
from holdfast.runtime.definitions import full_definition, openai_definition
from holdfast.runtime.flow_table import table_schemas
from holdfast.sources.flow_class import tool_from_flow
from holdfast.sources.intake import built_in
from holdfast.sources.mcp.setup import ServerSetup, requirements_of
from holdfast.sources.plugins.loading import load_plugin
from holdfast.surfaces.mcp.definitions import definitions
from holdfast.testing.fakes import FakeFlowSession

PLUGIN = """
from holdfast import tool


@tool
def of_plugin() -> str:
    '''Say nothing of any needs.'''
    return ""
"""
BARE = Tool(
    name="bare",
    description=None,
    requires=NOTHING_REQUIRED,
    body=Body(style="inline", invoke=lambda values, _runtime: dict(values)),
)
OPEN: JsonObject = {"type": "object", "properties": {}}
ROWS: Mapping[Source, str] = {
    "function": "| function, managed tool, plugin | nothing |",
    "managed": "| function, managed tool, plugin | nothing |",
    "plugin": "| function, managed tool, plugin | nothing |",
    "flow": "| flow tool | nothing,",
    "manifest": "| manifest | reads `{workspace}/**`;",
    "mcp": "| MCP server | nothing; one at an address has its host |",
}


class Flow(FlowToolCall):
    """A flow class that says nothing it does not have to."""

    @property
    def name(self) -> str:
        return "flow"

    @property
    def description(self) -> str | None:
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        return {}

    def __call__(self, session: FlowSession, arguments: Mapping[str, Any]) -> object:
        return arguments


def open_tool() -> str:
    """Say nothing of any needs."""
    return ""


@pytest.mark.req("SPEC-CON-27")
def test_every_source_has_one_documented_set_of_needs(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN, "utf-8")
    (of_plugin,) = load_plugin(f"{tmp_path}/").tools
    found = {
        "function": tool(open_tool).tool.requires,
        "flow": tool_from_flow(Flow(), FakeFlowSession()).requires,
        "mcp": requirements_of(ServerSetup(name="local", command="server")),
        "managed": built_in(builtin()(open_tool)).requires,
        "plugin": of_plugin.requires,
    }
    of_programs = {"manifest": DEFAULT_REQUIREMENTS["manifest"]}  # see test_any_source
    assert {**found, **of_programs} == DEFAULT_REQUIREMENTS
    assert set(DEFAULT_REQUIREMENTS) == set(get_args(Source)) == set(ROWS)
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
    for row in ROWS.values():
        assert re.search(f"^{re.escape(row)}", page, re.MULTILINE), row


@pytest.mark.req("SPEC-CON-27")
def test_what_is_missing_is_absent_and_open_where_a_wire_wants_a_schema() -> None:
    flow = Flow()
    (of_table,) = table_schemas({"flow": flow})
    assert of_table == {"type": "function", "function": {"name": "flow"}}
    assert openai_definition(BARE) == {"type": "function", "function": {"name": "bare"}}
    assert "description" not in full_definition(BARE)
    for told in (model_tool(BARE), flow_model_tool(of_table)):
        name = told.name
        assert chat_tool(told)["function"] == {"name": name, "parameters": OPEN}
        assert anthropic_tool(told) == {"name": name, "input_schema": OPEN}
        sent = responses_tool(told)
        assert (sent["parameters"], "description" in sent) == (OPEN, False)
    for modern in (False, True):
        (listed,) = definitions([BARE], modern=modern)
        assert "description" not in listed
        assert listed["inputSchema"] == {"type": "object"}
