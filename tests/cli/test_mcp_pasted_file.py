"""An `mcp.json` as people paste it: with comments, without its wrapper, or broken."""

import json
import sys
from pathlib import Path

import pytest
from command import Cli

pytestmark = pytest.mark.timeout(90)


def test_comments_and_last_commas_are_read(cli: Cli, home: Path, script: str) -> None:
    command = json.dumps({"command": sys.executable, "args": [script]})
    text = f'{{ // mine\n "servers": {{\n /* one */ "raw": {command}, \n}},\n}}'
    (home / "mcp.json").write_text(text, "utf-8")
    (listed,) = json.loads(cli("mcp", "list", "--json").out)
    assert (listed["name"], listed["status"]) == ("raw", "connected")
    for words in (("add", "x", "--", "sh"), ("remove", "raw")):
        answered = cli("mcp", *words)
        assert answered.status == 2
        assert "it has comments or last commas, which would be lost" in answered.err
    assert (home / "mcp.json").read_text("utf-8") == text


def test_a_mark_at_its_beginning_is_no_comment(cli: Cli, home: Path) -> None:
    (home / "mcp.json").write_text('\ufeff{"mcpServers": {}}', "utf-8")
    assert cli("mcp", "add", "x", "--", "sh").status == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n "mcpServers": {"a" 1}}', "it is no JSON (line 2, column 21: "),
        (b"\xff", "not UTF-8 text"),
    ],
)
def test_what_is_broken_stops_nothing_but_its_servers(
    cli: Cli, home: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    (home / "mcp.json").write_bytes(content)
    (tmp_path / "text").write_text("here", "utf-8")
    called = cli("call", "read", "path=text")
    assert called.status == 0
    assert json.loads(called.out)["ok"]
    assert f"{home / 'mcp.json'}" in called.err
    assert said in called.err
    assert "servers are left out" in called.err
    assert cli("tools").status == 0
    assert cli("mcp", "list").status == 1
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    assert any(one["status"] == "WARN" and said in one["detail"] for one in checks)


def test_servers_without_their_wrapper_are_known(cli: Cli, home: Path) -> None:
    (home / "mcp.json").write_text('{"tiny": {"command": "sh"}}', "utf-8")
    assert 'wrap it in {"mcpServers": ...}' in cli("mcp", "list").err
    (home / "mcp.json").write_text('{"tiny": 1}', "utf-8")
    said = cli("mcp", "list").err
    assert 'there is no "mcpServers" in it' in said
    assert "wrap it" not in said
