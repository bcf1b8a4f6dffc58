"""How much of its context a model is given of what, in tokens by estimate."""

from collections.abc import Iterable, Mapping

import msgspec

from holdfast.agent.context.entries import row_tokens
from holdfast.agent.context.history import HistoryCounts, Selection
from holdfast.contract.chunks import Chunk
from holdfast.contract.json_value import encode_json
from holdfast.contract.model import ModelTool
from holdfast.contract.tokens import tokens_of

MANAGED_SELECTION = 800
"""For selected conversation text, in the managed profile."""
LARGEST = 5
_FREE_FOR_A_REPLY = 20_000


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How much fits."""

    window: int
    """How many tokens a request and its reply may hold together."""
    max_output: int
    """How many of them a reply may have."""

    @property
    def limit(self) -> int:
        """How many tokens may be used before something has to go: the window less what a reply
        needs, of which the first 20,000 count; half the window where nothing would be left."""
        limit = self.window - min(_FREE_FOR_A_REPLY, self.max_output)
        return limit if limit > 0 else max(self.window // 2, 1)


class Measured(msgspec.Struct, frozen=True):
    """A part, and its size."""

    name: str
    estimated_tokens: int


class PromptFootprint(msgspec.Struct, frozen=True):
    """The system prompt, part by part."""

    estimated_tokens: int
    sections: tuple[Measured, ...]


class ContextBudget(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a request, and how much more could."""

    context_selection_budget_tokens: int
    estimated_selected_text_tokens: int
    estimated_tool_schema_tokens: int
    estimated_total_runtime_tokens: int
    """Everything: prompt, message, selected text and tool schemas."""
    selection_headroom_tokens: int
    """Of the budget for selected text; never below 0. Tool schemas are not of it."""
    window_tokens: int
    window_headroom_tokens: int
    """Of the model's window, tool schemas counted and a reply left free; never below 0."""
    system_prompt: PromptFootprint
    session_message: Measured
    history: HistoryCounts
    bootstrap_files: tuple[Measured, ...]
    skills: tuple[Measured, ...]
    """The largest."""
    tools: tuple[Measured, ...]
    """The largest schemas."""


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a request."""

    sections: tuple[tuple[str, str], ...]
    """Of the system prompt, as names and texts."""
    session_message: str
    selection: Selection
    tools: tuple[ModelTool, ...] = ()
    skills: Mapping[str, str] = {}
    """By name: what the prompt says of one."""
    bootstrap_files: Mapping[str, str] = {}
    """By path: what was taken of one. They are a part of the sections, and not counted twice."""


def selection_budget(room: Room, *, managed: bool, configured: int | None = None) -> int:
    """For selected conversation text: as configured, 800 in the managed profile, else what the
    model's window has room for."""
    if configured is not None:
        return max(configured, 0)
    return MANAGED_SELECTION if managed else room.limit


def schema_tokens(tool: ModelTool) -> int:
    """How many tokens a tool costs by being offered."""
    wire = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return tokens_of(encode_json(wire))


def request_tokens(rows: Iterable[Chunk], tools: Iterable[ModelTool] = ()) -> int:
    """How many tokens a request is: its rows, the system prompt among them, and its tools."""
    return sum(map(row_tokens, rows)) + sum(map(schema_tokens, tools))


def context_budget(assembled: Assembled, room: Room, selection_tokens: int) -> ContextBudget:
    """Count it all; ``selection_tokens``: what selected text may have."""
    sections = tuple(Measured(name, tokens_of(text)) for name, text in assembled.sections if text)
    prompt = sum(section.estimated_tokens for section in sections)
    message = tokens_of(assembled.session_message) if assembled.session_message else 0
    selected = assembled.selection.tokens
    tools = [Measured(tool.name, schema_tokens(tool)) for tool in assembled.tools]
    schemas = sum(tool.estimated_tokens for tool in tools)
    total = prompt + message + selected + schemas
    return ContextBudget(
        context_selection_budget_tokens=selection_tokens,
        estimated_selected_text_tokens=selected,
        estimated_tool_schema_tokens=schemas,
        estimated_total_runtime_tokens=total,
        selection_headroom_tokens=max(selection_tokens - selected, 0),
        window_tokens=room.window,
        window_headroom_tokens=max(room.limit - total, 0),
        system_prompt=PromptFootprint(prompt, sections),
        session_message=Measured("session_message", message),
        history=assembled.selection.counts,
        bootstrap_files=_measured(assembled.bootstrap_files),
        skills=_largest(_measured(assembled.skills)),
        tools=_largest(tools),
    )


def _measured(texts: Mapping[str, str]) -> tuple[Measured, ...]:
    return tuple(Measured(name, tokens_of(text)) for name, text in texts.items())


def _largest(parts: Iterable[Measured]) -> tuple[Measured, ...]:
    ordered = sorted(parts, key=lambda part: (-part.estimated_tokens, part.name))
    return tuple(ordered[:LARGEST])
