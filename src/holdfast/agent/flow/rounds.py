"""The rounds of a loop: ask the model, settle its calls, write the rows, until it is done.

Rows are only ever added to the output session. Who the model is and where calls run is not known
here.
"""

import logging
from collections.abc import Callable, Mapping
from inspect import isawaitable

import msgspec

from holdfast.agent.flow.asking import cleaned
from holdfast.agent.flow.calls import answers, looked_up
from holdfast.agent.flow.ports import Ground
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    ToolResultChunk,
)
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.model import ModelReply
from holdfast.contract.transcript import TokenUsage
from holdfast.runtime.flow_session import Session
from holdfast.runtime.flow_table import table_schemas

_log = logging.getLogger("holdfast")

OnBudget = Callable[[Session, TokenUsage], object]
"""Told once that a budget was crossed; raising ends the loop."""
_ENDS = frozenset({"stop", "length", "content_filter"})
MOST_UNFINISHED = 2
"""How often in a row a model is asked again that neither called anything nor said it was done."""
TRUNCATED = "loop.truncated"


class Rounds(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done."""

    agent: tuple[Chunk, ...]
    """What leads every request and is never copied."""
    table: Mapping[str, FlowToolCall]
    most: int
    budget: int | None = None
    on_budget: OnBudget | None = None


async def run_rounds(out: Session, wanted: Rounds, ground: Ground) -> None:
    """Take the output session to its end; whatever is raised on the way ends it there."""
    host = ground.host
    schemas = list(host.tool_schemas()) or table_schemas(wanted.table)
    crossed, unfinished = False, 0
    await _grown(out, ground)
    for _ in range(wanted.most):
        rows = ChunkTable((*wanted.agent, *out.chunk_table))
        reply = cleaned(await host.complete(rows, schemas))
        out.add_usage(usage_of(reply))
        crossed = crossed or await _crossed(out, wanted)
        out.append(reply_row(reply))
        await _grown(out, ground)
        if _is_done(reply):
            break
        unfinished = 0 if reply.calls else unfinished + 1
        if unfinished > MOST_UNFINISHED:
            _cut_short(out, f"{unfinished} replies without a call or an end")
            break
        found = [looked_up(call, wanted.table) for call in reply.calls]
        texts = await answers(found, host.settle)
        out.append(*map(_result, reply.calls, texts))
        await _grown(out, ground)
    else:
        _cut_short(out, f"{wanted.most} rounds")
    for keeper in ground.keepers:
        await keeper.ended(out)


def _is_done(reply: ModelReply) -> bool:
    """Whether nothing comes after it. Why a model stopped is some server's own word, often enough:
    one that nobody knows, behind an answer, is its end."""
    if reply.calls:
        return False
    said = bool(reply.text and reply.text.strip())
    return reply.finish in _ENDS or (said and reply.finish == "other")


def _cut_short(out: Session, after: str) -> None:
    _log.warning("session %s: stopped after %s", out.id, after)
    out.note(TRUNCATED, value=True)


async def _grown(out: Session, ground: Ground) -> None:
    for keeper in ground.keepers:
        await keeper.grown(out)


async def _crossed(out: Session, wanted: Rounds) -> bool:
    """Whether the budget is crossed by now; whoever wants to know is told."""
    usage = out.cumulative_usage
    if wanted.budget is None or usage.total_tokens <= wanted.budget:
        return False
    if wanted.on_budget is None:
        _log.warning(
            "session %s: %d tokens, more than its budget of %d",
            *(out.id, usage.total_tokens, wanted.budget),
        )
        return True
    said = wanted.on_budget(out, usage)
    if isawaitable(said):
        await said
    return True


def usage_of(reply: ModelReply) -> TokenUsage:
    """What a reply cost, as sessions count it."""
    usage = reply.usage
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.total_tokens)


def reply_row(reply: ModelReply) -> AssistantChunk:
    """A reply, cleaned, as a row."""
    return AssistantChunk(
        reply.text,
        reply.calls or None,
        msgspec.UNSET if reply.opaque is None else reply.opaque,
    )


def _result(call: AskedCall, text: str) -> ToolResultChunk:
    return ToolResultChunk(call.id, call.name, text)
