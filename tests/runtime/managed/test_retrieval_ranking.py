"""How much what was found counts, in which order, what of it is the same, where it is reread."""

from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from holdfast.contract.json_value import JsonValue
from holdfast.contract.managed.retrieval import BUILT_IN, BackendName, Candidate, Source
from holdfast.contract.steps import Step
from holdfast.runtime.managed.retrieval.expanding import expansion_of, planned, urgency
from holdfast.runtime.managed.retrieval.hits import Hit, Neighbour
from holdfast.runtime.managed.retrieval.ranking import (
    SOURCE_BONUS,
    Goal,
    Viewer,
    affinity,
    candidate_of,
    confidence,
    in_order,
    merged,
)

VECTOR: BackendName = "vector"
VIEWER = Viewer("coder", Goal("Fix the till", ("till.py adds up", "tests pass")))
SESSION_SOURCES = [
    one
    for one in get_args(Source)
    if one not in {"learning", "workspace_memory", "workspace_memory_notes"}
]


def hit(source: Source = "session_event", **more: Any) -> Hit:
    given: dict[str, Any] = {
        "title": "t",
        "snippet": "s",
        "points": 1,
        "session_id": "ses_1",
        **more,
    }
    return Hit(source=source, **given)


def neighbour(**more: Any) -> Neighbour:
    given: dict[str, Any] = {"session_id": "ses_1", **more}
    return Neighbour(**given)


def candidate(**more: Any) -> Candidate:
    made = candidate_of("session_context", hit(), neighbour(), VIEWER)
    return replace(made, **more)


@pytest.mark.req("BOA-RETR-12")
def test_each_source_has_its_bonus() -> None:
    assert dict(SOURCE_BONUS) == {
        "learning": 5,
        "workspace_memory_notes": 4,
        "workspace_memory": 3,
        "session_evaluation": 3,
        "wake_trace": 3,
        "session_outcome": 2,
        "session_event": 2,
        "session_checkpoint": 1,
        "session_state": 0,
        "working_buffer": 0,
        "shell_state": 0,
    }
    for source, bonus in SOURCE_BONUS.items():
        found = candidate_of("memory", hit(source, points=7), neighbour(), VIEWER)
        assert found.score == 7 + bonus
        assert (f"source:{source}" in found.reasons) is bool(bonus)


@pytest.mark.req("BOA-RETR-13", "BOA-RETR-04", "BOA-MEM-06")
@pytest.mark.parametrize(("match", "points"), [(True, 2), (False, 0), (None, 0)])
def test_the_same_setup_counts_a_little_and_is_told(match: bool | None, points: int) -> None:
    found = candidate_of("memory", hit(), neighbour(setup_match=match), VIEWER)
    assert found.score == 1 + 2 + points
    assert found.setup_match is match
    assert ("setup:same" in found.reasons) is bool(match)


@pytest.mark.req("BOA-RETR-14", "BOA-RETR-05")
@pytest.mark.parametrize(
    ("title", "criteria", "points"),
    [
        ("fix  THE till", (), 3),
        ("Another", ("tests run",), 1),
        ("Another", ("tests pass till.py",), 2),
        ("Fix the till", ("tests pass till.py",), 5),
        ("Another", ("the of",), 0),
        (None, (), 0),
    ],
)
def test_the_same_outcome_counts_a_little(
    title: str | None, criteria: tuple[str, ...], points: int
) -> None:
    near = neighbour(outcome_title=title, criteria=criteria)
    assert affinity(near, VIEWER.goal)[0] == points
    assert affinity(near, Goal())[0] == 0
    assert affinity(replace(near, is_current=True), VIEWER.goal)[0] == 0


@pytest.mark.req("BOA-RETR-15", "BOA-RETR-06")
@pytest.mark.parametrize(
    ("relation", "points"), [("parent", 2), ("child", 2), ("sibling", 1), (None, 0)]
)
def test_relatives_count_a_little(relation: Any, points: int) -> None:
    found = candidate_of("memory", hit(), neighbour(relation=relation), VIEWER)
    assert found.score == 1 + 2 + points
    assert found.session_relation == relation


@pytest.mark.req("BOA-RETR-16")
@pytest.mark.parametrize("source", SESSION_SOURCES)
def test_what_belongs_to_a_session_counts_for_all_of_its_closeness(source: Source) -> None:
    near = neighbour(setup_match=True, outcome_title="Fix the till", relation="child")
    found = candidate_of("memory", hit(source), near, VIEWER)
    assert found.score == 1 + SOURCE_BONUS[source] + 2 + 3 + 2


@pytest.mark.parametrize("source", ["learning", "workspace_memory", "workspace_memory_notes"])
def test_what_belongs_to_the_agent_counts_for_itself(source: Source) -> None:
    near = neighbour(setup_match=False, outcome_title="Fix the till", relation="child")
    found = candidate_of("memory", hit(source), near, VIEWER)
    assert found.score == 1 + SOURCE_BONUS[source]
    assert found.session_relation is None
    assert found.expansion is not None
    assert found.expansion.tool != "agent_compare_setup"


@pytest.mark.req("BOA-RETR-19")
@pytest.mark.parametrize(
    ("pieces", "score", "told"),
    [(2, 0, "high"), (1, 10, "high"), (1, 9, "medium"), (1, 6, "medium"), (1, 5, "low")],
)
def test_how_sure_it_is(pieces: int, score: int, told: str) -> None:
    assert confidence(pieces, score) == told


@pytest.mark.req("BOA-RETR-20", "BOA-MEM-07")
def test_a_candidate_has_these_fields_and_those_of_its_session() -> None:
    assert [one.name for one in fields(Candidate)] == [
        *("backend", "source", "agent_id", "session_id", "event_id", "wake_id"),
        *("setup_fingerprint", "setup_match", "session_relation", "requires_action"),
        *("pending_action_kind", "pending_action_tool_name", "outcome_status"),
        *("promotion_ready", "outcome_trend", "title", "snippet", "score", "created_at"),
        *("reasons", "confidence", "evidence", "expansion"),
    ]
    near = neighbour(
        requires_action=True, pending_kind="custom_tool", pending_tool="deploy", status="fail"
    )
    near = replace(near, ready=False, trend="stable", setup_fingerprint="f")
    found = candidate_of("memory", hit(event_id="evt_1", created_at="2026"), near, VIEWER)
    assert (found.requires_action, found.pending_action_kind) == (True, "custom_tool")
    assert found.pending_action_tool_name == "deploy"
    assert (found.outcome_status, found.promotion_ready, found.outcome_trend) == (
        *("fail", False, "stable"),
    )
    assert (found.setup_fingerprint, found.created_at) == ("f", "2026")
    (piece,) = found.evidence
    assert (piece.backend, piece.source, piece.score, piece.event_id) == (
        *("memory", "session_event", found.score, "evt_1"),
    )


@pytest.mark.req("BOA-RETR-17")
def test_the_order_is_score_then_setup_then_relation_then_the_newest() -> None:
    told = [
        candidate(score=5, title="score"),
        candidate(score=4, setup_match=True, title="setup"),
        candidate(score=4, session_relation="sibling", setup_match=False, title="relation"),
        candidate(score=4, created_at="2026-02", title="new"),
        candidate(score=4, created_at="2026-01", title="old"),
    ]
    assert in_order(reversed(told)) == told


EXPANSIONS: list[tuple[Hit, Neighbour | None, str, dict[str, object]]] = [
    (hit("session_checkpoint"), neighbour(), "session_get_snapshot", {"session_id": "ses_1"}),
    (hit("session_evaluation"), neighbour(evaluations=2), "outcome_history", {}),
    (hit("session_evaluation"), neighbour(evaluations=1), "outcome_evaluate", {}),
    (hit("session_outcome"), neighbour(), "outcome_read", {}),
    (hit("session_state"), neighbour(), "memory_read", {"target": "session_state"}),
    (hit("working_buffer"), neighbour(), "memory_read", {"target": "working_buffer"}),
    (hit("shell_state", has_command=True), neighbour(), "shell_read_last_output", {}),
    (hit("shell_state"), neighbour(), "shell_describe", {}),
    (hit(wake_id="wak_1"), neighbour(), "session_get_trace", {"wake_id": "wak_1"}),
    (
        hit(event_id="evt_1"),
        neighbour(),
        "session_get_events",
        {"around_event_id": "evt_1", "before_limit": 2, "after_limit": 2},
    ),
    (hit("wake_trace", wake_id="w"), neighbour(), "session_get_trace", {"wake_id": "w"}),
    (hit("learning"), None, "learning_list", {}),
    (hit("workspace_memory"), None, "memory_read", {"target": "workspace_memory"}),
    (hit("workspace_memory_notes"), None, "memory_read", {"target": "workspace_memory_notes"}),
]


@pytest.mark.req(
    "BOA-RETR-21",
    "BOA-RETR-22",
    "BOA-RETR-23",
    "BOA-RETR-24",
    "BOA-RETR-25",
    "BOA-RETR-26",
    "BOA-RETR-27",
    "BOA-MEM-03",
    "BOA-MEM-05",
    "BOA-BND-07",
)
@pytest.mark.parametrize(("found", "near", "tool", "args"), EXPANSIONS)
def test_each_hit_leads_to_where_it_is_read_again(
    found: Hit, near: Neighbour | None, tool: str, args: dict[str, object]
) -> None:
    step = expansion_of(found, near)
    assert step.tool == tool
    session = {} if near is None else {"session_id": "ses_1"}
    assert step.args == {**args, **session}
    assert step.rationale


@pytest.mark.req("BOA-MEM-04")
@pytest.mark.parametrize("source", SESSION_SOURCES)
def test_another_setup_is_compared_first(source: Source) -> None:
    found = hit(source, wake_id="wak_1", event_id="evt_1")
    step = expansion_of(found, neighbour(setup_match=False))
    assert (step.tool, step.args) == ("agent_compare_setup", {"session_id": "ses_1"})
    assert expansion_of(found, neighbour(setup_match=None)).tool != "agent_compare_setup"


@pytest.mark.req("BOA-RETR-29")
@pytest.mark.parametrize(
    ("tool", "usual", "stuck"),
    [
        *(("outcome_history", 3, 5), ("outcome_evaluate", 2, 1), ("outcome_read", 1, 1)),
        *(("agent_compare_setup", 1, 1), ("session_get_snapshot", 1, 1)),
        *(("session_get_trace", 1, 1), ("session_get_events", 0, 0), ("memory_read", 0, 0)),
    ],
)
def test_some_steps_are_urgent_while_nothing_may_be_shared(
    tool: str, usual: int, stuck: int
) -> None:
    for trend in (None, "first_iteration", "improving"):
        assert urgency(tool, ready=False, trend=trend) == usual
    for trend in ("stable", "regressing"):
        assert urgency(tool, ready=False, trend=trend) == stuck
        assert urgency(tool, ready=True, trend=trend) == 0


def leading(*tools: str, **args: JsonValue) -> list[Candidate]:
    return [candidate(expansion=Step(tool=tool, args=args, rationale="r")) for tool in tools]


@pytest.mark.req("BOA-RETR-28", "BOA-RETR-08", "BOA-RETR-09")
def test_the_plan_has_each_call_once_by_support_and_urgency() -> None:
    events = leading("session_get_events", "session_get_events", around_event_id="e")
    found = [
        *events,
        *leading("session_get_trace", "outcome_evaluate", "outcome_history", "outcome_read"),
        *leading("session_get_snapshot"),
    ]
    unsafe = [one.tool for one in planned(found, ready=False, trend="improving")]
    assert unsafe == [
        *("outcome_history", "outcome_evaluate", "outcome_read", "session_get_snapshot"),
        *("session_get_trace", "session_get_events"),
    ]
    stuck = planned(found, ready=False, trend="stable")
    assert (stuck[0].tool, stuck[0].support, stuck[0].urgency) == ("outcome_history", 1, 5)
    safe = planned(found, ready=True, trend="stable")
    assert (safe[0].tool, safe[0].support, safe[0].urgency) == ("session_get_events", 2, 0)
    assert [one.tool for one in safe][1:3] == ["outcome_history", "outcome_evaluate"]


def test_the_same_tool_with_other_arguments_is_another_step() -> None:
    found = [*leading("outcome_read", session_id="a"), *leading("outcome_read", session_id="b")]
    assert [one.args for one in planned(found, ready=True, trend=None)] == [
        *({"session_id": "a"}, {"session_id": "b"}),
    ]


@pytest.mark.req("BOA-RETR-18")
def test_what_is_the_same_run_event_or_text_counts_once() -> None:
    event = candidate_of(
        "session_context", hit(event_id="e", wake_id="w", points=4), neighbour(), VIEWER
    )
    trace = candidate_of("session_trace", hit("wake_trace", wake_id="w"), neighbour(), VIEWER)
    again = candidate_of("vector", hit(event_id="e", points=3), neighbour(), VIEWER)
    other = candidate_of("session_trace", hit("wake_trace", wake_id="v"), neighbour(), VIEWER)
    (one, two) = merged([trace, other, again, event])
    assert one.candidate.score == event.score + 2
    assert one.candidate.source == "session_event"
    assert len(one.candidate.evidence) == 3
    assert one.candidate.confidence == "high"
    assert one.members == (event, again, trace)
    assert two.candidate == other
    same_words = [candidate(snippet="The  Till", event_id=None), candidate(snippet="the till")]
    assert len(merged(same_words)) == 1


def test_a_run_of_another_session_is_another_run() -> None:
    found = [candidate(wake_id="w", session_id=name, snippet=name) for name in ("a", "b")]
    assert len(merged(found)) == 2


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    session = draw(st.sampled_from(["ses_1", "ses_2"]))
    found = hit(
        draw(st.sampled_from(list(SOURCE_BONUS))),
        session_id=session,
        wake_id=draw(st.sampled_from([None, "w1", "w2"])),
        event_id=draw(st.sampled_from([None, "e1", "e2", "e3"])),
        points=draw(st.integers(1, 20)),
        snippet=draw(st.sampled_from(["a", "b"])),
    )
    backend = draw(st.sampled_from((*BUILT_IN, VECTOR)))
    return candidate_of(backend, found, neighbour(session_id=session), VIEWER)


CANDIDATES = st.lists(candidates(), max_size=8)


@given(CANDIDATES, st.randoms())
def test_the_same_hits_come_out_the_same_whoever_found_them_first(
    found: list[Candidate], dice: Any
) -> None:
    shuffled = [*found]
    dice.shuffle(shuffled)
    one, other = merged(found), merged(shuffled)
    assert [each.candidate for each in one] == [each.candidate for each in other]
    plans = [
        planned((member for each in told for member in each.members), ready=False, trend=None)
        for told in (one, other)
    ]
    assert [(step.tool, step.args) for step in plans[0]] == [
        (step.tool, step.args) for step in plans[1]
    ]


@given(CANDIDATES)
def test_merging_loses_nothing_and_adds_what_is_due(found: list[Candidate]) -> None:
    together = merged(found)
    assert sorted(map(repr, found)) == sorted(
        repr(member) for one in together for member in one.members
    )
    for one in together:
        pairs = {(each.backend, each.source) for each in one.members}
        best = max(each.score for each in one.members)
        assert one.candidate.score == best + len(pairs) - 1
    assert all(first.candidate.score >= then.candidate.score for first, then in pairwise(together))
    for at, one in enumerate(together):
        keys = {(each.session_id, each.wake_id) for each in one.members if each.wake_id}
        for two in together[at + 1 :]:
            theirs = {(each.session_id, each.wake_id) for each in two.members if each.wake_id}
            assert keys.isdisjoint(theirs)
