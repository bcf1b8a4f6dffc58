"""Making room in a model's window: old large answers first, then a summary of the beginning.

Only what the model is told changes; the journal keeps everything, and says from where on a summary
counts. Where nobody could be asked for a summary, nothing is left out: the run ends, and the next
one tries again. A summary that cannot be had at all is replaced by a sentence that says so.
"""

from collections.abc import Callable

from holdfast.agent.asking import Asking, Heard, Stopped, Unheard
from holdfast.agent.context.budget import Room
from holdfast.agent.context.compaction import (
    Prune,
    Split,
    Summarise,
    must_compact,
    relief,
    split,
    summary_prompt,
)
from holdfast.agent.keeping import Keeper
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ChatModel
from holdfast.contract.wake_events import ContextCompacted, OutputsPruned

NO_SUMMARY = (
    "(The beginning of the conversation is left out here, and could not be summarised. Ask the"
    " person for what you miss.)"
)
_MOST_STEPS = 8
"""Pruning and summarising end: each leaves less to do."""


class MakingRoom:
    """Makes room for one run."""

    def __init__(
        self, model: ChatModel, keeper: Keeper, ask: Asking, clean: Callable[[str], str]
    ) -> None:
        """``clean``: takes secrets out of a text."""
        self._room = Room(window=model.window, max_output=model.max_output_tokens)
        self._keeper = keeper
        self._ask = ask
        self._clean = clean

    async def __call__(self, *, refused: bool = False) -> bool | Unheard | Stopped:
        """Do what is needed before the next request; whether anything was done, or what kept it.

        ``refused``: the provider says it is too much; half of it may not be, whatever we think.
        """
        room = Room(window=max(self._used() // 2, 1), max_output=0) if refused else self._room
        for step in range(_MOST_STEPS):
            found = relief(self._keeper.talk.entries, self._used(), room)
            if found is None:
                return step > 0
            kept_from_it = await self._relieve(found)
            if kept_from_it is not None:
                return kept_from_it
        return True

    def is_needed(self) -> bool:
        """Whether there is too little."""
        return must_compact(self._used(), self._room)

    def _used(self) -> int:
        talk = self._keeper.talk
        return talk.tokens + talk.frame.tokens

    async def _relieve(self, found: Prune | Summarise) -> Unheard | Stopped | None:
        if isinstance(found, Prune):
            await self._keeper.tell([OutputsPruned(call_ids=found.call_ids)])
            return None
        return await self._summarise(found.split)

    async def compact(self, wish: str | None) -> bool | Unheard | Stopped:
        """Have all summarised, as a person wants it, who may say what to heed."""
        parts = split(self._keeper.talk.entries, self._room, manual=True)
        if not parts.to_summarise:
            return False
        return await self._summarise(parts, wish, automatic=False) or True

    async def _summarise(
        self, parts: Split, wish: str | None = None, *, automatic: bool = True
    ) -> Unheard | Stopped | None:
        rows = tuple(entry.row for entry in parts.to_summarise)
        heard = await self._ask.aside((*rows, UserChunk(summary_prompt(wish))))
        if isinstance(heard, Stopped):
            return heard
        if isinstance(heard, Unheard) and heard.problem.trouble != "context_length":
            return heard
        told = [heard.event] if isinstance(heard, Heard) else []
        said = heard.kept.text if isinstance(heard, Heard) else None
        compacted = ContextCompacted(
            summary=self._clean(said or NO_SUMMARY),
            kept_from=parts.kept_from,
            automatic=automatic,
        )
        await self._keeper.tell([*told, compacted])
        return None
