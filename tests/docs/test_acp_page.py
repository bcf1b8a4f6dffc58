"""What the page about editors shows works: settings that can be copied, and commands that parse."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from holdfast.surfaces.acp.kinds import KINDS
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.verbs import BY_NAME

PAGE = (Path(__file__).parents[2] / "docs" / "acp.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _blocks(language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(PAGE) if name == language]


def _parsed(words: list[str]) -> Any:
    verb = BY_NAME[words[0]]
    return parser_of(verb, module_of(verb)).parse_intermixed_args(words[1:])


def test_the_settings_of_an_editor_start_the_agent() -> None:
    (settings,) = map(json.loads, _blocks("json"))
    started = settings["agent_servers"]["holdfast"]
    assert started["type"] == "custom"
    assert started["command"].endswith("/holdfast")
    assert _parsed(started["args"]).model == "anthropic:claude-sonnet-4-5"


def test_the_client_without_an_editor_starts_the_agent() -> None:
    lines = [line for block in _blocks("console") for line in block.splitlines() if "acpx" in line]
    (words,) = [shlex.split(line.removeprefix("$ ")) for line in lines]
    program, *arguments = shlex.split(words[words.index("--agent") + 1])
    assert program == "holdfast"
    assert _parsed(arguments).model == "anthropic:claude-sonnet-4-5"


@pytest.mark.parametrize("tool", [*KINDS, "apply_patch"])
def test_the_page_names_the_kind_of_a_tool(tool: str) -> None:
    kind = KINDS.get(tool, "edit")
    (sentence,) = re.findall(rf"`{kind}`\s+for\s+([^;.]*)", PAGE)
    assert f"`{tool}`" in sentence
