"""What every built-in tool owes of its answers, proven for each of them by the same calls."""

import json
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import msgspec
import pytest
from matrix_calls import at_work
from matrix_more import (
    BUILTINS,
    BY_REFERENCE,
    CUT_THEMSELVES,
    FURTHER,
    MUCH,
    each_tool,
)
from tool_kit import answer

from holdfast.app.settings import LimitSettings, ToolLimitSettings
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonValue, decode_json
from holdfast.contract.tool import Tool
from holdfast.envelope.dialects import mcp_result, openai_message, program
from holdfast.envelope.render import TEXT_DIALECTS, TextDialect, parse, render
from holdfast.runtime.definitions import published_results

pytestmark = pytest.mark.anyio

STRAY = "no_such_argument"
BOUND = 4
"""Every tool has more to say than so many bytes."""


@each_tool
async def test_output_is_bounded(tool: Tool, workspace: Path) -> None:
    small = ToolLimitSettings(max_bytes=BOUND, max_items=1)
    limits = LimitSettings(tool={tool.name: small})
    async with at_work(workspace, tool.name, limits) as (hf, call):
        settled = await answer(hf, tool.name, **call)
        assert settled.failure is None, settled.failure
        said = cast("dict[str, Any]", decode_json(settled.result_json))
        if tool.name in CUT_THEMSELVES:
            assert said["truncated"] is True
            assert 0 < len(said["text"].encode()) <= BOUND
        elif tool.name in BY_REFERENCE:
            assert Path(said["path"]).stat().st_size == said["byte_count"] > BOUND
        else:
            assert settled.metadata.truncated
            assert 0 < len(said["head"].encode()) <= BOUND
            kept = Path(settled.metadata.output_path or "").read_bytes()
            assert len(kept) == settled.metadata.output_bytes
            assert kept.startswith(said["head"].encode())
            jsonschema_rs.validate(published_results(tool) or {}, said)


@each_tool
async def test_every_answer_fits_what_is_declared_of_it(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        for further in (call, *FURTHER.get(tool.name, ())):
            pid = call.get("pid")
            sent = {name: pid if value == "{pid}" else value for name, value in further.items()}
            settled = await answer(hf, tool.name, **sent)
            assert settled.failure is None, (sent, settled.failure)
            said = decode_json(settled.result_json)
            if not settled.metadata.truncated:
                jsonschema_rs.validate(tool.output_schema or {}, said)
            jsonschema_rs.validate(published_results(tool) or {}, said)
            assert settled.metadata.truncated is (tool.name == "bash" and MUCH in sent.values())


def test_only_built_in_tools_are_listed() -> None:
    assert {*FURTHER, *CUT_THEMSELVES, *BY_REFERENCE} <= BUILTINS.keys()


@each_tool
async def test_every_dialect_tells_the_same(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        for sent in (call, {STRAY: 1}):
            settled = await answer(hf, tool.name, **sent)
            assert (settled.failure is None) == (sent is call)
            told = msgspec.structs.replace(
                settled, warnings=(*settled.warnings, "careful"), call_id=None
            )
            for dialect in TEXT_DIALECTS:
                _assert_told(told, parse(render(told, dialect), dialect), dialect)
            assert mcp_result.parse(mcp_result.render(told), ours=True) == told
            message = openai_message.render(told, tool_call_id="call_1")
            assert openai_message.parse(message) == msgspec.structs.replace(told, call_id="call_1")


def _assert_told(told: Envelope, read: Envelope, dialect: TextDialect) -> None:
    if dialect in {"ok", "typed"}:
        assert read == told
        return
    # These two have no place for warnings, and `program` none for the kind of a failure.
    if told.failure is None:
        assert read.failure is None
        assert read.result == (_on_one_line(told.result) if dialect == "program" else told.result)
        return
    assert read.failure is not None
    assert read.failure.message == told.failure.message
    assert dialect == "program" or read.failure.kind == told.failure.kind


def _on_one_line(result: JsonValue) -> JsonValue:
    match result:
        case {"text": str() as text} if len(result) == 1:
            return {"text": program.one_line(text)}
        case _:
            return result


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
