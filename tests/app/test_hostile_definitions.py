"""What servers say of their tools cannot hold a session up, take names away or show a secret."""

import json
from pathlib import Path
from typing import Any

import pytest
from app.servers_kit import configured, server, session
from tool_kit import failure, result

from holdfast.app.source_settings import McpSettings
from holdfast.contract.rules import Rule
from holdfast.sources.mcp.results import LONGEST_MESSAGE
from holdfast.sources.mcp.secrets import secrets_of
from holdfast.sources.mcp.setup import ServerSetup

pytestmark = pytest.mark.anyio

SECRET = "sk-hunter2-0123456789-abcdef"
SCRIPT = """
import json, sys
told = json.loads(sys.argv[1])
for line in sys.stdin:
    sent = json.loads(line)
    if "id" not in sent:
        continue
    result = {"tools": told["tools"]}
    if sent["method"] == "initialize":
        info = {"name": "listing", "version": "1"}
        able = {"tools": {}}
        result = {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}
    if sent["method"] == "tools/call":
        result = told["answer"]
    print(json.dumps({"jsonrpc": "2.0", "id": sent["id"], "result": result}), flush=True)
"""
OPEN: dict[str, Any] = {"type": "object"}


def listing(workspace: Path, *tools: Any, answer: Any = None, **more: object) -> McpSettings:
    script = workspace.parent / "listing_server.py"
    script.write_text(SCRIPT, "utf-8")
    return server(script, json.dumps({"tools": tools, "answer": answer}), **more)


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OPEN, **more}


@pytest.mark.parametrize(
    "argument",
    [
        f"--env=GITHUB_TOKEN={SECRET}",
        f"--header=Authorization: Bearer {SECRET}",
        f'--config={{"apiKey":"{SECRET}","other":1}}',
        f"GITHUB_TOKEN={SECRET} exec server",
        f"--env=A_TOKEN='{SECRET}'",
    ],
)
def test_a_secret_is_known_however_a_command_line_spells_it(argument: str) -> None:
    setup = ServerSetup(name="x", command="docker", args=("run", argument))
    assert SECRET in secrets_of(setup, {})


def doubling(levels: int) -> dict[str, Any]:
    below = {
        f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**below, f"a{levels}": OPEN}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"outputSchema": {"type": "object", **doubling(40)}}, "output schema: its references"),
        (
            {
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        f"p{one}": {"type": "string", "pattern": r"(?=\w{100}7)\w"}
                        for one in range(40)
                    },
                }
            },
            "take too long to compile",
        ),
        ({"inputSchema": {"type": "object", "properties": {"a\U000e0041": {}}}}, "nobody sees"),
        ({"outputSchema": {"type": "object", "examples": ["\u3164"]}}, "nobody sees"),
    ],
    ids=["references", "patterns", "hidden name", "hidden value"],
)
async def test_a_schema_that_costs_too_much_is_left_out_and_told(
    workspace: Path, more: dict[str, Any], said: str
) -> None:
    answer: dict[str, Any] = {"content": [], "structuredContent": {}}
    bad = listing(workspace, tool("heavy", **more), tool("fine"), answer=answer)
    async with session(workspace, configured(bad=bad)) as hf:
        (state,) = hf.servers
        assert [one.name for one in hf.tools if one.ownership == "mcp"] == ["bad_fine"]
        assert any(said in remark for remark in state.remarks)


async def test_a_name_that_holds_a_secret_takes_no_other_away(workspace: Path) -> None:
    bad = listing(
        workspace, tool(SECRET), tool("***REDACTED***"), tool("ok"), env={"API_TOKEN": SECRET}
    )
    good = listing(workspace, tool("fine"))
    async with session(workspace, configured(bad=bad, good=good)) as hf:
        names = {one.name for one in hf.tools if one.ownership == "mcp"}
        assert {"good_fine", "bad_ok"} <= names
        assert len(names) == 3
        assert SECRET not in str(hf.servers)


async def test_a_rule_about_a_tool_that_ships_is_about_no_servers_tool(workspace: Path) -> None:
    answer = {"content": [{"type": "text", "text": "ran"}]}
    repo = listing(workspace, tool("clone"), answer=answer)
    rule = Rule(
        permission="repo_clone", pattern="*", action="deny", scope="project", source="a test"
    )
    async with session(workspace, configured(repo=repo), rules=[rule]) as hf:
        (name,) = (one.name for one in hf.tools if one.ownership == "mcp")
        assert name.startswith("repo_clone__")
        assert await result(hf, name) == {"text": "ran"}


async def test_a_secret_that_is_cut_is_not_shown_in_part(workspace: Path) -> None:
    text = "x" * (LONGEST_MESSAGE - 15) + SECRET
    answer = {"isError": True, "content": [{"type": "text", "text": text}]}
    bad = listing(workspace, tool("fails"), answer=answer, env={"API_TOKEN": SECRET})
    async with session(workspace, configured(bad=bad)) as hf:
        said = (await failure(hf, "bad_fails")).message
    assert "sk-hunter" not in said
    assert said.endswith("***REDACTED***…")
