"""What every built-in tool owes, proven for each of them by the same calls."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from matrix_calls import CALLS, NOT_IN_THE_WORKSPACE, at_work
from tool_kit import answer

from holdfast.app.profiles import TOOLSETS
from holdfast.app.settings import LimitSettings, ToolLimitSettings
from holdfast.contract.builtin import Builtin
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json
from holdfast.contract.tool import Tool
from holdfast.envelope.dialects import mcp_result, openai_message
from holdfast.envelope.render import TEXT_DIALECTS, parse, render
from holdfast.runtime.abort import Abort
from holdfast.sources.intake import to_tool

pytestmark = pytest.mark.anyio

_OF_NO_KIND = frozenset({"question", "clarify", "skill", "share_artifact", "render_chart"})
STRAY = "no_such_argument"
BUILTINS: dict[str, Builtin] = {one.name: one for tools in TOOLSETS.values() for one in tools}


@pytest.fixture(params=sorted(BUILTINS))
def tool(request: pytest.FixtureRequest) -> Tool:
    return to_tool(BUILTINS[request.param])


def properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", tool.input_schema.get("properties", {}))


def optional(tool: Tool) -> Iterator[str]:
    required = cast("list[str]", tool.input_schema.get("required", []))
    return (name for name in properties(tool) if name not in required)


def test_every_tool_has_a_call(tool: Tool) -> None:
    assert tool.name in CALLS, f"add a call of {tool.name} to matrix_calls.py"


def test_every_description_holds_an_example_that_fits(tool: Tool) -> None:
    """A model copies examples: each has to be a call that would be taken."""
    found = list(_examples(tool.description or ""))
    assert found, f"{tool.name}: its description holds no example"
    for example in found:
        jsonschema_rs.validate(tool.input_schema, example)


def _examples(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
        else:
            yield found
            at = text.find("{", end)


def test_what_is_declared_is_whole(tool: Tool) -> None:
    assert tool.acp_kind != "other" or tool.name in _OF_NO_KIND
    assert tool.output_schema is not None
    assert not (tool.read_only and tool.destructive)
    for name, schema in properties(tool).items():
        assert schema.get("description"), f"{tool.name}: {name} is not described"
    for name in optional(tool):
        assert "default" in properties(tool)[name], f"{tool.name}: {name} declares no default"


@pytest.mark.req("OSA-RES-05")
async def test_an_unknown_key_is_refused(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        refused = (await answer(hf, tool.name, **call, **{STRAY: 1})).failure
    assert refused is not None
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, STRAY)


async def test_arguments_that_are_texts_are_repaired(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        texts = {name: _as_text(value) for name, value in call.items()}
        settled = await answer(hf, tool.name, **texts)
    _assert_taken(settled)
    changed = [name for name, value in call.items() if value != texts[name]]
    assert {repair.field for repair in settled.metadata.repairs} >= set(changed)


def _as_text(value: object) -> object:
    return value if isinstance(value, str) else json.dumps(value)


async def test_empty_optional_fillers_are_dropped(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        fillers = {name: "" for name in optional(tool) if name not in call and _is_text(tool, name)}
        settled = await answer(hf, tool.name, **call, **fillers)
    _assert_taken(settled)


def _is_text(tool: Tool, name: str) -> bool:
    return "string" in str(properties(tool)[name].get("type"))


def _assert_taken(settled: Envelope) -> None:
    assert settled.failure is None or settled.failure.kind is not FailureKind.INVALID_ARGS, settled


@pytest.mark.parametrize("path", NOT_IN_THE_WORKSPACE)
async def test_paths_out_of_scope_are_refused(tool: Tool, workspace: Path, path: str) -> None:
    commands = {use.argument for use in tool.uses if use.capability == "shell.run"}
    files = {use.argument for use in tool.uses if use.capability.startswith("fs.") and not use.find}
    named = sorted(files - commands)
    async with at_work(workspace, tool.name) as (hf, call):
        for argument in named:
            refused = (await answer(hf, tool.name, **{**call, argument: path})).failure
            assert refused is not None, argument
            assert refused.kind in {FailureKind.REJECTED, FailureKind.INVALID_ARGS}


async def test_a_call_that_is_not_wanted_any_more_ends(tool: Tool, workspace: Path) -> None:
    abort = Abort()
    async with at_work(workspace, tool.name) as (hf, call):
        abort.set()
        settled = await hf.settle(tool.name, call, abort=abort)
    assert settled.failure is None or not settled.failure.retryable


async def test_output_is_bounded(tool: Tool, workspace: Path) -> None:
    small = ToolLimitSettings(max_bytes=64, max_items=1)
    limits = LimitSettings(tool={tool.name: small})
    async with at_work(workspace, tool.name, limits) as (hf, call):
        settled = await answer(hf, tool.name, **call)
    assert len(settled.result_json) < 4096


async def test_every_dialect_tells_the_same(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        for sent in (call, {STRAY: 1}):
            settled = await answer(hf, tool.name, **sent)
            for dialect in TEXT_DIALECTS:
                assert parse(render(settled, dialect), dialect).ok == settled.ok
            assert mcp_result.parse(mcp_result.render(settled), ours=True).ok == settled.ok
            message = openai_message.render(settled, tool_call_id="call_1")
            assert openai_message.parse(message).ok == settled.ok


async def test_the_result_fits_what_is_declared_of_it(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        settled = await answer(hf, tool.name, **call)
    assert settled.failure is None, settled.failure
    jsonschema_rs.validate(tool.output_schema or {}, decode_json(settled.result_json))


async def test_what_only_reads_changes_nothing(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        before = _seen(workspace)
        await answer(hf, tool.name, **call)
        assert not tool.read_only or _seen(workspace) == before


def _seen(workspace: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(workspace)): path.read_bytes() if path.is_file() else None
        for path in sorted(workspace.rglob("*"))
    }


@pytest.mark.req("SPEC-CON-25")
@pytest.mark.parametrize("name", ["write", "edit", "apply_patch", "sandbox_write_file", "plan"])
async def test_what_is_written_is_not_sent_back(name: str, workspace: Path) -> None:
    mark = "never-sent-back"
    async with at_work(workspace, name) as (hf, call):
        sent = json.loads(json.dumps(call).replace("kept", mark).replace("b + a", mark))
        sent = {key: mark if value == "b" else value for key, value in sent.items()}
        sent = {key: mark if key == "plan" else value for key, value in sent.items()}
        assert mark in json.dumps(sent)
        settled = await answer(hf, name, **sent)
    assert settled.failure is None, settled.failure
    assert mark.encode() not in settled.result_json


@pytest.mark.parametrize("name", ["complete", "clarify", "share_artifact", "render_chart"])
async def test_an_answer_that_is_one_text_has_the_text_form(name: str, workspace: Path) -> None:
    async with at_work(workspace, name) as (hf, call):
        settled = await answer(hf, name, **call)
    assert settled.failure is None, settled.failure
    said = decode_json(settled.result_json)
    assert isinstance(said, dict)
    assert list(said) == ["text"]
    assert isinstance(said["text"], str)
