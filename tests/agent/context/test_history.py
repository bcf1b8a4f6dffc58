"""What is told of a long history: the newest that fits, and no call without its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.context.entries import Entry, entry_tokens, groups, row_tokens
from holdfast.agent.context.history import (
    HistoryRecord,
    conversation,
    drawn,
    runtime_note,
    select,
)
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.tokens import tokens_of


def _entries(*rows: Chunk) -> tuple[Entry, ...]:
    return tuple(Entry(row=row, sequence=number) for number, row in enumerate(rows, 1))


def _asks(*ids: str, text: str | None = None) -> AssistantChunk:
    return AssistantChunk(text, tuple(AskedCall(one, "read", "{}") for one in ids))


def _answer(call: str, text: str = "x") -> ToolResultChunk:
    return ToolResultChunk(call, "read", text)


def _said(number: int, tokens: int = 1) -> HistoryRecord:
    (record,) = conversation([Entry(row=UserChunk("x" * 4 * tokens), sequence=number)])
    return record


def _note(number: int, tokens: int = 1) -> HistoryRecord:
    return runtime_note("x" * 4 * tokens, number)


def _numbers(records: tuple[HistoryRecord, ...]) -> list[int]:
    return [record.sequence for record in records]


def test_all_of_a_row_that_is_sent_is_counted() -> None:
    assert row_tokens(UserChunk("x" * 40)) == 10
    assert row_tokens(SystemChunk("")) == 1
    assert row_tokens(_asks("1")) == tokens_of("read{}")
    opaque = AssistantChunk("x" * 4, opaque={"signature": "s" * 400})
    assert row_tokens(opaque) > 100
    assert row_tokens(AssistantChunk(None)) == 1


def test_an_answer_stands_with_the_call_it_answers() -> None:
    rows = (
        *(UserChunk("a"), _asks("1", "2"), _answer("1"), UserChunk("b"), _answer("2")),
        *(_answer("nobody's"), AssistantChunk("done")),
    )
    found = groups(_entries(*rows))
    assert [[entry.sequence for entry in group] for group in found] == [[1], [2, 3, 5], [4], [7]]


@pytest.mark.req("BOA-CTX-06")
def test_without_a_cursor_the_last_48_and_12_are_looked_at() -> None:
    records = [_said(number) for number in range(60)] + [_note(number) for number in range(60, 80)]
    found = drawn(records)
    assert _numbers(found) == [*range(12, 60), *range(68, 80)]
    assert drawn(records[:3]) == tuple(records[:3])


@pytest.mark.req("BOA-CTX-06")
def test_with_a_cursor_some_before_it_and_more_after_it_are_looked_at() -> None:
    records = [_note(number) if number % 2 else _said(number) for number in range(200)]
    found = drawn(records, cursor=100)
    talk = [record.sequence for record in found if record.kind == "conversation"]
    notes = [record.sequence for record in found if record.kind == "runtime"]
    assert talk == [*range(78, 101, 2), *range(152, 200, 2)]
    assert notes == [93, 95, 97, 99, 185, 187, 189, 191, 193, 195, 197, 199]
    assert _numbers(found) == sorted(_numbers(found))


@pytest.mark.req("BOA-CTX-06")
@given(st.text(max_size=400))
def test_a_note_of_the_runtime_is_one_line_of_at_most_180_characters(text: str) -> None:
    row = runtime_note(text, 1).entries[0].row
    assert isinstance(row, AssistantChunk)
    said = row.content or ""
    assert len(said) <= 180
    assert said.splitlines() in ([], [said])


@pytest.mark.req("BOA-CTX-07")
def test_the_last_two_of_the_conversation_come_before_newer_notes() -> None:
    records = (_said(1, 40), _said(2, 40), *(_note(number, 10) for number in range(3, 13)))
    selection = select(records, 100)
    assert _numbers(selection.records) == [1, 2, 11, 12]
    assert selection.counts.protected_conversation == 2
    assert selection.tokens == 100


@pytest.mark.req("BOA-CTX-07")
def test_then_whatever_fits_is_taken_from_the_newest_to_the_oldest() -> None:
    records = (_said(1, 1), _said(2, 30), _said(3, 20), _said(4, 90), _said(5, 5), _said(6, 5))
    selection = select(records, 40)
    assert _numbers(selection.records) == [1, 3, 5, 6]
    counts = selection.counts
    assert (counts.total, counts.selected, counts.dropped) == (6, 4, 2)
    assert (counts.selected_conversation, counts.dropped_conversation) == (4, 2)


@pytest.mark.req("BOA-CTX-07")
def test_a_protected_record_that_does_not_fit_is_passed_over() -> None:
    selection = select((_said(1, 5), _said(2, 500), _said(3, 5)), 100)
    assert _numbers(selection.records) == [1, 3]
    assert selection.counts.protected_conversation == 1
    assert select((), 100).records == ()


_ROWS = st.lists(
    st.one_of(
        st.text(max_size=40).map(UserChunk),
        st.text(max_size=40).map(AssistantChunk),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(
            lambda ids: _asks(*ids)
        ),
        st.tuples(st.sampled_from("abc"), st.text(max_size=60)).map(lambda one: _answer(*one)),
    ),
    max_size=20,
)


@given(_ROWS, st.integers(0, 60), st.none() | st.integers(0, 20))
def test_whatever_is_selected_fits_in_order_and_whole(
    rows: list[Chunk], budget: int, cursor: int | None
) -> None:
    entries = _entries(*rows)
    records = drawn((*conversation(entries), runtime_note("note", 7)), cursor)
    selection = select(records, budget)
    told = [entry for record in selection.records for entry in record.entries]
    assert entry_tokens(told) == selection.tokens <= budget
    assert _numbers(selection.records) == sorted(_numbers(selection.records))
    counts = selection.counts
    assert counts.selected + counts.dropped == counts.total == len(records)
    assert counts.selected_conversation + counts.selected_runtime_notes == counts.selected
    assert counts.dropped_conversation + counts.dropped_runtime_notes == counts.dropped
    for group in groups(entries):
        assert len({entry in told for entry in group}) == 1
    newest = [record for record in records if record.kind == "conversation"][-1:]
    assert all(record in selection.records for record in newest if record.tokens <= budget)
