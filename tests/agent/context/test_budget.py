"""What goes into a request is counted, and how crowded that is is told in words and numbers."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.context.budget import (
    Assembled,
    ContextBudget,
    Measured,
    Room,
    context_budget,
    frame_of,
    schema_tokens,
    selection_budget,
    whole_budget,
)
from holdfast.agent.context.entries import Entry
from holdfast.agent.context.history import conversation, runtime_note, select
from holdfast.agent.context.pressure import pressure_note, pressure_of, pressure_words
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelTool
from holdfast.contract.steps import Step
from holdfast.runtime.managed.harness_note import harness_note

ROOM = Room(window=100_000, max_output=8_000)


def _tool(name: str, size: int = 10) -> ModelTool:
    return ModelTool(name=name, description="d" * size, schema={"type": "object"})


def _assembled(*, said: int = 2, notes: int = 0, budget: int = 800) -> Assembled:
    records = (
        *conversation([Entry(row=UserChunk("x" * 400), sequence=number) for number in range(said)]),
        *(runtime_note("y" * 100, 1000 + number) for number in range(notes)),
    )
    return Assembled(
        sections=(("manifest", "m" * 40), ("skills", ""), ("tools", "t" * 8)),
        session_message="s" * 20,
        selection=select(records, budget),
        tools=tuple(_tool(f"tool_{size}", size) for size in range(100, 800, 100)),
        skills={f"skill_{size}": "k" * size for size in range(10, 80, 10)},
        bootstrap_files={"AGENTS.md": "a" * 12},
    )


def _budget(
    headroom: int = 5_000, *, window: int = 5_000, talk: int = 0, notes: int = 0
) -> ContextBudget:
    budget = context_budget(_assembled(), ROOM, 800)
    counts = msgspec.structs.replace(
        budget.history,
        dropped=talk + notes,
        dropped_conversation=talk,
        dropped_runtime_notes=notes,
    )
    return msgspec.structs.replace(
        budget,
        selection_headroom_tokens=headroom,
        window_headroom_tokens=window,
        history=counts,
    )


@pytest.mark.req("BOA-CTX-01", "BOA-CTX-08")
def test_a_budget_shows_prompt_history_and_the_largest_schemas() -> None:
    budget = context_budget(_assembled(said=10, notes=3), ROOM, 800)
    assert budget.context_selection_budget_tokens == 800
    assert budget.system_prompt.sections == (Measured("manifest", 10), Measured("tools", 2))
    assert budget.system_prompt.estimated_tokens == 12
    assert budget.session_message.estimated_tokens == 5
    history = budget.history
    assert (history.total, history.selected, history.dropped) == (13, 10, 3)
    assert (history.selected_conversation, history.dropped_conversation) == (7, 3)
    assert (history.selected_runtime_notes, history.dropped_runtime_notes) == (3, 0)
    assert history.protected_conversation == 2
    assert budget.estimated_selected_text_tokens == 775
    assert budget.selection_headroom_tokens == 25
    assert [tool.name for tool in budget.tools] == [f"tool_{n}00" for n in (7, 6, 5, 4, 3)]
    assert [skill.name for skill in budget.skills] == [f"skill_{n}0" for n in (7, 6, 5, 4, 3)]
    assert budget.skills[0].estimated_tokens == 18
    assert budget.bootstrap_files == (Measured("AGENTS.md", 3),)


@pytest.mark.req("BOA-CTX-08", "BOA-CTX-09")
def test_tool_schemas_count_against_the_window_and_not_against_the_text() -> None:
    assembled = _assembled()
    with_tools = context_budget(assembled, ROOM, 800)
    without = context_budget(msgspec.structs.replace(assembled, tools=()), ROOM, 800)
    schemas = sum(map(schema_tokens, assembled.tools))
    assert with_tools.estimated_tool_schema_tokens == schemas > 700
    assert without.estimated_tool_schema_tokens == 0
    assert with_tools.selection_headroom_tokens == without.selection_headroom_tokens
    assert with_tools.estimated_total_runtime_tokens == 12 + 5 + 200 + schemas
    assert without.window_headroom_tokens - with_tools.window_headroom_tokens == schemas
    assert with_tools.window_headroom_tokens == 92_000 - 217 - schemas


@pytest.mark.req("BOA-CTX-09", "BOA-CTX-14")
def test_a_window_that_runs_short_because_of_schemas_raises_the_pressure() -> None:
    assembled = _assembled()
    few, many = (Room(window=window, max_output=0) for window in (50_000, 1_300))
    assert pressure_of(context_budget(assembled, few, 8_000)) == pressure_of(_budget())
    pressure = pressure_of(context_budget(assembled, many, 8_000))
    assert pressure is not None
    assert pressure.level == "high"
    (reason,) = pressure.reasons
    assert reason.startswith("low_window_headroom:")
    narrow = pressure_of(_budget(window=400))
    assert narrow is not None
    assert (narrow.level, narrow.reasons) == ("moderate", ("narrow_window_headroom:400",))


def test_headroom_is_never_below_zero() -> None:
    budget = context_budget(_assembled(budget=800), Room(window=10, max_output=5), 100)
    assert budget.selection_headroom_tokens == 0
    assert budget.window_headroom_tokens == 0


@pytest.mark.req("BOA-CTX-05")
def test_selected_text_may_have_800_tokens_in_the_managed_profile_and_else_what_fits() -> None:
    large, small = Room(window=200_000, max_output=64_000), Room(window=8_000, max_output=2_000)
    assert selection_budget(large, managed=True) == selection_budget(small, managed=True) == 800
    assert selection_budget(large, managed=False) == 180_000
    assert selection_budget(small, managed=False) == 6_000
    for managed in (True, False):
        assert selection_budget(large, managed=managed, configured=5_000) == 5_000
        assert selection_budget(large, managed=managed, configured=-1) == 0


@pytest.mark.req("BOA-CTX-09")
def test_a_loop_that_tells_everything_has_the_window_as_its_budget() -> None:
    tools = [_tool("a"), _tool("b", 400)]
    frame = frame_of([("system", "x" * 40)], tools)
    budget = whole_budget(frame, ROOM, 1_000, 7)
    schemas = sum(map(schema_tokens, tools))
    assert budget.estimated_tool_schema_tokens == frame.schema_tokens == schemas
    assert budget.estimated_total_runtime_tokens == 10 + schemas + 1_000
    assert budget.selection_headroom_tokens == 92_000 - 1_000
    assert budget.window_headroom_tokens == 92_000 - 1_010 - schemas
    assert (budget.history.total, budget.history.dropped) == (7, 0)
    assert [tool.name for tool in budget.tools] == ["b", "a"]
    pressure = pressure_of(budget)
    assert pressure is not None
    assert pressure.level == "low"


@pytest.mark.parametrize(
    ("left", "told"), [(0, True), (1, True), (399, True), (1_199, True), (1_200, False)]
)
def test_who_has_no_tool_to_look_with_is_told_in_words(left: int, told: bool) -> None:
    words = pressure_words(_budget(window=left))
    assert (words is not None) is told
    if words is not None:
        assert f"about {left} tokens are left" in words
        assert "session_describe_context" not in words


@pytest.mark.parametrize(
    ("budget", "level", "reasons", "tools"),
    [
        pytest.param(
            *(_budget(399), "high", ["low_headroom:399"]),
            ["retrieval_search", "session_search_context"],
            marks=pytest.mark.req("BOA-CTX-10"),
        ),
        pytest.param(
            *(_budget(0), "high", ["low_headroom:0"]),
            ["retrieval_search", "session_search_context"],
            marks=pytest.mark.req("BOA-CTX-10"),
        ),
        pytest.param(
            *(_budget(400), "moderate", ["narrow_headroom:400"], ["retrieval_search"]),
            marks=pytest.mark.req("BOA-CTX-11"),
        ),
        pytest.param(
            *(_budget(1199), "moderate", ["narrow_headroom:1199"], ["retrieval_search"]),
            marks=pytest.mark.req("BOA-CTX-11"),
        ),
        (_budget(1200), "low", [], []),
        pytest.param(
            *(_budget(talk=3), "high", ["dropped_conversation:3"]),
            ["session_search_context", "session_get_snapshot"],
            marks=pytest.mark.req("BOA-CTX-12"),
        ),
        pytest.param(
            *(_budget(notes=2), "moderate", ["dropped_runtime_notes:2"]),
            ["session_get_trace", "shell_describe"],
            marks=pytest.mark.req("BOA-CTX-13"),
        ),
        (
            _budget(1, talk=1, notes=1),
            "high",
            ["low_headroom:1", "dropped_conversation:1", "dropped_runtime_notes:1"],
            [
                *("retrieval_search", "session_search_context", "session_get_snapshot"),
                *("session_get_trace", "shell_describe"),
            ],
        ),
    ],
)
@pytest.mark.req("BOA-CTX-14")
def test_pressure_has_a_level_reasons_and_tools_that_help(
    budget: ContextBudget, level: str, reasons: list[str], tools: list[str]
) -> None:
    pressure = pressure_of(budget)
    assert pressure is not None
    assert pressure.level == level
    assert list(pressure.reasons) == reasons
    assert list(pressure.recommended_tools) == tools


@pytest.mark.req("BOA-SESS-30")
@given(st.integers(-9, 2_000), st.integers(-9, 2_000), st.integers(0, 3), st.integers(0, 3))
def test_whatever_is_scarce_few_tools_are_recommended(
    headroom: int, window: int, talk: int, notes: int
) -> None:
    pressure = pressure_of(_budget(headroom, window=window, talk=talk, notes=notes))
    assert pressure is not None
    assert {*pressure.recommended_tools} <= {
        *("session_search_context", "retrieval_search", "shell_describe"),
        *("session_get_trace", "session_get_snapshot"),
    }
    assert bool(pressure.recommended_tools) is (pressure.level != "low")


@pytest.mark.req("BOA-CTX-14")
def test_without_a_budget_there_is_no_pressure() -> None:
    assert pressure_of(None) is None
    assert pressure_note(None) is None


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (_budget(257), False),
        (_budget(256), True),
        (_budget(window=256), True),
        (_budget(talk=1), True),
        (_budget(notes=1), True),
        (_budget(), False),
    ],
)
def test_a_crowded_context_is_told_with_the_tool_that_shows_it(
    budget: ContextBudget, told: bool
) -> None:
    note = pressure_note(budget)
    assert (note is not None) is told
    if note is not None:
        assert note.startswith("[context-pressure] level=")
        assert "next_tool=session_describe_context next_args={} next_why=" in note
        assert len(note) <= 180


def test_a_note_is_one_line_of_names_and_values_that_ends_with_the_next_call() -> None:
    step = Step(tool="skills_read", args={"name": "a b"}, rationale="it fits")
    note = harness_note("skill-candidate", {"skill": "x\ny", "score": 3, "sure": True}, step)
    assert note == (
        '[skill-candidate] skill="x\\ny" score=3 sure=true'
        ' next_tool=skills_read next_args={"name":"a b"} next_why="it fits"'
    )


@given(st.text(), st.text())
def test_no_value_breaks_out_of_its_note_and_all_can_be_read_from_it(value: str, why: str) -> None:
    step = Step(tool="read", args={"path": value}, rationale=why)
    note = harness_note("read-first", {"value": value}, step)
    assert note.isprintable()
    decoder, place = json.JSONDecoder(), len("[read-first] value=")
    for expected, then in (
        (value, " next_tool=read next_args="),
        ({"path": value}, " next_why="),
        (why, ""),
    ):
        if note[place : place + 1] in '"{':
            found, end = decoder.raw_decode(note, place)
        else:
            end = note.index(then, place) if then else len(note)
            found = note[place:end]
        assert found == expected
        assert note.startswith(then, end)
        place = end + len(then)
