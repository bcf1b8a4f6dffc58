"""How much of its context a model is given of what, in tokens by estimate."""

from collections.abc import Iterable, Mapping

import msgspec

from holdfast.agent.context.history import HistoryCounts, Selection, all_told
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


class Frame(msgspec.Struct, frozen=True):
    """What stands around the conversation and seldom changes, so that it is measured once."""

    prompt: PromptFootprint
    tools: tuple[Measured, ...] = ()
    schema_tokens: int = 0
    """How many tokens all tools cost by being offered."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.prompt.estimated_tokens + self.schema_tokens


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


def frame_of(sections: Iterable[tuple[str, str]], tools: Iterable[ModelTool]) -> Frame:
    """Measure the parts of a system prompt, as names and texts, and the tools."""
    measured = tuple(Measured(name, tokens_of(text)) for name, text in sections if text)
    prompt = PromptFootprint(sum(one.estimated_tokens for one in measured), measured)
    offered = tuple(Measured(tool.name, schema_tokens(tool)) for tool in tools)
    return Frame(prompt, offered, sum(tool.estimated_tokens for tool in offered))


def whole_budget(frame: Frame, room: Room, tokens: int, rows: int) -> ContextBudget:
    """The budget of a loop that tells all of its conversation: so many tokens in so many rows."""
    selection = Selection(records=(), counts=all_told(rows), tokens=tokens)
    told = Assembled(sections=(), session_message="", selection=selection)
    return _budget(frame, told, room, selection_budget(room, managed=False))


class PromptNames(msgspec.Struct, frozen=True, kw_only=True):
    """What a system prompt is made of: texts by name."""

    sections: tuple[tuple[str, str], ...] = ()
    bootstrap_files: Mapping[str, str] = {}
    skills: Mapping[str, str] = {}


def with_names(budget: ContextBudget, names: PromptNames) -> ContextBudget:
    """The same budget; what its prompt is made of is named, and counted as before."""
    sections = frame_of(names.sections, ()).prompt.sections
    prompt = PromptFootprint(budget.system_prompt.estimated_tokens, sections)
    return msgspec.structs.replace(
        budget,
        system_prompt=prompt if sections else budget.system_prompt,
        bootstrap_files=_measured(names.bootstrap_files),
        skills=_largest(_measured(names.skills)),
    )


def context_budget(assembled: Assembled, room: Room, selection_tokens: int) -> ContextBudget:
    """Count it all; ``selection_tokens``: what selected text may have."""
    frame = frame_of(assembled.sections, assembled.tools)
    return _budget(frame, assembled, room, selection_tokens)


def _budget(frame: Frame, assembled: Assembled, room: Room, selection_tokens: int) -> ContextBudget:
    message = tokens_of(assembled.session_message) if assembled.session_message else 0
    selected = assembled.selection.tokens
    total = frame.tokens + message + selected
    return ContextBudget(
        context_selection_budget_tokens=selection_tokens,
        estimated_selected_text_tokens=selected,
        estimated_tool_schema_tokens=frame.schema_tokens,
        estimated_total_runtime_tokens=total,
        selection_headroom_tokens=max(selection_tokens - selected, 0),
        window_tokens=room.window,
        window_headroom_tokens=max(room.limit - total, 0),
        system_prompt=frame.prompt,
        session_message=Measured("session_message", message),
        history=assembled.selection.counts,
        bootstrap_files=_measured(assembled.bootstrap_files),
        skills=_largest(_measured(assembled.skills)),
        tools=_largest(frame.tools),
    )


def _measured(texts: Mapping[str, str]) -> tuple[Measured, ...]:
    return tuple(Measured(name, tokens_of(text)) for name, text in texts.items())


def _largest(parts: Iterable[Measured]) -> tuple[Measured, ...]:
    ordered = sorted(parts, key=lambda part: (-part.estimated_tokens, part.name))
    return tuple(ordered[:LARGEST])
