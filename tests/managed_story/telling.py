"""Agents that are programs: each asks for a call, is handed what came of it, and goes on.

What is asked next follows from the conversation alone, so an agent whose program was killed goes on
where it was, whoever asks and however often.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from holdfast.agent.models.replaying import tell
from holdfast.contract.chunks import AskedCall, AssistantChunk, Chunk, ToolResultChunk, UserChunk
from holdfast.contract.json_value import encode_json
from holdfast.contract.model import Heard, ModelReply, ModelRequest
from holdfast.runtime.recovery import ABORTED


class Do(NamedTuple):
    """A call that is asked for."""

    tool: str
    args: Mapping[str, Any]


class Came(msgspec.Struct, frozen=True):
    """What came of a call."""

    ok: bool = False
    result: Any = None
    kind: str = ""
    message: str = ""
    outcome_status: str = ""
    next_step: Any = None

    @property
    def is_lost(self) -> bool:
        """Nobody knows what became of it: its program was killed."""
        return self.message == ABORTED


Story: TypeAlias = Generator[Do | str, Came, None]
"""Asks for a call, or rests with some words until somebody says more."""
Part: TypeAlias = Generator[Do | str, Came, Came]
"""A part of one, which ends with what came of a call."""


def do(tool: str, **args: Any) -> Do:
    return Do(tool, args)


def surely(first: Do, again: Do | None = None) -> Part:
    """Ask for it until somebody knows what came of it: for what may be done twice."""
    came = yield first
    while came.is_lost:
        came = yield again or first
    return came


class Teller:
    """A model that plays stories: which of them is told by the first words of a person."""

    name, provider = "teller", "scripted"
    window, max_output_tokens = 128_000, 8_192

    def __init__(self, stories: Mapping[str, Callable[[], Story]]) -> None:
        self._stories = stories

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        said = [row.content for row in request.rows if isinstance(row, UserChunk)]
        (begin,) = [self._stories[one] for one in said if one in self._stories]
        reply = _reply(_next(begin(), tuple(_steps(request.rows))))
        tell(reply, heard)
        return reply

    async def close(self) -> None:
        """Nothing is held."""


def _steps(rows: Sequence[Chunk]) -> Iterator[Came]:
    """What came of each step so far; of words, nothing."""
    results = {row.tool_call_id: row.content for row in rows if isinstance(row, ToolResultChunk)}
    for row in rows:
        if isinstance(row, AssistantChunk):
            calls = row.tool_calls or ()
            yield came_of(results[calls[0].id]) if calls else Came()


def came_of(text: str | bytes) -> Came:
    return msgspec.json.decode(text, type=Came)


def _next(story: Story, steps: Sequence[Came]) -> tuple[int, Do | str]:
    step = next(story)
    for came in steps:
        step = story.send(came)
    return len(steps), step


def _reply(numbered: tuple[int, Do | str]) -> ModelReply:
    number, step = numbered
    if isinstance(step, str):
        return ModelReply(text=step)
    asked = AskedCall(f"step{number}", step.tool, encode_json(dict(step.args)).decode())
    return ModelReply(calls=(asked,), finish="tool_calls")
