"""What `holdfast doctor` finds missing of what servers need."""

import json
from pathlib import Path

import pytest
from command import Cli

SERVERS = {
    "there": {"command": "sh"},
    "gone": {"command": "no-such-server"},
    "off": {"command": "no-such-server", "disabled": True},
    "far": {"type": "http", "url": "https://mcp.example.com/mcp"},
    "odd": {"type": "http", "url": "ftp://x"},
    "unset": {"command": "sh", "env": {"A": "${NO_SUCH_VARIABLE}"}},
}


def found(cli: Cli) -> dict[str, tuple[str, str]]:
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    return {one["name"]: (one["status"], one["detail"]) for one in checks}


def test_what_a_server_needs_and_is_not_there_is_told(cli: Cli, home: Path) -> None:
    (home / "mcp.json").write_text(json.dumps({"mcpServers": SERVERS}), "utf-8")
    told = found(cli)
    connects = "holdfast mcp test {} connects it"
    assert told["mcp.there"] == ("OK", f"to be started as sh; {connects.format('there')}")
    assert told["mcp.gone"] == ("WARN", "there is no program 'no-such-server'")
    assert told["mcp.off"] == ("OK", "disabled")
    assert told["mcp.far"] == ("OK", f"at mcp.example.com; {connects.format('far')}")
    assert told["mcp.odd"] == ("WARN", "its url is no address")
    assert told["mcp.unset"] == ("WARN", "the environment variable NO_SUCH_VARIABLE is not set")


def test_a_server_that_was_left_out_is_told_of(cli: Cli, home: Path) -> None:
    servers = {"old": {"type": "sse", "url": "http://a"}, "new": {"command": "sh", "odd": 1}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    told = [(one["name"], one["status"], one["detail"]) for one in checks]
    assert any(
        (name, status) == ("mcp.old", "WARN") and "the transport sse has been replaced" in detail
        for name, status, detail in told
    )
    assert any(name == "mcp.new" and "'odd' is not known" in detail for name, _, detail in told)


def test_a_table_that_makes_no_server_fails(cli: Cli, home: Path) -> None:
    both = 'command = ["sh"]\nurl = "https://mcp.example.com"\n'
    (home / "config.toml").write_text(f"[mcp.x]\n{both}", "utf-8")
    assert found(cli)["mcp"][0] == "FAIL"


def test_a_table_that_names_no_server_is_told_of(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text("[mcp.x]\nseconds = 3\n", "utf-8")
    told = json.loads(cli("doctor", "--json").out)["checks"]
    assert any("[mcp.x] names no server" in one["detail"] for one in told)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[plugins]\nload = ["no_such_plugin"]', "no installed package announces it"),
        ('[manifest.x]\nfile = "none.json"', "read manifest: "),
    ],
)
def test_other_sources_are_tried(cli: Cli, home: Path, table: str, said: str) -> None:
    (home / "config.toml").write_text(table, "utf-8")
    status, detail = found(cli)["configuration"]
    assert status == "FAIL"
    assert said in detail
