"""What an agent says about how it goes on is taken as far as it fits, and never shown."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.directive import (
    INSTRUCTION,
    CustomToolRequest,
    Directive,
    Learning,
    WantedWake,
    enforced,
    learning_key,
    new_learnings,
    stop_reason,
    taken,
    wanted_wakes,
)
from holdfast.agent.directive_block import TAG, take_block

NOW = datetime(2030, 1, 1, tzinfo=UTC)
OPEN, CLOSE = f"<{TAG}>", f"</{TAG}>"


def _block(written: object) -> str:
    body = written if isinstance(written, str) else json.dumps(written)
    return f"{OPEN}\n{body}\n{CLOSE}"


def _read(**fields: object) -> Directive:
    return taken(f"Done.\n\n{_block(fields)}", NOW)[1]


@pytest.mark.req("BOA-DIR-01")
@pytest.mark.parametrize(
    "text",
    [
        f"Hello.\n\n{_block({'outcome': 'continue'})}",
        f"Hello.{_block({'outcome': 'continue'})}",
        f"{_block({'outcome': 'continue'})}\nHello.",
        f"Hello.\n```json\n{_block({'outcome': 'continue'})}\n```\n",
        f"Hello.\n~~~~\n\n  {_block({'outcome': 'continue'})}\n~~~~",
        f"Hello.\n{OPEN}\n```json\n" + '{"outcome": "continue"}' + f"\n```\n{CLOSE}",
        f"Hello.\n{OPEN}```" + '\n{"outcome": "continue"}```' + CLOSE,
        f"Hello.\n{OPEN.upper()}" + '{"outcome": "continue"}' + CLOSE.title(),
        f"Hello.\n{OPEN}" + '{"outcome": "continue"}',
        f"Hello.\n{_block({'outcome': 'sleep'})}\n{_block({'outcome': 'continue'})}",
    ],
)
def test_the_block_is_read_and_taken_out_of_what_people_see(text: str) -> None:
    visible, directive = taken(text, NOW)
    assert visible == "Hello."
    assert directive.outcome == "continue"


@pytest.mark.req("BOA-DIR-01")
@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("Hello.", "Hello."),
        (f"Hello. {_block('')}", "Hello."),
        ("Hello. " + _block('{"outcome": "continue"'), "Hello."),
        (f"Hello. {_block('[1]')}", "Hello."),
        (f"Hello. {_block('continue')}", "Hello."),
        (f"Hello. {_block('[' * 9_999)}", "Hello."),
        (f"Hello. {OPEN}" + '{"outcome": "cont', "Hello."),
        (f"Hello.{CLOSE}", "Hello."),
        (f"{OPEN}", ""),
        ("", ""),
    ],
)
def test_a_missing_or_broken_block_means_all_defaults(text: str, visible: str) -> None:
    assert taken(text, NOW) == (visible, Directive(summary=visible))


def test_what_stands_around_a_block_stays_as_it_is() -> None:
    code = "```python\nx = 1\n\n\n\ny = 2\n```"
    visible, _ = taken(f"{code}\n\n{_block({})}\n\n  indented", NOW)
    assert visible == f"{code}\n\n  indented"
    assert taken("  as it is ", NOW)[0] == "  as it is"


def test_a_fence_that_holds_more_than_the_block_is_kept() -> None:
    visible, directive = taken(f"```\nls\n{_block({'outcome': 'continue'})}\n```", NOW)
    assert visible == "```\nls\n\n```"
    assert directive.outcome == "continue"


def test_pieces_that_are_left_do_not_make_another_tag() -> None:
    visible, directive = taken(f"<holdfast-{_block({})}session-loop>{{}}{CLOSE}", NOW)
    assert OPEN not in visible
    assert CLOSE not in visible
    assert directive.outcome == "sleep"


@pytest.mark.req("BOA-DIR-02")
@pytest.mark.parametrize("outcome", ["sleep", "Continue", "", None, True, 1, ["continue"], {}])
def test_everything_but_continue_is_sleep(outcome: object) -> None:
    assert _read(outcome="continue").outcome == "continue"
    assert _read(outcome=outcome).outcome == "sleep"


@pytest.mark.req("BOA-DIR-03")
def test_a_summary_is_trimmed_and_the_beginning_of_the_response_stands_in_for_it() -> None:
    assert _read(summary="  all well \n").summary == "all well"
    for missing in ("", "  ", None, 5):
        assert _read(summary=missing).summary == "Done."
    long = "word " * 100
    summary = taken(long, NOW)[1].summary
    assert len(summary) == 220
    assert summary[:219] == long[:219]


@pytest.mark.req("BOA-DIR-04")
def test_a_follow_up_is_a_positive_number_of_whole_seconds_and_only_with_continue() -> None:
    assert _read(outcome="continue", follow_up_seconds=60.9).follow_up_seconds == 60
    assert _read(outcome="continue", followUpSeconds=7).follow_up_seconds == 7
    assert _read(outcome="continue", follow_up_seconds=0.5).follow_up_seconds == 1
    for useless in (None, 0, -1, "60", True, [60], {"n": 60}):
        assert _read(outcome="continue", follow_up_seconds=useless).follow_up_seconds == 300
    assert _read(outcome="continue").follow_up_seconds == 300
    assert _read(outcome="sleep", follow_up_seconds=60).follow_up_seconds is None
    text = f"{OPEN}" + '{"outcome": "continue", "follow_up_seconds": 1e999}' + CLOSE
    assert taken(text, NOW)[1].follow_up_seconds in (None, 300)


@pytest.mark.req("BOA-DIR-06", "BOA-DIR-07")
def test_the_first_three_wakes_that_can_be_read_are_taken() -> None:
    directive = _read(
        queued_wakes=[
            "no wake",
            {"reason": "no delay"},
            {"delay_seconds": 5},
            {"reason": " ", "delay_seconds": 5},
            {"reason": "past", "delay_seconds": 0},
            {"reason": "truth", "delay_seconds": True},
            {"reason": " first ", "delay_seconds": 90.9},
            {"reason": "second", "delaySeconds": 200_000, "note": " n ", "dedupeKey": "k"},
            {"reason": "third", "delay_seconds": 0.1, "note": "", "dedupe_key": 4},
            {"reason": "fourth", "delay_seconds": 5},
        ]
    )
    assert directive.queued_wakes == (
        WantedWake(reason="first", due_at=NOW + timedelta(seconds=90)),
        WantedWake(
            reason="second", due_at=NOW + timedelta(seconds=86_400), note="n", dedupe_key="k"
        ),
        WantedWake(reason="third", due_at=NOW + timedelta(seconds=1)),
    )


@pytest.mark.req("BOA-DIR-08")
@pytest.mark.parametrize(
    ("given", "priority"),
    [
        ("low", "low"),
        ("high", "high"),
        ("normal", "normal"),
        ("urgent", "normal"),
        (None, "normal"),
    ],
)
def test_a_wake_is_due_after_its_delay_with_a_priority_of_three(
    given: object, priority: str
) -> None:
    (wake,) = _read(
        queuedWakes=[{"reason": "r", "delay_seconds": 30, "priority": given}]
    ).queued_wakes
    assert wake.priority == priority
    assert wake.due_at == NOW + timedelta(seconds=30)


@pytest.mark.req("BOA-DIR-10", "BOA-DIR-11")
def test_the_first_three_learnings_that_can_be_read_are_taken() -> None:
    directive = _read(
        learnings=[
            {"title": "no detail"},
            {"detail": "no title"},
            5,
            {"title": " t ", "detail": " d ", "kind": "correction", "dedupeKey": "k"},
            {"title": "T" * 121, "detail": "D" * 401, "kind": "error", "promoteToMemory": True},
            {"title": "t", "detail": "d", "kind": "wisdom", "promote_to_memory": "true"},
            {"title": "fourth", "detail": "d"},
        ]
    )
    first, second, third = directive.learnings
    assert first == Learning(kind="correction", title="t", detail="d", dedupe_key="k")
    assert (second.kind, second.promote_to_memory) == ("error", True)
    assert (len(second.title), len(second.detail)) == (120, 400)
    assert second.title[:119] == "T" * 119
    assert second.detail[:399] == "D" * 399
    assert third == Learning(kind="lesson", title="t", detail="d")
    for almost in (1, "true", "yes", [True], None):
        (learning,) = _read(
            learnings=[{"title": "t", "detail": "d", "promote_to_memory": almost}]
        ).learnings
        assert learning.promote_to_memory is False


@pytest.mark.req("BOA-DIR-13")
def test_a_fourth_run_in_a_row_that_wants_to_go_on_is_put_to_sleep() -> None:
    goes_on = _read(outcome="continue", queued_wakes=[{"reason": "r", "delay_seconds": 9}])
    for continues in range(3):
        assert enforced(goes_on, continues) is goes_on
    stopped = enforced(goes_on, 3)
    assert (stopped.outcome, stopped.enforced_by_runtime) == ("sleep", True)
    assert wanted_wakes(stopped, "s", NOW) == goes_on.queued_wakes
    assert enforced(goes_on, 4).enforced_by_runtime
    assert enforced(goes_on, 1, most=1).enforced_by_runtime
    assert enforced(goes_on, 4, most=5) is goes_on
    sleeps = _read()
    assert enforced(sleeps, 9) is sleeps


@pytest.mark.req("BOA-DIR-14")
def test_a_request_for_a_custom_tool_has_a_name_and_an_input() -> None:
    read = _read(custom_tool_request={"name": " pay ", "input": {"n": 1}}).custom_tool_request
    assert read == CustomToolRequest(name="pay", input={"n": 1})
    for without in ({"name": "pay"}, {"name": "pay", "input": None}, {"name": "pay", "input": [1]}):
        assert _read(customToolRequest=without).custom_tool_request == CustomToolRequest(name="pay")
    for none in (None, "pay", [1], {"name": ""}, {"input": 1}, {"name": 5}):
        assert _read(custom_tool_request=none).custom_tool_request is None


def test_going_on_asks_for_a_wake_of_its_own_that_is_there_once() -> None:
    directive = _read(
        outcome="continue",
        follow_up_seconds=60,
        queued_wakes=[{"reason": "r", "delay_seconds": 9}],
    )
    first, second = wanted_wakes(directive, "ses_1", NOW)
    assert first == WantedWake(
        reason="session.follow_up",
        due_at=NOW + timedelta(seconds=60),
        dedupe_key="follow-up:ses_1",
    )
    assert second.reason == "r"
    assert wanted_wakes(_read(), "ses_1", NOW) == ()


def test_why_a_run_stops_follows_from_what_it_asks_for() -> None:
    wake = [{"reason": "r", "delay_seconds": 9}]
    assert stop_reason(_read()) == "idle"
    assert stop_reason(_read(outcome="continue")) == "rescheduling"
    assert stop_reason(_read(queued_wakes=wake)) == "rescheduling"
    assert stop_reason(_read(queued_wakes=wake, custom_tool_request={"name": "x"})) == (
        "requires_action"
    )
    assert stop_reason(enforced(_read(outcome="continue"), 3)) == "idle"


def test_of_equal_learnings_one_is_new() -> None:
    one = Learning(title="Title", detail="Detail")
    same = Learning(title="TITLE", detail="detail", promote_to_memory=True)
    other = Learning(kind="error", title="Title", detail="Detail")
    keyed = Learning(title="Title", detail="Detail", dedupe_key="k")
    twin = Learning(kind="error", title="quite", detail="different", dedupe_key="k")
    assert new_learnings([one, same, other, keyed, twin], []) == (one, other, keyed)
    assert new_learnings([one, keyed, other], [learning_key(same), "k"]) == (other,)


def test_what_the_prompt_says_of_the_block_is_a_block_that_can_be_read() -> None:
    visible, block = take_block(INSTRUCTION)
    assert block is not None
    assert block["outcome"] == "sleep"
    for field in ("follow_up_seconds", "queued_wakes", "learnings", "custom_tool_request"):
        assert f"- {field}:" in visible


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(max_size=6)
    | st.sampled_from(["continue", "low", "high", "error"]),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("outcome", "summary", "queued_wakes", "queuedWakes", "learnings", "reason"),
                    *("title", "delay_seconds", "delaySeconds", "detail", "kind", "priority"),
                    *("name", "input", "follow_up_seconds", "custom_tool_request"),
                    "promote_to_memory",
                ]
            ),
            inner,
            max_size=8,
        )
    ),
    max_leaves=24,
)
_WAKES = st.lists(
    st.fixed_dictionaries({"reason": st.text(max_size=3), "delay_seconds": st.floats() | _JSON}),
    max_size=6,
)
_LEARNINGS = st.lists(
    st.fixed_dictionaries({"title": st.text(), "detail": st.text(max_size=500)}), max_size=6
)


@given(st.one_of(_JSON, st.fixed_dictionaries({"queued_wakes": _WAKES, "learnings": _LEARNINGS})))
def test_whatever_the_block_says_stays_within_the_bounds(written: object) -> None:
    visible, directive = taken(f"Hello. {_block(written)}", NOW)
    assert visible == "Hello."
    assert directive.summary
    assert (directive.follow_up_seconds is not None) is (directive.outcome == "continue")
    assert directive.follow_up_seconds is None or directive.follow_up_seconds >= 1
    assert len(directive.queued_wakes) <= 3
    for wake in wanted_wakes(directive, "s", NOW)[-3:]:
        assert wake.reason == wake.reason.strip() != ""
    for wake in directive.queued_wakes:
        assert timedelta(seconds=1) <= wake.due_at - NOW <= timedelta(days=1)
    assert len(directive.learnings) <= 3
    for learning in directive.learnings:
        assert 0 < len(learning.title) <= 120
        assert 0 < len(learning.detail) <= 400


@given(
    st.lists(
        st.one_of(
            st.text(max_size=5),
            st.sampled_from(
                [
                    *(OPEN, CLOSE, "{}", "<", ">", "</", TAG, TAG[:9], TAG[9:]),
                    *("```json\n", "\n```", "\n", OPEN.upper(), f"<{TAG} >", "\ud800"),
                    '{"outcome":"continue"}',
                ]
            ),
        ),
        max_size=14,
    )
)
def test_whatever_stands_around_them_no_tag_is_ever_shown(pieces: list[str]) -> None:
    text = "".join(pieces)
    visible, directive = taken(text, NOW)
    assert OPEN not in visible.lower()
    assert CLOSE not in visible.lower()
    assert take_block(visible) == (visible, None)
    assert directive.outcome in ("continue", "sleep")
