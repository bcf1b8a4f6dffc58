"""The catalogue of the managed profile: which tools there are, what they declare, their size."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tool_kit import opened
from tools.managed.tool_table import TABLE

from holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.envelope import Repair
from holdfast.contract.tool import Tool

pytestmark = pytest.mark.anyio

NAVIGATION = {
    *("environment_describe", "agent_describe_setup", "agent_compare_setup", "vault_list"),
    *("permissions_describe", "permissions_check", "session_list", "session_list_children"),
    *("session_get_snapshot", "session_describe_context", "session_get_events"),
    *("session_get_trace", "session_search_traces", "outcome_read", "outcome_grade"),
    *("outcome_evaluate", "outcome_history", "outcome_define"),
}
AGENTS = {"session_delegate", "session_run_child", "session_list_children"}
RECALL = {
    *("memory_list", "session_search_context", "retrieval_search", "memory_search"),
    *("memory_read", "memory_list_versions", "memory_read_version", "memory_write"),
    *("memory_promote_note", "learning_list"),
}
SKILLS = {"skills_list", "skills_search", "skills_read"}
SHELL = {
    *("shell_describe", "shell_history", "shell_wait", "shell_read_command"),
    *("shell_read_last_output", "shell_set_cwd", "shell_set_env", "shell_unset_env"),
    *("shell_open", "shell_restart", "shell_run", "shell_exec", "shell_close"),
}
HAND = {
    *("read", "write", "edit", "glob", "grep", "bash"),
    *("sandbox_describe", "sandbox_execute"),
}
RESOURCES = {
    *("resources_stage_from_substrate", "resources_list_versions", "resources_read_version"),
    *("resources_restore_version", "resources_compare_with_substrate"),
    "resources_promote_to_substrate",
}
BESIDE = {"session_list_traces", "resources_list", "resources_list_staged_drafts"}
"""Those that no list names: what they tell, no other tool does."""

WRITES = {
    *("write", "edit", "sandbox_execute", "session_delegate", "session_run_child"),
    *("outcome_define", "memory_write", "memory_promote_note", "shell_set_cwd", "shell_set_env"),
    *("shell_unset_env", "shell_open", "shell_restart", "shell_run", "shell_exec", "shell_close"),
    *("resources_stage_from_substrate", "resources_promote_to_substrate"),
    "resources_restore_version",
}
DESTROYS = {
    *("write", "edit", "shell_run", "shell_exec", "memory_write", "memory_promote_note"),
    *("resources_promote_to_substrate", "resources_restore_version", "sandbox_execute"),
}
CANCELS = {
    *("shell_wait", "session_run_child", "retrieval_search", "grep", "glob", "bash"),
    *("shell_run", "shell_exec"),
}
COMMITS = {
    *("write", "edit", "memory_write", "memory_promote_note"),
    *("resources_promote_to_substrate", "resources_restore_version"),
}
"""Those that commit a version, or put a file in place."""
ASKS = {
    *("resources_promote_to_substrate", "shell_run", "shell_exec", "memory_promote_note"),
    "resources_restore_version",
}
EFFECTS = {
    *("session_read", "session_write", "resource_read", "resource_write", "memory_read"),
    *("memory_write", "learning_read", "skill_read", "sandbox_execute"),
}
BUDGET = 12_000
"""Tokens for the schemas of all tools of the profile."""
LARGEST = 800
"""Characters of one managed tool."""


@asynccontextmanager
async def session(workspace: Path) -> AsyncGenerator[Holdfast]:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        yield hf


async def managed_tools(workspace: Path) -> dict[str, Tool]:
    """The catalogue's, without what else the lock brings."""
    async with session(workspace) as hf:
        return {one.name: one for one in hf.tools if one.name in TABLE or one.name in HAND}


@pytest.mark.req("BOA-CAT-01", "BOA-CAT-02", "BOA-CAT-03", "BOA-CAT-04")
@pytest.mark.req("BOA-CAT-05", "BOA-CAT-06", "BOA-CAT-07")
async def test_the_catalogue_has_these_tools_and_no_others(workspace: Path) -> None:
    groups = (NAVIGATION, AGENTS, RECALL, SKILLS, SHELL, HAND, RESOURCES)
    assert [len(one) for one in groups] == [18, 3, 10, 3, 13, 8, 6]
    assert set(await managed_tools(workspace)) == BESIDE.union(*groups)


@pytest.mark.req("BOA-DEF-13", "BOA-DEF-14", "BOA-DEF-16", "BOA-DEF-17", "BOA-OWN-02")
@pytest.mark.req("BOA-POL-03", "BOA-POL-04", "BOA-POL-05", "BOA-POL-06", "BOA-POL-07")
async def test_what_is_declared_of_every_tool(workspace: Path) -> None:
    tools = await managed_tools(workspace)
    assert {name for name, one in tools.items() if not one.read_only} == WRITES
    assert {name for name, one in tools.items() if one.destructive} == DESTROYS
    assert {name for name, one in tools.items() if one.permission_policy == "always_ask"} == ASKS
    assert {tools[name].interrupt_behavior for name in CANCELS} == {"cancel"}
    assert {tools[name].interrupt_behavior for name in COMMITS} == {"block"}
    for name, one in tools.items():
        assert one.effects, name
        assert {*one.effects} <= EFFECTS, name
        assert one.ownership == "managed", name
        writes = {"session_write", "resource_write", "memory_write", "sandbox_execute"}
        assert one.read_only is (not writes & {*one.effects}) or name == "bash", name
        assert one.output_schema is not None, name


def weight(tool: Tool) -> int:
    """Characters of what a model is told of it."""
    told = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return len(msgspec.json.encode(told).decode())


async def test_all_schemas_together_fit_into_their_budget(workspace: Path) -> None:
    async with session(workspace) as hf:
        assert len(hf.tools) == len(TABLE) + 13
        assert sum(map(weight, hf.tools)) / 4 <= BUDGET
        assert max(weight(one) for one in hf.tools if one.name in TABLE) <= LARGEST


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(one.capitalize() for one in others)


def some(declared: dict[str, Any]) -> Any:
    """A value that an argument takes."""
    if "enum" in declared:
        return declared["enum"][0]
    kinds = declared["type"]
    match kinds if isinstance(kinds, str) else cast("list[str]", kinds)[0]:
        case "string":
            return "x"
        case "integer":
            return max(declared.get("minimum", 1), 1)
        case "boolean":
            return True
        case "array":
            return []
        case other:
            assert other == "object", declared
            return {}


@pytest.mark.req("BOA-ARG-08")
async def test_every_argument_is_taken_in_camel_case_and_that_is_told(workspace: Path) -> None:
    async with session(workspace) as hf:
        tried = 0
        for tool in hf.tools:
            plan = hf.parts.catalog.plan(tool.name)
            assert plan is not None
            base = plan.example({})
            assert base is not None, tool.name
            declared = cast("dict[str, dict[str, Any]]", tool.input_schema.get("properties", {}))
            for name in (one for one in declared if "_" in one):
                tried += 1
                value = base.get(name, some(declared[name]))
                meant = {**base, name: value}
                sent = {camel(key) if key == name else key: one for key, one in meant.items()}
                found = plan.prepare(
                    ToolCall(id="c", tool=tool.name, arguments=sent, session_id=hf.session_id)
                )
                assert isinstance(found, Prepared), (tool.name, sent, found)
                assert found.arguments == meant, (tool.name, sent)
                assert Repair("renamed_key", name, camel(name)) in found.repairs
        assert tried > 80
