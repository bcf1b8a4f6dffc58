"""What tests of marker blocks share: taking one apart as a surface does."""

import json
from typing import Any, NamedTuple

from tool_kit import result

from holdfast.app.holdfast import Holdfast


class Block(NamedTuple):
    header: str
    facts: dict[str, Any]
    lines: list[str]


def taken_apart(text: str, kind: str) -> Block:
    header, start, facts, *lines, end = text.split("\n")
    assert (start, end) == (f"---{kind}_START---", f"---{kind}_END---")
    return Block(header, json.loads(facts), lines)


async def shared(hf: Holdfast, **arguments: object) -> Block:
    found = await result(hf, "share_artifact", **arguments)
    return taken_apart(found["text"], "SHARED_ARTIFACT")


async def drawn(hf: Holdfast, **arguments: object) -> Block:
    found = await result(hf, "render_chart", **arguments)
    return taken_apart(found["text"], "CHART")
