"""What a session's events show of its outcome: what was done since it was defined, and no echo."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    Event,
    OutcomeDefined,
    Payload,
    SpanCompleted,
    StatusChanged,
    StatusIdle,
    WantedOutcome,
)
from holdfast.contract.json_value import JsonValue, encode_json
from holdfast.contract.outcomes import LastWake
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.tool import Body, Effect, Tool
from holdfast.runtime.managed.evidence import LONGEST, MOST, Sources, shows_work, texts, told

TILL = WantedOutcome(title="The till adds up", success_criteria=("all tests pass",))
DEFINED = OutcomeDefined(outcome=TILL)
WORKS = Sources(
    shows_work=frozenset({"bash", "read", "grep", "memory_write"}).__contains__,
    own_places=("/.records",),
)


def events(*runs: tuple[str | None, Sequence[Payload]]) -> list[Event]:
    """As a journal has them: runs by their names, and what they wrote."""
    made: list[Event] = []
    for wake_id, payloads in runs:
        for payload in payloads:
            number = len(made) + 1
            made.append(
                Event(
                    session_id="ses_1",
                    sequence=number,
                    id=f"evt_{number}",
                    at=datetime(2026, 1, 1, tzinfo=UTC),
                    wake_id=wake_id,
                    payload=payload,
                    previous=b"",
                    hash=b"",
                )
            )
    return made


def call(tool: str, result: JsonValue, *, ok: bool = True, arguments: str = "{}") -> list[Payload]:
    envelope = encode_json({"ok": ok, "tool": tool, "result": result})
    return [
        CallAsked(call_id=f"cal_{tool}", tool=tool, arguments=arguments),
        CallSettled(call_id=f"cal_{tool}", tool=tool, envelope=msgspec.Raw(envelope)),
    ]


def ended(result: str = "success", kind: str = "wake", name: str = "session_run") -> Payload:
    given = {"span_id": "s", "span_kind": kind, "name": name, "result": result}
    return msgspec.convert({"type": "span.completed", **given}, SpanCompleted)


def of(*runs: tuple[str | None, Sequence[Payload]]) -> list[tuple[str, str]]:
    found = told(events(*runs), WORKS)
    return [(one.kind, one.text) for one in found.evidence]


def test_what_a_session_did_and_said_is_told_with_its_events() -> None:
    found = told(
        events(
            (None, [DEFINED]),
            ("wak_1", [*call("bash", {"stdout": "all tests pass\n", "exit_code": 0})]),
            ("wak_1", [AgentMessage(message="Done.", summary="Mended the till.")]),
        ),
        WORKS,
    )
    assert (found.outcome, found.outcome_event_id) == (TILL, "evt_1")
    assert [(one.kind, one.text, one.event_id) for one in found.evidence] == [
        ("output", "0\nall tests pass", "evt_3"),
        ("message", "Done.", "evt_4"),
        ("summary", "Mended the till.", "evt_4"),
    ]


def test_the_newest_outcome_counts_and_nothing_before_it() -> None:
    newer = OutcomeDefined(outcome=WantedOutcome(title="The till prints"))
    before = call("bash", {"stdout": "all tests pass"})
    found = told(events((None, [DEFINED]), ("wak_1", [*before, newer])), WORKS)
    assert found.outcome is not None
    assert found.outcome.title == "The till prints"
    assert found.evidence == ()


def test_without_an_outcome_nothing_shows_anything() -> None:
    found = told(events(("wak_1", call("bash", {"stdout": "x"}))), WORKS)
    assert (found.outcome, found.evidence) == (None, ())


def test_what_tells_the_records_of_the_runtime_shows_nothing() -> None:
    """The outcome itself is among them."""
    echo = call("outcome_read", {"active_outcome": {"title": "all tests pass"}})
    assert of((None, [DEFINED]), ("wak_1", echo)) == []


@pytest.mark.parametrize(
    "payloads",
    [
        call("bash", None, ok=False),
        call("bash", {"stdout": ""}),
        call("bash", True),
        [CallSettled(call_id="c", tool="bash", envelope=msgspec.Raw(b'"no envelope"'))],
    ],
    ids=["failed", "nothing", "no text", "unreadable"],
)
def test_a_call_that_answers_nothing_shows_nothing(payloads: list[Payload]) -> None:
    assert of((None, [DEFINED]), ("wak_1", payloads)) == []


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"content": "all tests pass now"}', [("note", "all tests pass now")]),
        ('{"content": "  "}', []),
        ('{"content": 5}', []),
        ("no json", []),
    ],
)
def test_a_note_of_the_model_is_what_it_wrote_and_not_the_answer(
    arguments: str, kept: list[tuple[str, str]]
) -> None:
    note = call("memory_write", {"content": "all tests pass"}, arguments=arguments)
    assert of((None, [DEFINED]), ("wak_1", note)) == kept


def test_a_long_text_is_looked_at_as_far_as_it_goes() -> None:
    ((_, text),) = of((None, [DEFINED]), ("wak_1", call("bash", "x" * (LONGEST * 2))))
    assert len(text) == LONGEST


WELL: list[Payload] = [
    AgentMessage(message="Done.", summary="It adds."),
    StatusIdle(reason="idle", summary="It adds."),
    ended(),
]


def test_the_newest_run_that_ended_is_the_one() -> None:
    found = told(
        events(
            ("wak_1", [ended("error", "tool", "bash"), *WELL]),
            ("wak_2", WELL),
            ("wak_3", [ended("error", "tool", "bash")]),
        ),
        WORKS,
    )
    assert found.last_wake_id == "wak_2"
    assert found.last_wake == LastWake(succeeded=True, came_to_rest=True, has_summary=True)
    assert found.stop_reason == "idle"


def test_how_a_run_went_is_told_by_its_own_events() -> None:
    failed = [ended("error", "tool", "bash"), ended("blocked", "tool", "write"), *WELL]
    found = told(events(("wak_1", failed)), WORKS)
    assert found.last_wake.failed_tools == ("bash",)


@pytest.mark.parametrize(
    ("last", "reason", "rests"),
    [
        (StatusIdle(reason="idle", summary=""), "idle", True),
        (StatusIdle(reason="requires_action", summary=""), "requires_action", False),
        (StatusIdle(reason="interrupted", summary=""), "idle", False),
        (
            StatusChanged(from_status="running", to_status="rescheduling", reason="later"),
            "rescheduling",
            False,
        ),
    ],
)
def test_why_the_newest_run_stopped(last: Payload, reason: str, rests: bool) -> None:
    begun = StatusChanged(from_status="idle", to_status="running", reason="1 new event")
    found = told(events(("wak_1", [begun, last, ended("blocked")])), WORKS)
    assert (found.stop_reason, found.last_wake.came_to_rest) == (reason, rests)
    assert found.last_wake.succeeded is False


def test_a_session_without_a_run_has_none() -> None:
    found = told([], WORKS)
    assert (found.last_wake_id, found.last_wake, found.stop_reason) == (None, LastWake(), "idle")


PLACE = "/ws/.records/outcome.json"


@pytest.mark.parametrize(
    ("tool", "result", "arguments", "shown"),
    [
        ("read", {"path": PLACE, "text": "all tests pass"}, "{}", []),
        ("read", {"text": "all tests pass"}, f'{{"path": "{PLACE}"}}', []),
        ("bash", {"stdout": "x"}, '{"command": "cat ./.records/outcome.json"}', []),
        ("bash", {"stdout": f"{PLACE}:1: x\nsrc/a.py:1: y\n"}, "{}", ["src/a.py:1: y"]),
        (
            "grep",
            {"matches": [{"path": PLACE, "text": "x"}, {"path": "/ws/a.py", "text": "y"}]},
            "{}",
            ["/ws/a.py\ny"],
        ),
        ("bash", {"stdout": ".git\n"}, "{}", [".git"]),
    ],
    ids=["its path", "asked for", "a command", "lines", "matches", "another place"],
)
def test_what_is_read_where_the_runtime_shows_its_records_shows_nothing(
    tool: str, result: JsonValue, arguments: str, shown: list[str]
) -> None:
    found = of((None, [DEFINED]), ("wak_1", call(tool, result, arguments=arguments)))
    assert [text for _, text in found] == shown


def test_only_so_much_is_looked_at_the_newest_first() -> None:
    whole = MOST // LONGEST
    payloads = [one for n in range(whole + 5) for one in call("bash", f"{n} " + "x" * LONGEST)]
    found = of((None, [DEFINED]), ("wak_1", payloads))
    assert len(found) == whole
    assert found[-1][1].startswith(f"{whole + 4} ")
    assert found[0][1].startswith("5 ")


PAUSED: list[Payload] = [StatusIdle(reason="requires_action", summary=""), ended("blocked")]


def test_a_run_that_paused_and_goes_on_has_not_ended() -> None:
    """What failed in it counts in the one that goes on."""
    failed = [ended("error", "tool", "bash"), *PAUSED]
    made = events(("wak_1", WELL), ("wak_2", failed), ("wak_3", PAUSED))
    waiting, going = told(made, WORKS), told(made, WORKS, goes_on=True)
    assert (waiting.last_wake_id, waiting.stop_reason) == ("wak_3", "requires_action")
    assert (going.last_wake_id, going.stop_reason) == ("wak_1", "idle")
    assert going.last_wake.failed_tools == ("bash",)
    assert (going.last_wake.succeeded, going.last_wake.came_to_rest) == (True, True)


def test_a_first_run_that_paused_and_goes_on_has_nothing_before_it() -> None:
    going = told(events(("wak_1", PAUSED)), WORKS, goes_on=True)
    assert (going.last_wake_id, going.last_wake, going.stop_reason) == (
        *("wak_1", LastWake()),
        "idle",
    )


def tool_with(name: str, *effects: Effect) -> Tool:
    body = Body(style="inline", invoke=lambda _values, _runtime: None)
    return Tool(name=name, description=None, requires=RequirementSet(), body=body, effects=effects)


@pytest.mark.parametrize(
    ("tool", "shows"),
    [
        (None, False),
        (tool_with("bash", "sandbox_execute"), True),
        (tool_with("mine"), True),
        (tool_with("outcome_read", "session_read"), False),
        (tool_with("memory_read", "memory_read"), False),
        (tool_with("outcome_define", "session_write"), False),
        (tool_with("todo"), False),
        (tool_with("tool_search", "session_write"), False),
    ],
)
def test_tools_that_tell_what_is_known_or_meant_show_no_work(
    tool: Tool | None, shows: bool
) -> None:
    assert shows_work(tool) is shows


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(VALUES)
def test_every_text_inside_of_a_result_is_found_in_its_order(value: JsonValue) -> None:
    assert [one for one in texts(value) if not one.lstrip("-").isdigit()] == [
        one for one in _leaves(value) if not one.lstrip("-").isdigit()
    ]


def _leaves(value: JsonValue) -> list[str]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in _leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value] if isinstance(value, str) else []


def test_a_result_without_an_end_is_left_at_some_depth() -> None:
    deep: JsonValue = "found"
    for _ in range(200):
        deep = [deep]
    assert list(texts(deep)) == []
