"""Wherever a tool comes from, its calls go one way and its answers have one shape."""

import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import UNRECORDED, opened

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings
from holdfast.contract.requirements import NOTHING_REQUIRED, requirement_set
from holdfast.contract.rules import Rule
from holdfast.envelope.detect import is_error, is_success
from holdfast.envelope.dialects import ok
from holdfast.policy.source_grants import DEFAULT_REQUIREMENTS
from holdfast.runtime.definitions import full_definition, openai_definition

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

RAW = Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py"
PLUGIN = '''
from holdfast import tool

@tool
def of_plugin(text: str = "") -> dict[str, str]:
    """Answer, or fail."""
    if text == "fail":
        raise ValueError("it broke")
    return {"text": text}
'''
PROGRAM = """#!/bin/bash
told=$(cat)
[[ $told == *fail* ]] && { echo '{"error":"it broke"}' >&2; exit 1; }
echo '{"text":"hello"}'
"""
ENTRY = {"name": "of_manifest", "command": ["./tools/bin/of_manifest"]}


@tool
def of_agent(text: str = "") -> dict[str, str]:
    """Answer, or fail."""
    if text == "fail":
        raise ValueError("it broke")
    return {"text": text}


@asynccontextmanager
async def from_everywhere(folder: Path) -> AsyncGenerator[Holdfast]:
    """A session with a tool of every source."""
    workspace = folder / "ws"
    workspace.mkdir()
    (workspace / "hello.txt").write_text("hello", "utf-8")
    (folder / "plugin.py").write_text(PLUGIN, "utf-8")
    shutil.copy(RAW, folder / "server.py")
    program = folder / "tools" / "bin" / "of_manifest"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM, "utf-8")
    program.chmod(0o755)
    (folder / "tools.json").write_text(json.dumps({"tools": [ENTRY]}), "utf-8")
    tables = {
        "plugins": {"load": [f"{folder}/"]},
        "manifest": {"mine": {"file": str(folder / "tools.json")}},
        "mcp": {"raw": {"command": [sys.executable, str(folder / "server.py")]}},
    }
    settings = msgspec.structs.replace(msgspec.convert(tables, Settings), store=UNRECORDED.store)
    rule = Rule(permission="mcp:*", pattern="*", action="allow", scope="project", source="a test")
    session = opened(workspace, "host", tools=[of_agent], settings=settings, rules=[rule])
    async with session as hf:
        yield hf


GOOD = {
    "read": {"path": "hello.txt"},
    "file_read": {"path": "hello.txt"},
    "of_agent": {"text": "hello"},
    "of_plugin": {"text": "hello"},
    "of_manifest": {"text": "hello"},
    "raw_echo": {"text": "hello"},
}
BAD = {
    "read": {"path": "nothing.txt"},
    "file_read": {"path": "nothing.txt"},
    "sandbox_exec": {"command": 5},
    "of_agent": {"text": "fail"},
    "of_plugin": {"text": "fail"},
    "of_manifest": {"text": "fail"},
    "raw_fail": {},
}


@pytest.mark.req("OSA-GEN-01", "OSA-GEN-02", "SPEC-ENV-07")
async def test_every_source_answers_in_one_shape(tmp_path: Path) -> None:
    async with from_everywhere(tmp_path) as hf:
        done = {name: await hf.settle(name, sent) for name, sent in GOOD.items()}
        failed = {name: await hf.settle(name, sent) for name, sent in BAD.items()}
    for name, envelope in done.items():
        text = ok.render(envelope)
        wire: dict[str, Any] = json.loads(text)
        assert set(wire) == {"ok", "result", "tool", "metadata"}, name
        assert (wire["ok"], wire["tool"], wire["result"]["text"]) == (True, name, "hello")
        assert set(wire["metadata"]) == {"duration_ms"}
        assert is_success(text)
        assert not is_error(text)
    for name, envelope in failed.items():
        text = ok.render(envelope)
        wire = json.loads(text)
        assert {"ok", "kind", "message", "retryable", "tool", "metadata"} <= set(wire), name
        assert (wire["ok"], wire["tool"]) == (False, name)
        assert is_error(text)
        assert not is_success(text)
    broken = {name: failed[name].failure for name in BAD if name.startswith(("of_", "raw_"))}
    assert {one.kind.value for one in broken.values() if one} == {"execution_error"}
    assert all("it broke" in one.message for one in broken.values() if one)


@pytest.mark.req("SPEC-CON-27")
async def test_what_a_source_leaves_open_has_its_documented_default(tmp_path: Path) -> None:
    async with from_everywhere(tmp_path) as hf:
        tools = {one.name: one for one in hf.tools}
    assert tools["of_manifest"].requires == requirement_set({"fs": {"read": ["{workspace}/**"]}})
    assert tools["of_manifest"].requires == DEFAULT_REQUIREMENTS["manifest"]
    assert tools["raw_echo"].requires == NOTHING_REQUIRED
    assert tools["of_plugin"].requires == NOTHING_REQUIRED
    bare = tools["of_manifest"]
    assert (bare.description, bare.input_schema) == (None, {})
    assert openai_definition(bare) == {"type": "function", "function": {"name": "of_manifest"}}
    assert "description" not in full_definition(bare)
