"""A conversation that is too long is shortened: cheaply first, never in the middle of a call."""

import json
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.context.budget import Room
from holdfast.agent.context.compaction import (
    Prune,
    Split,
    Summarise,
    must_compact,
    relief,
    split,
    summary_prompt,
    summary_row,
)
from holdfast.agent.context.entries import Entry, entry_tokens, row_tokens
from holdfast.agent.context.pruning import pruned, stub, to_prune
from holdfast.contract import builders
from holdfast.contract.chunks import AskedCall, AssistantChunk, Chunk, ToolResultChunk, UserChunk
from holdfast.contract.envelope import Metadata
from holdfast.envelope.dialects import flow_text, ok

ROOM = Room(window=1_000, max_output=100)
ENTRIES = [{"name": f"f{n}", "path": f"d/f{n}", "type": "file"} for n in range(40)]
LISTING = ok.render(builders.listing("src/deep", ENTRIES))


def _user(tokens: int = 1) -> UserChunk:
    return UserChunk("u" * 4 * tokens)


def _words(tokens: int = 1) -> AssistantChunk:
    return AssistantChunk("a" * 4 * tokens)


def _asks(*ids: str) -> AssistantChunk:
    return AssistantChunk(None, tuple(AskedCall(one, "read", "{}") for one in ids))


def _answer(call: str, tokens: int = 1, tool: str = "read") -> ToolResultChunk:
    return ToolResultChunk(call, tool, "r" * 4 * tokens)


def _entries(*rows: Chunk) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row=row,
            sequence=10 * number,
            call_id=f"call_{row.tool_call_id}" if isinstance(row, ToolResultChunk) else None,
        )
        for number, row in enumerate(rows, 1)
    )


def _rows(entries: Sequence[Entry]) -> list[Chunk]:
    return [entry.row for entry in entries]


@pytest.mark.req("SPEC-PROMPT-03")
@pytest.mark.parametrize(
    ("window", "max_output", "limit"),
    [(200_000, 64_000, 180_000), (200_000, 8_000, 192_000), (32_000, 32_000, 12_000)],
)
def test_compaction_starts_where_a_reply_would_no_longer_fit(
    window: int, max_output: int, limit: int
) -> None:
    room = Room(window=window, max_output=max_output)
    assert not must_compact(limit - 1, room)
    assert must_compact(limit, room)


def test_a_model_whose_reply_may_fill_its_window_is_not_compacted_for_ever() -> None:
    assert not must_compact(1_000, Room(window=2_048, max_output=2_048))
    assert must_compact(1_024, Room(window=2_048, max_output=4_096))


@pytest.mark.req("OSA-LST-08")
def test_an_old_listing_shrinks_to_how_many_entries_it_had_and_of_what() -> None:
    entries = _entries(
        _user(),
        _asks("1"),
        ToolResultChunk("1", "read", LISTING),
        _asks("2"),
        _answer("2"),
        _words(),
    )
    places = to_prune(entries, keep_tokens=0, large_tokens=10_000)
    assert places == (2,)
    shown = _rows(pruned(entries, ["call_1"]))
    assert shown[2] == ToolResultChunk("1", "read", "40 entries in src/deep")
    assert [row for row in shown if row is not shown[2]] == [
        entry.row for place, entry in enumerate(entries) if place != 2
    ]


def test_a_listing_is_known_in_every_form_that_a_model_is_shown() -> None:
    envelope = builders.listing("d", ENTRIES)
    bare = json.dumps(envelope.result)
    for content in (ok.render(envelope), bare, json.dumps({"ok": True, "result": envelope.result})):
        assert stub(ToolResultChunk("1", "read", content)).content == "40 entries in d"
    uncounted = {"kind": "listing", "path": "d", "entries": ["one" * 90, "two"]}
    content = json.dumps({"ok": True, "result": uncounted})
    assert stub(ToolResultChunk("1", "read", content)).content == "2 entries in d"


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "listing", "path": 5, "entries": []},
        {"kind": "listing", "path": "d", "entry_count": "many"},
        {"kind": "listing", "path": "d", "entry_count": True},
        {"kind": "listing", "path": "d", "entry_count": -1},
        {"kind": "listing", "path": "d", "entry_count": 10**4_000},
        {"kind": "listing", "path": "d" * 4_901, "entry_count": 1},
        {"kind": "file", "path": "d"},
        ["listing"],
    ],
)
def test_whatever_else_is_large_shrinks_to_a_line_about_it(result: object) -> None:
    content = json.dumps({"ok": True, "result": result, "more": "x" * 2_000})
    said = stub(ToolResultChunk("1", "my_tool", content))
    assert said.tool_call_id == "1"
    assert said.content.startswith("[What my_tool answered is left out here: ")
    assert f"{len(content)} characters" in said.content


def test_a_line_says_where_all_of_an_answer_lies() -> None:
    envelope = msgspec.structs.replace(
        builders.text("x" * 900), metadata=Metadata(truncated=True, output_path="/out/1.txt")
    )
    said = stub(ToolResultChunk("1", "bash", ok.render(envelope))).content
    assert "All of it is in /out/1.txt." in said


@pytest.mark.parametrize("content", ["", "short", "12 entries in d", '{"ok": true, "result": 1}'])
def test_what_is_short_stays_as_it_is(content: str) -> None:
    row = ToolResultChunk("1", "read", content)
    assert stub(row) is row


def _listed(path: str, count: int) -> str:
    listing = {"kind": "listing", "path": path, "entry_count": count}
    return json.dumps({"ok": True, "result": listing})


@given(
    st.one_of(
        st.text(max_size=400),
        st.builds(_listed, st.text(max_size=300), st.integers()),
        st.builds(_listed, st.integers(0, 6_000).map(lambda size: "p" * size), st.integers()),
        st.integers(0, 9_999).map(lambda size: "y" * size),
    ),
    st.text(max_size=20),
)
def test_a_line_is_shorter_than_what_it_stands_for_and_stands_for_itself(
    content: str, tool: str
) -> None:
    row = ToolResultChunk("1", tool, content)
    once = stub(row)
    assert once is row or len(once.content) < len(content)
    assert stub(once).content == once.content
    assert (once.tool_call_id, once.name) == ("1", tool)
    assert stub(row) == once


@pytest.mark.req("SPEC-TODO-07")
@pytest.mark.parametrize("tool", ["todo", "task"])
def test_the_state_of_the_work_is_never_pruned(tool: str) -> None:
    rows = (
        _user(),
        _asks("1"),
        _answer("1", 9_000, tool),
        _asks("2"),
        _answer("2", 9_000),
        _words(),
    )
    assert to_prune(_entries(*rows), keep_tokens=0) == (4,)
    entries = list(_entries(*rows))
    entries[4] = msgspec.structs.replace(entries[4], tool=tool)
    assert to_prune(entries, keep_tokens=0) == ()


def test_the_newest_answers_and_small_ones_are_left_as_they_are() -> None:
    rows = (
        *(
            _asks("1"),
            _answer("1", 300),
            _asks("2"),
            _answer("2", 20),
            _asks("3"),
            _answer("3", 300),
        ),
        *(_asks("4"), _answer("4", 300), _words()),
    )
    entries = _entries(*rows)
    assert to_prune(entries, keep_tokens=600) == (1,)
    assert to_prune(entries, keep_tokens=599) == (1, 5)
    assert to_prune(entries, keep_tokens=0) == (1, 5, 7)
    assert to_prune(entries, keep_tokens=0, large_tokens=20, spared=()) == (1, 5, 7)
    assert to_prune(entries) == ()


def test_what_the_model_has_not_seen_yet_is_never_pruned() -> None:
    entries = _entries(_asks("1"), _answer("1", 9_000), _asks("2"), _answer("2", 9_000))
    assert to_prune(entries, keep_tokens=0) == (1,)


@pytest.mark.req("SPEC-PROMPT-05")
def test_old_large_answers_give_way_before_anything_is_summarised() -> None:
    entries = _entries(
        *(_user(), _asks("1"), _answer("1", 400), _asks("t"), _answer("t", 300, "todo")),
        *(_asks("2"), _answer("2", 300), _words(), _user(), _words()),
    )
    used = entry_tokens(entries)
    assert relief(entries, 899, ROOM) is None
    first = relief(entries, used, ROOM)
    assert isinstance(first, Prune)
    assert first.call_ids == ("call_1", "call_2")
    assert first.places == (2, 6)
    shorter = pruned(entries, first.call_ids)
    assert entry_tokens(shorter) == used - first.saved_tokens < used
    assert shorter[4] == entries[4]
    then = relief(shorter, 900, ROOM)
    assert isinstance(then, Summarise)
    assert then.split == split(shorter, ROOM)
    assert relief(_entries(_user(), _words()), 900, ROOM) is None


def test_an_answer_that_belongs_to_no_call_of_the_runtime_cannot_be_pruned() -> None:
    entries = [
        msgspec.structs.replace(entry, call_id=None)
        for entry in _entries(_user(), _asks("1"), _answer("1", 900), _words(), _user())
    ]
    assert isinstance(relief(entries, 900, ROOM), Summarise)


def test_automatic_compaction_keeps_the_last_two_turns() -> None:
    rows = (
        _user(5),
        _words(5),
        _user(5),
        _asks("1"),
        _answer("1", 5),
        _words(5),
        _user(5),
        _words(),
    )
    found = split(_entries(*rows), ROOM)
    assert _rows(found.to_summarise) == list(rows[:2])
    assert _rows(found.kept) == list(rows[2:])
    assert found.kept_from == 30


def test_two_turns_of_more_than_a_fourth_of_the_window_are_one_turn_or_its_end() -> None:
    rows = (_user(), _words(), _user(200), _words(), _user(100), _words(100))
    assert _rows(split(_entries(*rows), ROOM).kept) == list(rows[4:])
    long = (
        _user(),
        _user(300),
        _asks("1"),
        _answer("1", 100),
        _asks("2"),
        _answer("2", 100),
        _words(),
    )
    assert _rows(split(_entries(*long), ROOM).kept) == list(long[2:])
    longer = (_user(), _user(300), _asks("1"), _answer("1", 200), _asks("2"), _answer("2", 100))
    assert _rows(split(_entries(*longer), ROOM).kept) == list(longer[4:])
    huge = (_user(), _asks("1"), _answer("1", 900))
    assert split(_entries(*huge), ROOM).kept == ()


def test_a_word_between_a_call_and_its_answer_does_not_part_them() -> None:
    rows = (_user(), _words(), _user(), _asks("1"), _user(), _answer("1"), _words())
    assert _rows(split(_entries(*rows), ROOM).kept) == list(rows[2:])


def test_a_person_who_compacts_keeps_nothing() -> None:
    entries = _entries(_user(), _words(), _user(), _words())
    found = split(entries, ROOM, manual=True)
    assert found == Split(to_summarise=entries, kept=())
    assert found.kept_from == 41
    assert split((), ROOM, manual=True).kept_from == 1


_ROWS = st.lists(
    st.one_of(
        st.integers(1, 150).map(_user),
        st.integers(1, 150).map(_words),
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=2, unique=True).map(
            lambda ids: _asks(*ids)
        ),
        st.tuples(st.sampled_from("abcd"), st.integers(1, 400)).map(lambda one: _answer(*one)),
    ),
    max_size=24,
)


@given(_ROWS, st.integers(40, 2_000))
def test_a_split_is_a_cut_that_parts_no_call_from_its_answer(
    rows: list[Chunk], window: int
) -> None:
    entries = _entries(*rows)
    found = split(entries, Room(window=window, max_output=10))
    assert (*found.to_summarise, *found.kept) == entries
    kept = list(found.kept)
    unanswered = 0
    while kept and isinstance(kept[-1].row, UserChunk):
        kept.pop()
        unanswered += 1
    behind = [isinstance(row, UserChunk) for row in reversed(rows)]
    assert unanswered == next((at for at, word in enumerate(behind) if not word), len(behind))
    assert entry_tokens(kept) <= window // 4
    assert sum(isinstance(entry.row, UserChunk) for entry in kept) <= 2
    assert all(entry.sequence < found.kept_from for entry in found.to_summarise)
    asked = {
        call.id
        for row in _rows(found.to_summarise)
        if isinstance(row, AssistantChunk)
        for call in row.tool_calls or ()
    }
    again = {
        call.id
        for row in _rows(found.kept)
        if isinstance(row, AssistantChunk)
        for call in row.tool_calls or ()
    }
    answered = {row.tool_call_id for row in _rows(found.kept) if isinstance(row, ToolResultChunk)}
    assert not answered & (asked - again)
    assert not found.kept or not isinstance(found.kept[0].row, ToolResultChunk)


@given(_ROWS, st.integers(40, 2_000))
def test_relief_comes_to_an_end(rows: list[Chunk], window: int) -> None:
    entries, room = _entries(*rows), Room(window=window, max_output=10)
    used = entry_tokens(entries)
    for _ in range(3):
        step = relief(entries, used, room)
        if not isinstance(step, Prune):
            break
        assert step.saved_tokens > 0
        entries = pruned(entries, step.call_ids)
        used = entry_tokens(entries)
    else:
        pytest.fail("there is always more to prune")
    if isinstance(step, Summarise):
        assert step.split.to_summarise


def test_the_prompt_for_a_summary_names_what_it_must_cover_and_heeds_a_wish() -> None:
    prompt = summary_prompt()
    for heading in ("## Goal", "## Decisions", "## State", "## Facts", "## Next"):
        assert heading in prompt
    assert summary_prompt("  ") == prompt
    assert summary_prompt(" keep the names ").endswith("The person adds: keep the names")
    row = summary_row(" all went well \n")
    assert row.content.endswith("\n\nall went well")
    assert row_tokens(row) > 10


def test_the_text_of_a_flow_session_is_pruned_as_well() -> None:
    content = flow_text.render(builders.success({"data": "x" * 4_000}))
    assert len(stub(ToolResultChunk("1", "read_workspace_file", content)).content) < 200
