"""Chunks, lineages and whole transcripts as hypothesis draws them."""

from hypothesis import strategies as st

from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    Lineage,
    Scalar,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.transcript import TokenUsage, Transcript

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CALLS = st.builds(AskedCall, TEXTS, TEXTS, TEXTS)
CHUNKS: st.SearchStrategy[Chunk] = st.one_of(
    st.builds(SystemChunk, TEXTS),
    st.builds(UserChunk, TEXTS),
    st.builds(
        AssistantChunk, st.none() | TEXTS, st.none() | st.lists(CALLS, max_size=2).map(tuple)
    ),
    st.builds(ToolResultChunk, TEXTS, TEXTS, TEXTS),
)
TABLES = st.builds(ChunkTable, st.lists(CHUNKS, max_size=4).map(tuple))
SCALARS: st.SearchStrategy[Scalar] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, width=16),
    TEXTS,
).filter(lambda value: value not in (float("inf"), float("-inf")))
LINEAGES = st.builds(
    Lineage,
    parent_session_ids=st.lists(TEXTS, max_size=2).map(tuple),
    operator=st.none() | TEXTS,
    kind=st.sampled_from(["unknown", "leaf_user", "op_merge", "op_session_compress"]),
    extras=st.lists(st.tuples(TEXTS, SCALARS), max_size=2).map(tuple),
)
COUNTS = st.integers(0, 2**40)
USAGES = st.builds(TokenUsage, COUNTS, COUNTS, COUNTS)
TRANSCRIPTS = st.builds(Transcript, TEXTS, TABLES, LINEAGES, USAGES)
