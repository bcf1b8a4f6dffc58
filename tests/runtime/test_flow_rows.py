"""A flow session survives its journal, with rows, usage and where it came from; so do calls."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from record.stores import sqlite_at

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    Lineage,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.events import AgentMessage, Event, SessionCreated, UserMessage
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.flow import Session
from holdfast.record.codec import GENESIS, Chain, Unwritten, event_of, stored
from holdfast.runtime.flow_rows import grown, transcript_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
chunks: st.SearchStrategy[Chunk] = st.one_of(
    st.builds(SystemChunk, texts),
    st.builds(UserChunk, texts),
    st.builds(
        AssistantChunk,
        st.none() | texts,
        st.none() | st.lists(st.builds(AskedCall, texts, texts, texts), max_size=2).map(tuple),
    ),
    st.builds(ToolResultChunk, texts, texts, texts),
)


def event(number: int, payload: object) -> Event:
    told = Unwritten(f"evt_{number}", number, None, payload)  # type: ignore[arg-type] - a payload
    return event_of(stored(told, "ses_1", number, GENESIS, Chain(b"k" * 32)))


@given(st.lists(chunks, max_size=8), st.lists(st.integers(0, 8), max_size=3))
def test_however_it_grew_its_rows_come_back(rows: list[Chunk], cuts: list[int]) -> None:
    lineage = Lineage(parent_session_ids=("ses_0",), operator="fork", kind="op_fork")
    events: list[Event] = []
    kept = 0
    for cut in [*sorted(min(cut, len(rows)) for cut in cuts), len(rows)]:
        so_far = Transcript("ses_1", ChunkTable(tuple(rows[:cut])), lineage, TokenUsage(cut, 0, 1))
        events.append(event(len(events) + 1, grown(so_far, kept)))
        kept = cut
    wanted = Transcript("ses_1", ChunkTable(tuple(rows)), lineage, TokenUsage(len(rows), 0, 1))
    assert transcript_of("ses_1", events) == wanted


async def test_fork_and_merge_are_kept_with_their_parents(tmp_path: Path) -> None:
    first = Session.from_user_message("one")
    second = first.fork()
    second.append(UserChunk("two"))
    both = first.merge(second)
    async with sqlite_at(tmp_path / "h.db")() as journal:
        for session in (first, second, both):
            await journal.create(session.id, [SessionCreated(), grown(session.transcript())])
            again = transcript_of(session.id, await journal.events(session.id))
            assert again == session.transcript()
    assert [row.content for row in both.chunk_table] == ["one", "one", "two"]
    assert both.lineage.parent_session_ids == (first.id, second.id)


@tool
async def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


async def test_each_executed_call_leaves_one_row_with_the_text_of_its_result(
    tmp_path: Path,
) -> None:
    around = Surroundings(data_home=tmp_path)
    async with Holdfast(tools=[shout], settings=Settings(), surroundings=around) as hf:
        good = await hf.settle("shout", {"text": "hi"})
        bad = await hf.settle("shout", {})
        session = hf.session_id
    async with sqlite_at(tmp_path / "holdfast.db")() as journal:
        rows = transcript_of(session, await journal.events(session)).chunk_table
    results = [row for row in rows if isinstance(row, ToolResultChunk)]
    assert [row.tool_call_id for row in results] == [good.call_id, bad.call_id]
    assert results[0] == ToolResultChunk(good.call_id or "", "shout", '{"text": "HI"}')
    assert bad.failure is not None
    assert results[1].content == bad.failure.message
    calls = [row.tool_calls for row in rows if isinstance(row, AssistantChunk)]
    assert [call[0].id for call in calls if call] == [good.call_id, bad.call_id]


def test_what_was_said_is_rows_too() -> None:
    events = [
        event(1, UserMessage(message="hi")),
        event(2, AgentMessage(message="hello", summary="s")),
    ]
    rows = transcript_of("ses_1", events).chunk_table.rows
    assert rows == (UserChunk("hi"), AssistantChunk("hello"))
