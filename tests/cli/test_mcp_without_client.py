"""A plain installation, without the client of MCP servers: all but their tools is there."""

import json
import sys
from pathlib import Path

import pytest
from command import Cli

SAID = "the client of MCP servers is not installed"


@pytest.fixture(autouse=True)
def without_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.startswith("holdfast.sources.mcp.")]:
        if name.rpartition(".")[2] in ("servers", "server", "connection", "stdio"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)


def test_only_the_servers_are_missing(cli: Cli, tmp_path: Path) -> None:
    added = cli("mcp", "add", "raw", "--", "sh")
    assert added.status == 0
    assert f"note: {SAID}; run: pip install 'holdfast[mcp]'" in added.err
    assert cli("mcp", "add", "off", "--", "sh").status == 0
    listed = cli("tools")
    assert listed.status == 0
    assert "read " in listed.out
    assert f"mcp server raw is failed: {SAID}" in listed.err
    (tmp_path / "text").write_text("here", "utf-8")
    assert json.loads(cli("call", "read", "path=text").out)["ok"]
    called = json.loads(cli("call", "raw_echo").out)
    assert (called["kind"], called["retryable"]) == ("unavailable", False)
    assert SAID in called["message"]


def test_a_server_says_itself_what_is_missing(cli: Cli, home: Path) -> None:
    servers = {"raw": {"command": "sh"}, "off": {"command": "sh", "disabled": True}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    tested = cli("mcp", "test", "raw")
    assert tested.status == 1
    assert "pip install 'holdfast[mcp]'" in tested.err
    told = json.loads(cli("mcp", "list", "--json").out)
    assert [(one["name"], one["status"]) for one in told] == [
        ("raw", "failed"),
        ("off", "disabled"),
    ]
    pinned = cli("mcp", "pin", "raw", "--yes")
    assert pinned.status == 2
    assert SAID in pinned.err
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    assert ("FAIL", "mcp", SAID) in [(one["status"], one["name"], one["detail"]) for one in checks]
