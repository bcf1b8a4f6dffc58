"""A client for the public conformance suite: ``conformance_client.py ... URL``.

It connects to the address as a session would, calls every tool there with arguments that fit, as a
person who takes what is usual, and leaves.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
from sources.mcp.mcp_kit import connected, ports, settled

from holdfast.contract.json_value import JsonObject
from holdfast.contract.person import PersonQuestion, Replies
from holdfast.contract.tool import Tool
from holdfast.sources.mcp.setup import Era, ServerSetup

_USUAL = re.compile(r"\(usually (.*)\)$", re.DOTALL)
_FOCAL = ("json_schema_2020_12_tool",)
_EXAMPLES: dict[str, object] = {
    "string": "text",
    "integer": 3,
    "number": 3,
    "boolean": True,
    "array": [],
    "object": {},
}


class Agreeable:
    """Takes what is usual, and otherwise the first that is offered."""

    async def ask(
        self, questions: Sequence[PersonQuestion], /, *, lasting: bool = False
    ) -> Replies:
        return Replies(answers=tuple(_answer(one) for one in questions), by="suite")


def _answer(question: PersonQuestion) -> tuple[str, ...]:
    usual = _USUAL.search(question.question)
    if usual is not None:
        return tuple(usual.group(1).split(", ")) if question.multi_select else (usual.group(1),)
    return (question.options[0].label if question.options else "text",)


def example(schema: JsonObject) -> JsonObject:
    """Arguments that fit, all of them."""
    properties = cast("dict[str, dict[str, Any]]", schema.get("properties") or {})
    return {name: _value(one) for name, one in properties.items()}


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    return _EXAMPLES.get(kind if isinstance(kind, str) else "string")


def calls_of(tools: tuple[Tool, ...]) -> Iterator[tuple[str, JsonObject]]:
    """What the suite wants to be called, or else every tool once; schemas are handed back."""
    named = {cast("str", one.alias).rpartition(":")[2]: one for one in tools}
    wanted = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls")
    if wanted:
        for one in wanted:
            # A value that is null is left out here: no schema of a server would let it pass.
            given = {key: value for key, value in one["arguments"].items() if value is not None}
            yield named[one["name"]].name, given
        return
    focal = next((one for name, one in named.items() if name in _FOCAL), None)
    for tool in tools:
        sent = example(tool.input_schema)
        if focal is not None and "schema" in sent:
            sent = cast("JsonObject", {"schema": focal.input_schema})
        yield tool.name, sent


async def main(url: str) -> None:
    spoken = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
    era: Era = "2025-11-25" if spoken == "2025-11-25" else "auto"
    setup = ServerSetup(name="suite", url=url, era=era)
    with tempfile.TemporaryDirectory() as state:
        async with connected(ports(Path(state)), setup) as servers:
            (found,) = servers.states()
            sys.stderr.write(f"{found.status} {found.problem} {found.remarks}\n")
            for name, sent in calls_of(servers.tools()):
                answer = await settled(servers, name, sent, person=Agreeable())
                sys.stderr.write(f"{name}: {answer.failure or answer.result}\n")
            if found.status != "connected":
                sys.exit(1)


if __name__ == "__main__":
    anyio.run(main, sys.argv[-1])
