"""Tools of MCP servers as flow classes."""

import shutil
import sys
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest
from sources.mcp.mcp_kit import RAW
from support import settle
from tool_kit import UNRECORDED

from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    ToolError,
    Unavailable,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule
from holdfast.flow import FlowToolCall, mcp_flow_tools, tool_from_flow
from holdfast.testing.fakes import FakeFlowSession

pytestmark = pytest.mark.timeout(60)


def rule(permission: str, action: str) -> Rule:
    return msgspec.convert(
        {
            "permission": permission,
            "pattern": "*",
            "action": action,
            "scope": "project",
            "source": "a test",
        },
        Rule,
    )


@pytest.fixture
def tools(tmp_path: Path) -> Generator[dict[str, FlowToolCall]]:
    """The flow tools of a session that has a server of two."""
    workspace = tmp_path / "ws"
    workspace.mkdir()
    shutil.copy(RAW, tmp_path / "server.py")
    raw = {"command": [sys.executable, str(tmp_path / "server.py")], "era": "2025-11-25"}
    dies = {**raw, "command": [*raw["command"], "plain"]}
    settings = msgspec.convert({"mcp": {"raw": raw, "other": dies}}, Settings)
    with Holdfast(
        profile="locked",
        workspace=workspace,
        settings=msgspec.structs.replace(settings, store=UNRECORDED.store),
        surroundings=Surroundings(data_home=tmp_path / "data"),
        rules=[rule("mcp:*", "allow"), rule("mcp:raw:slow", "deny")],
    ) as session:
        yield {one.name: one for one in mcp_flow_tools(session)}


@pytest.mark.req("RATH-FTC-11")
def test_a_tool_of_a_program_is_a_flow_tool_whose_text_is_joined(
    tools: dict[str, FlowToolCall],
) -> None:
    echo = tools["raw_echo"]
    assert isinstance(echo, FlowToolCall)
    assert not echo.parallel_safe
    assert echo.resource_key({}) == ("global",)
    assert echo.description == "A tool of the tests."
    assert echo.parameters["type"] == "object"
    assert "read" not in tools
    session = FakeFlowSession()
    assert echo(session, {"text": "hi"}) == {"text": "hi"}
    undecoded = "[image/png: its base64 cannot be decoded]"
    assert tools["raw_mixed"](session, {}) == {"text": f"see\n{undecoded}"}
    assert tools["raw_both"](session, {}) == {"text": '{"ok":true}'}


def test_its_calls_are_judged_and_fail_like_others(tools: dict[str, FlowToolCall]) -> None:
    session = FakeFlowSession()
    wanted: list[tuple[str, type[ToolError], str]] = [
        ("raw_fail", OperationFailed, "it broke"),
        ("raw_params", InvalidArguments, "too short"),
        ("raw_slow", PolicyDenied, "rule"),
        ("other_die", Unavailable, "no more paper"),
    ]
    for name, kind, said in wanted:
        with pytest.raises(kind, match=said):
            tools[name](session, {})


async def test_it_is_a_tool_of_another_session(tools: dict[str, FlowToolCall]) -> None:
    session = FakeFlowSession()
    answer = await settle(tool_from_flow(tools["raw_echo"], session), {"text": "hi"})
    assert answer.result == {"text": "hi"}
    refused = await settle(tool_from_flow(tools["raw_fail"], session), {})
    assert refused.failure is not None
    assert refused.failure.kind == FailureKind.EXECUTION_ERROR
