"""The pages on managed tools: every call they show can be made, and what they name is there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tool_kit import opened

from holdfast.contract.call import Prepared, ToolCall

pytestmark = pytest.mark.anyio

PAGES = sorted((Path(__file__).parents[2] / "docs" / "managed").glob("*.md"))
BLOCK = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (`[a-z_`, ]+`) \|([^|]*)\|", re.MULTILINE)
NAME = re.compile(r"`([a-z_]+)`")
ARGUMENTS = re.compile(r"\| tools? \| arguments")


def values(text: str) -> Iterator[Any]:
    """One JSON value after the other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def calls_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        told = cast("dict[str, Any]", value)
        if "tool" in told:
            yield told
        for one in told.values():
            yield from calls_in(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from calls_in(one)


async def test_every_call_that_is_shown_can_be_made(tmp_path: Path) -> None:
    shown = [
        (page.name, call)
        for page in PAGES
        for block in BLOCK.findall(page.read_text("utf-8"))
        for value in values(block)
        for call in calls_in(value)
    ]
    assert {name for name, _ in shown} >= {"memory.md", "resources.md", "retrieval.md", "shell.md"}
    async with opened(tmp_path, "managed") as hf:
        for name, call in shown:
            plan = hf.parts.catalog.plan(call["tool"])
            assert plan is not None, (name, call)
            made = ToolCall(
                id="c", tool=call["tool"], arguments=call["args"], session_id=hf.session_id
            )
            found = plan.prepare(made)
            assert isinstance(found, Prepared), (name, call, found)
            assert found.repairs == (), (name, call)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_every_tool_in_a_table_is_there_with_its_arguments(
    tmp_path: Path, page: Path
) -> None:
    text = page.read_text("utf-8")
    async with opened(tmp_path, "managed") as hf:
        tools = {one.name: one for one in hf.tools}
        for row in ROW.finditer(text):
            header = text[: row.start()].rpartition("\n\n")[2]
            if not ARGUMENTS.match(header):
                continue
            for name in NAME.findall(row.group(1)):
                assert name in tools, row.group(0)
                declared: Any = tools[name].input_schema.get("properties", {})
                arguments = NAME.findall(row.group(2).partition("those of")[0])
                assert {*arguments} <= {*declared}, row.group(0)
