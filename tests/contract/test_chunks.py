"""Rows, their table, usage and lineage: values that never change."""

import json

import msgspec
import pytest
from flow_values import CHUNKS, LINEAGES, SCALARS, TABLES, TEXTS, USAGES
from hypothesis import given
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

CALL = AskedCall("c1", "run_code", '{"code": "1"}')
ROWS: tuple[Chunk, ...] = (
    SystemChunk("be brief"),
    UserChunk("hi"),
    AssistantChunk(tool_calls=(CALL,)),
    ToolResultChunk("c1", "run_code", '{"text": null}'),
    AssistantChunk("done"),
)


@pytest.mark.req("RATH-SES-01")
def test_a_row_is_one_of_four_kinds_and_says_which() -> None:
    assert msgspec.to_builtins(ROWS) == (
        {"kind": "system", "content": "be brief"},
        {"kind": "user", "content": "hi"},
        {
            "kind": "assistant",
            "content": None,
            "tool_calls": ({"id": "c1", "name": "run_code", "arguments": '{"code": "1"}'},),
        },
        {
            "kind": "tool_result",
            "tool_call_id": "c1",
            "name": "run_code",
            "content": '{"text": null}',
        },
        {"kind": "assistant", "content": "done", "tool_calls": None},
    )
    for wrong in (b'{"kind":"tool","content":""}', b'{"kind":"user","content":"","more":1}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(wrong, type=Chunk)


@pytest.mark.req("RATH-SES-01")
@pytest.mark.parametrize(
    "value",
    [*ROWS, CALL, ChunkTable(ROWS), Lineage(), TokenUsage(), Transcript("ses_1")],
    ids=lambda one: type(one).__name__,
)
def test_nothing_of_it_can_be_changed(value: msgspec.Struct) -> None:
    for field in value.__struct_fields__:
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, field, "other")
    assert hash(value) == hash(msgspec.structs.replace(value))


@pytest.mark.req("RATH-SES-01")
@given(TABLES, st.lists(CHUNKS, max_size=4), st.lists(CHUNKS, max_size=4))
def test_extending_gives_another_table_and_leaves_the_first(
    table: ChunkTable, first: list[Chunk], then: list[Chunk]
) -> None:
    before = tuple(table)
    longer = table.extend(iter(first))
    assert tuple(table) == before
    assert list(longer) == [*before, *first]
    assert len(longer) == len(before) + len(first)
    assert [longer[place] for place in range(len(longer))] == [*before, *first]
    assert longer.extend(then) == table.extend([*first, *then])
    assert (longer == table) is (not first)


@pytest.mark.req("RATH-SES-02")
def test_rows_are_messages_of_four_roles() -> None:
    wire = {"name": "run_code", "arguments": '{"code": "1"}'}
    assert ChunkTable(ROWS).to_messages() == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": wire}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"text": null}'},
        {"role": "assistant", "content": "done"},
    ]
    (empty,) = ChunkTable((AssistantChunk("x", ()),)).to_messages()
    assert "tool_calls" not in empty, "an empty list of calls is refused by those who read it"


@given(TABLES)
def test_messages_are_ones_own_and_changing_them_changes_no_row(table: ChunkTable) -> None:
    messages = table.to_messages()
    before = json.dumps(messages)
    assert len(messages) == len(table)
    for message in messages:
        for call in message.get("tool_calls") or []:  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType] - JSON
            call.clear()  # pyright: ignore[reportUnknownMemberType] - JSON
        message.clear()
    assert json.dumps(table.to_messages()) == before


@given(USAGES, USAGES, USAGES)
def test_usage_adds_up(first: TokenUsage, second: TokenUsage, third: TokenUsage) -> None:
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)
    assert first + TokenUsage() == first
    both = first + second
    assert both.prompt_tokens == first.prompt_tokens + second.prompt_tokens
    assert both.completion_tokens == first.completion_tokens + second.completion_tokens
    assert both.total_tokens == first.total_tokens + second.total_tokens


@given(LINEAGES, TEXTS, SCALARS)
def test_a_note_goes_behind_the_others(lineage: Lineage, name: str, value: Scalar) -> None:
    noted = lineage.noting(name, value)
    assert noted.extras == (*lineage.extras, (name, value))
    assert msgspec.structs.replace(noted, extras=lineage.extras) == lineage


def test_a_lineage_is_of_one_of_nine_kinds() -> None:
    kinds = (
        *("unknown", "leaf_user", "leaf_system", "op_create", "op_session_loop", "op_fork"),
        *("op_detach", "op_merge", "op_session_compress"),
    )
    for kind in kinds:
        assert msgspec.convert({"kind": kind}, Lineage).kind == kind
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kind": "op_wish"}, Lineage)
