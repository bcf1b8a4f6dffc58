"""Rows as Anthropic's Messages, tools as they are told there, and what is to be cached.

Roles take turns there: what one side says in a row is one message, results of tools first. What
only one step is told is the last text of the person's last message. A row that was sent before is
the same bytes again; the marks of what to cache move along, and are no part of what is cached.
"""

from typing import Literal, NamedTuple, cast

from holdfast.agent.models.history import offered, sent_id, sent_name, sent_object
from holdfast.agent.models.responses_items import with_kept
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import AssistantChunk, Chunk, SystemChunk, ToolResultChunk, UserChunk
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import ModelRequest, ModelTool

OPAQUE = "anthropic"
"""Under which name of a row its thinking is kept."""
_MARK: JsonObject = {"type": "ephemeral"}
_OPENING = "Begin."
"""What a person says where nobody did: the first message has to be one's."""


class _Said(NamedTuple):
    """One message that is being put together."""

    role: Literal["user", "assistant"]
    blocks: list[JsonObject]
    results: list[JsonObject]
    """Of tools, which come first."""

    def message(self) -> JsonObject:
        content = cast("list[JsonValue]", [*self.results, *self.blocks])
        return {"role": self.role, "content": content}


def anthropic_tool(tool: ModelTool) -> JsonObject:
    """A tool as it is sent."""
    sent: JsonObject = {"name": tool.name}
    if tool.description is not None:
        sent["description"] = tool.description
    return {**sent, "input_schema": tool.schema}


def anthropic_body(setup: ModelSetup, request: ModelRequest) -> JsonObject:
    """All that is asked."""
    system, rows = _split(request.rows)
    said = _together(rows, offered(request))
    if setup.cache and said:
        _mark(said[-1].blocks or said[-1].results)
    _tell(said, request.notices)
    body: JsonObject = {
        "model": setup.model,
        "max_tokens": request.max_output_tokens or setup.max_output_tokens,
    }
    if system:
        body["system"] = cast("list[JsonValue]", _marked(system, wanted=setup.cache))
    if request.tools:
        tools = [anthropic_tool(tool) for tool in request.tools]
        body["tools"] = cast("list[JsonValue]", _marked(tools, wanted=setup.cache))
    body["messages"] = [one.message() for one in said]
    if setup.temperature is not None:
        body["temperature"] = setup.temperature
    body["stream"] = setup.stream
    return body


def _split(rows: tuple[Chunk, ...]) -> tuple[list[JsonObject], tuple[Chunk, ...]]:
    """What an agent is to be stands apart, as far as it comes first."""
    first = 0
    while first < len(rows) and isinstance(rows[first], SystemChunk):
        first += 1
    texts = [row.content for row in rows[:first] if isinstance(row, SystemChunk)]
    return [_text(text) for text in texts if text], rows[first:]


def _together(rows: tuple[Chunk, ...], known: frozenset[str]) -> list[_Said]:
    said: list[_Said] = []
    for row in rows:
        role = "assistant" if isinstance(row, AssistantChunk) else "user"
        blocks, results = _blocks(row, known)
        if not blocks and not results:
            continue
        if not said and role == "assistant":
            said.append(_Said("user", [_text(_OPENING)], []))
        if not said or said[-1].role != role:
            said.append(_Said(role, [], []))
        said[-1].blocks.extend(blocks)
        said[-1].results.extend(results)
    return said or [_Said("user", [_text(_OPENING)], [])]


def _tell(said: list[_Said], notices: tuple[str, ...]) -> None:
    """Put what is only for this step behind everything."""
    if not notices:
        return
    if said[-1].role == "assistant":
        said.append(_Said("user", [], []))
    said[-1].blocks.append(_text("\n\n".join(notices)))


def _blocks(row: Chunk, known: frozenset[str]) -> tuple[list[JsonObject], list[JsonObject]]:
    match row:
        case UserChunk():
            return _texts(row.content), []
        case SystemChunk():  # later than the first ones: taken to them, it would change what was
            return _texts(row.content and f"[system]\n{row.content}"), []
        case ToolResultChunk():
            return [], [_result(row)]
        case AssistantChunk():
            said = [*_texts(row.content or ""), *_uses(row, known)]
            return with_kept(said, row, OPAQUE), []


def _uses(row: AssistantChunk, known: frozenset[str]) -> list[JsonObject]:
    return [
        {
            "type": "tool_use",
            "id": sent_id(call.id),
            "name": sent_name(call.name, known),
            "input": sent_object(call.arguments),
        }
        for call in row.tool_calls or ()
    ]


def _result(row: ToolResultChunk) -> JsonObject:
    used = sent_id(row.tool_call_id)
    return {"type": "tool_result", "tool_use_id": used, "content": row.content}


def _texts(text: str) -> list[JsonObject]:
    """A text as a block; one that says nothing is refused there."""
    return [_text(text)] if text.strip() else []


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _marked(blocks: list[JsonObject], *, wanted: bool) -> list[JsonObject]:
    if wanted:
        _mark(blocks)
    return blocks


def _mark(blocks: list[JsonObject]) -> None:
    """All until here is worth keeping; thinking cannot be marked."""
    if blocks and "thinking" not in str(blocks[-1].get("type")):
        blocks[-1] = {**blocks[-1], "cache_control": _MARK}
