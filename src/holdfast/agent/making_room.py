"""Making room in a model's window: old large answers first, then a summary of the beginning.

Only what the model is told changes; the journal keeps everything, and says from where on a summary
counts. A summary that the model does not give is replaced by a sentence that says so.
"""

from holdfast.agent.asking import Asking, Heard
from holdfast.agent.context.budget import Room, schema_tokens
from holdfast.agent.context.compaction import (
    Prune,
    Split,
    Summarise,
    must_compact,
    relief,
    summary_prompt,
)
from holdfast.agent.keeping import Keeper
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ChatModel, ModelTool
from holdfast.contract.tokens import tokens_of
from holdfast.contract.wake_events import ContextCompacted, OutputsPruned

NO_SUMMARY = (
    "(The beginning of the conversation is left out here, and could not be summarised. Ask the"
    " person for what you miss.)"
)
_MOST_STEPS = 8
"""Pruning and summarising end: each leaves less to do."""


class MakingRoom:
    """Makes room for one run."""

    def __init__(self, model: ChatModel, keeper: Keeper, ask: Asking) -> None:
        self._room = Room(window=model.window, max_output=model.max_output_tokens)
        self._keeper = keeper
        self._ask = ask
        self._tools: tuple[ModelTool, ...] = ()
        self._tool_tokens = 0

    async def __call__(self, *, refused: bool = False) -> bool:
        """Do what is needed before the next request; whether anything was done.

        ``refused``: the provider says it is too much; half of it may not be, whatever we think.
        """
        room = Room(window=max(self._used() // 2, 1), max_output=0) if refused else self._room
        for step in range(_MOST_STEPS):
            found = relief(self._keeper.talk.entries, self._used(), room)
            if found is None:
                return step > 0
            await self._relieve(found)
        return True

    def is_needed(self) -> bool:
        """Whether there is too little."""
        return must_compact(self._used(), self._room)

    def _used(self) -> int:
        talk = self._keeper.talk
        system = () if talk.equipped is None else talk.equipped.system
        tools = () if talk.equipped is None else talk.equipped.tools
        if tools is not self._tools:
            self._tools, self._tool_tokens = tools, sum(map(schema_tokens, tools))
        return talk.tokens + self._tool_tokens + sum(map(tokens_of, system))

    async def _relieve(self, found: Prune | Summarise) -> None:
        if isinstance(found, Prune):
            await self._keeper.tell([OutputsPruned(call_ids=found.call_ids)])
        else:
            await self._summarise(found.split)

    async def _summarise(self, parts: Split) -> None:
        rows = tuple(entry.row for entry in parts.to_summarise)
        heard = await self._ask.aside((*rows, UserChunk(summary_prompt())))
        told = [heard.event] if isinstance(heard, Heard) else []
        said = heard.kept.text if isinstance(heard, Heard) else None
        compacted = ContextCompacted(
            summary=said or NO_SUMMARY, kept_from=parts.kept_from, automatic=True
        )
        await self._keeper.tell([*told, compacted])
