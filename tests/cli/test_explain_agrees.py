"""What `policy explain` says of a call is what `call` does with it."""

import json
from pathlib import Path
from typing import cast

import pytest
from command import Cli

TOOLS = """
from holdfast import tool

@tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
def sh(command: str) -> str:
    'Run a command (not really).'
    return command

@tool(requires={"fs": {"write": ["notes/**"]}}, uses={"path": "fs.write"})
def put(path: str) -> str:
    'Write (not really).'
    return path

@tool(ownership="custom")
def theirs(text: str = "") -> str:
    'The application does it.'
    return text

@tool(ownership="mcp")
def served(text: str = "") -> str:
    'A server does it.'
    return text

@tool(permission_policy="always_ask")
def careful(text: str = "") -> str:
    'Ask first.'
    return text

@tool
def plain(text: str = "") -> str:
    'Nothing special.'
    return text
"""
RULES = """
[[rule]]
permission = "sh"
pattern = "git push *"
action = "deny"

[[rule]]
permission = "sh"
pattern = "npm *"
action = "ask"
"""

CALLS: list[tuple[str, dict[str, object]]] = [
    ("sh", {"command": "git status"}),
    ("sh", {"command": "git status; git push"}),
    ("sh", {"command": "npm ci"}),
    ("sh", {"command": "rm $x"}),
    ("sh", {"command": "rm -rf /"}),
    ("sh", {"command": "git reset --hard"}),
    ("sh", {"command": "x" * 9_000}),
    ("sh", {"command": ""}),
    ("sh", {}),
    ("put", {"path": "notes/a"}),
    ("put", {"path": "a"}),
    ("put", {"path": 7}),
    ("put", {"path": {"a": 1}}),
    ("theirs", {}),
    ("theirs", {"text": [1]}),
    ("served", {}),
    ("careful", {}),
    ("plain", {}),
    ("plain", {"text": "y" * 20_000}),
    ("nope", {}),
]


@pytest.fixture
def file(tmp_path: Path, home: Path) -> str:
    (home / "policy.toml").write_text(RULES, "utf-8")
    path = tmp_path / "many.py"
    path.write_text(TOOLS, "utf-8")
    return str(path)


def _called(cli: Cli, name: str, text: str, words: list[str]) -> str:
    """How the call ended where nobody is there to be asked."""
    envelope = json.loads(cli("call", name, "--json", text, *words).out)
    if envelope["ok"]:
        return "allow"
    return "deny" if envelope["kind"] == "rejected" else cast("str", envelope["message"])


def _explained(cli: Cli, name: str, text: str, words: list[str]) -> str:
    answered = cli("policy", "explain", name, "--arguments", text, "--json", *words)
    found = json.loads(answered.out)
    if answered.status == 2:
        return cast("str", found["error"]).partition("before it is judged: ")[2]
    assert answered.status == (0 if found["verdict"] == "allow" else 3)
    return cast("str", found["unattended"])


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_call_is_explained_as_it_is_settled(
    cli: Cli, file: str, name: str, arguments: dict[str, object]
) -> None:
    words = ["--from", file, "--set", "limits.argument_bytes=10000"]
    text = json.dumps(arguments)
    assert _explained(cli, name, text, words) == _called(cli, name, text, words)


@pytest.mark.parametrize("text", ["{", "", "[]", "null", '{"text": "a"} {}'])
def test_text_that_is_no_call_is_refused_alike(cli: Cli, file: str, text: str) -> None:
    for name in ("plain", "nope"):
        words = ["--from", file]
        assert _explained(cli, name, text, words) == _called(cli, name, text, words)
