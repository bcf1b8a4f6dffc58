"""The calls of one session as an editor sees them: one card each, from its first letter to its end.

A call that a model is still writing has no name here yet. Its card keeps the name that it was begun
under. What else happens in a run is not known here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
)
from anyio import Event

from holdfast.agent.replies import TurnCall
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import Tool
from holdfast.surfaces.acp.kinds import kind_of
from holdfast.surfaces.acp.results import Settled
from holdfast.surfaces.acp.texts import content, fenced_end
from holdfast.surfaces.acp.titles import arguments_in, locations_of, title_of

Update: TypeAlias = ToolCallStart | ToolCallProgress
Content: TypeAlias = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

NOT_WHOLE = "The call was not whole, and was not made."
_MOST_LINES = 200
"""Of what is told of work below a call."""


class Card(msgspec.Struct):
    """A call as it is shown."""

    id: str
    """What the editor knows it by."""
    tool: str
    title: str
    kind: ToolKind
    arguments: JsonObject
    raw: JsonValue
    """The arguments as they are told."""
    has_begun: bool = False
    has_ended: bool = False
    printed: str = ""
    """What was told last of what it prints."""
    lines: list[str] = msgspec.field(default_factory=list[str])
    """What was done below it."""
    diffs: list[FileEditToolCallContent] = msgspec.field(
        default_factory=list[FileEditToolCallContent]
    )
    """What it is to change, as far as somebody was shown it."""


class Calls:
    """Knows every call that was told of."""

    def __init__(self, tool: Callable[[str], Tool | None], workspace: str | None) -> None:
        """``tool``: by its name."""
        self._tool = tool
        self._workspace = workspace
        self._written: dict[int, str] = {}
        """Cards of calls that the model is writing, by their places in its reply."""
        self._named: dict[str, str] = {}
        """The names of cards, by calls, where they are others."""
        self._cards: dict[str, Card] = {}
        self._asked: dict[str, Event] = {}
        self._begun = 0

    def __getitem__(self, call_id: str) -> Card:
        return self._cards[call_id]

    def get(self, call_id: str) -> Card | None:
        """The card of a call, if there is one."""
        return self._cards.get(call_id)

    def open_cards(self) -> list[Card]:
        """Those that have begun and not ended."""
        return [one for one in self._cards.values() if one.has_begun and not one.has_ended]

    async def shown(self, call_id: str) -> Card:
        """The card of a call, once the editor has been told of it."""
        while call_id not in self._cards:
            await self._asked.setdefault(call_id, Event()).wait()
        return self._cards[call_id]

    def writes(self, index: int, name: str, prefix: str) -> Iterator[Update]:
        """The model writes a call; only its first piece is told."""
        if index in self._written:
            return
        self._begun += 1
        self._written[index] = card = f"{prefix}_{self._begun}"
        kind = kind_of(name, self._tool(name))
        yield ToolCallStart(
            session_update="tool_call",
            tool_call_id=card,
            title=name or "call",
            kind=kind,
            status="pending",
        )

    def whole(self, calls: Sequence[TurnCall]) -> Iterator[Update]:
        """The reply is whole: these are its calls. What is no call after all has failed."""
        places = sorted(self._written)
        for place, call in zip(places, calls, strict=False):
            self._named[call.id] = self._written.pop(place)
        yield from self.dropped()

    def dropped(self) -> Iterator[Update]:
        """What the model was writing comes to nothing."""
        left, self._written = self._written, {}
        for card in left.values():
            yield _progress(card, status="failed", content=[content(NOT_WHOLE)])

    def asked(
        self, call_id: str, tool: str, arguments: str, whose: str | None = None
    ) -> Iterator[Update]:
        """A call arrived. ``whose``: it is one of a subagent."""
        read = arguments_in(arguments)
        given = {} if read is None else read
        called = title_of(tool, given)
        title = called if whose is None else f"{whose}: {called}"
        known = self._named.pop(call_id, None)
        card = Card(
            id=known or call_id,
            tool=tool,
            title=title,
            kind=kind_of(tool, self._tool(tool)),
            arguments=given,
            raw=arguments if read is None else read,
        )
        self._cards[call_id] = card
        told = ToolCallStart(
            session_update="tool_call",
            tool_call_id=card.id,
            title=title,
            kind=card.kind,
            status="pending",
            raw_input=card.raw,
            locations=locations_of(given, self._workspace) or None,
        )
        if known is None:
            yield told
        else:
            fields = told.model_dump(exclude={"session_update", "content", "raw_output"})
            yield ToolCallProgress(session_update="tool_call_update", **fields)
        self._asked.pop(call_id, Event()).set()

    def begun(self, call_id: str) -> Iterator[Update]:
        """It runs."""
        card = self._cards.get(call_id)
        if card is not None and not card.has_ended:
            card.has_begun = True
            yield ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=card.id,
                status="in_progress",
                raw_input=card.raw,
            )

    def settled(self, call_id: str, end: Settled, more: Sequence[Content]) -> Iterator[Update]:
        """It has its answer. ``more``: what tells more than the answer."""
        card = self._cards.get(call_id)
        if card is None:
            return
        card.has_ended = True
        shown: list[Content] = [*more, *self._below(card), *end.content]
        yield ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=card.id,
            status=end.status,
            raw_output=end.raw_output,
            content=shown or None,
        )

    def says(self, call_id: str, text: str) -> Iterator[Update]:
        """A sign of life of it."""
        card = self._cards.get(call_id)
        if card is not None and not card.has_ended and not card.printed:
            yield _progress(card.id, content=[*card.diffs, *self._below(card), content(text)])

    def prints(self, call_id: str, text: str) -> Iterator[Update]:
        """What its command has printed so far, the end of it."""
        card = self._cards.get(call_id)
        if card is None or card.has_ended or not text.strip() or text == card.printed:
            return
        card.printed = text
        yield _progress(card.id, content=[content(fenced_end(text))])

    def does_below(self, card: Card, line: str) -> Iterator[Update]:
        """Something was done in work that it handed on."""
        card.lines.append(line)
        del card.lines[:-_MOST_LINES]
        if not card.has_ended:
            yield _progress(card.id, content=self._below(card))

    def _below(self, card: Card) -> list[Content]:
        return [content("\n".join(f"- {one}" for one in card.lines))] if card.lines else []


def _progress(card: str, **more: object) -> ToolCallProgress:
    fields: dict[str, object] = {"session_update": "tool_call_update", "tool_call_id": card, **more}
    return ToolCallProgress.model_validate(fields)
