"""A session's journal as the rows of a flow session, and a flow session as events.

The rows are not kept beside the events: they are what the events say, each time they are read. A
flow writes its own rows down; any other session has rows too: what was said, what came of calls.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    Lineage,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    Event,
    FlowGrown,
    Payload,
    UserMessage,
)
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.envelope.dialects import ok
from holdfast.envelope.dialects.flow_text import serialize


def transcript_of(session_id: str, events: Iterable[Event]) -> Transcript:
    """What a session's events say, as a flow session."""
    said = [event.payload for event in events]
    flow = [one for one in said if isinstance(one, FlowGrown)]
    if not flow:
        return Transcript(session_id, ChunkTable(tuple(row for one in said for row in _rows(one))))
    lineages = [one.lineage for one in flow if one.lineage is not None]
    usages = [one.usage for one in flow if one.usage is not None]
    lineage = lineages[-1] if lineages else Lineage()
    usage = usages[-1] if usages else TokenUsage()
    rows = tuple(row for one in flow for row in one.chunks)
    return Transcript(session_id, ChunkTable(rows), lineage, usage)


def grown(transcript: Transcript, kept: int = 0) -> FlowGrown:
    """The event that brings a journal up to a flow session, of which it has some rows already."""
    return FlowGrown(
        chunks=transcript.chunk_table.rows[kept:],
        lineage=None if kept else transcript.lineage,
        usage=transcript.cumulative_usage,
    )


def _rows(said: Payload) -> Iterator[Chunk]:
    make = _MAKERS.get(type(said))
    if make is not None:
        yield from make(said)


def _of_a_person(said: UserMessage) -> Iterator[Chunk]:
    yield UserChunk(said.message)


def _of_the_agent(said: AgentMessage) -> Iterator[Chunk]:
    yield AssistantChunk(said.message)


def _asked(said: CallAsked) -> Iterator[Chunk]:
    call = AskedCall(said.call_id, said.tool, said.arguments)
    yield AssistantChunk(None, (call,))


def _settled(said: CallSettled) -> Iterator[Chunk]:
    """What came of it, as a flow tells it: the result's text, or the failure's."""
    envelope = ok.parse(bytes(said.envelope).decode())
    text = serialize(envelope.result) if envelope.failure is None else envelope.failure.message
    yield ToolResultChunk(said.call_id, said.tool, text)


_Make: TypeAlias = Callable[[Any], Iterator[Chunk]]
_MAKERS: Mapping[type[Payload], _Make] = {
    UserMessage: _of_a_person,
    AgentMessage: _of_the_agent,
    CallAsked: _asked,
    CallSettled: _settled,
}
"""By kind; what is not here is no row."""
