"""Wakes and what models are asked as spans and metrics, whatever becomes of them."""

from opentelemetry.trace import SpanKind, StatusCode
from telemetry_kit import Memory, event, heard, identity, settled, times, told

from holdfast.contract.envelope import envelope_of
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallIntended,
    ChildCreated,
    ChildIdle,
    ModelReplied,
    ModelRequested,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanResult,
    SpanStarted,
    StatusChanged,
    StatusIdle,
)
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.wake_events import ModelFailed

CODER = SessionCreated(agent_id="coder")
STARTED = SpanStarted(span_id="wak_1", span_kind="wake", name="session_run")
REQUESTED = ModelRequested(request_id="msg_1", model="gpt-5", request_hash="ab")
CALLS: JsonObject = {
    "calls": [{"id": "cal_1", "model_call_id": "c1", "name": "add", "arguments": '{"a": 1}'}],
    "finish": "tool_calls",
}
USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cached_tokens": 60,
    "cache_write_tokens": 5,
    "reasoning_tokens": 7,
}
REPLIED = ModelReplied(request_id="msg_1", reply=CALLS, usage={**USAGE})
AGAIN = ModelRequested(request_id="msg_2", model="gpt-5", request_hash="cd")
LAST = ModelReplied(
    request_id="msg_2", reply={"text": "It is 3."}, usage={"input_tokens": 150, "output_tokens": 4}
)
SAID = AgentMessage(message="It is 3.", summary="3")
RESTS = StatusIdle(reason="idle", summary="3")
CALL: list[Payload] = [
    CallAsked(call_id="cal_1", model_call_id="c1", tool="add", arguments='{"a": 1}'),
    CallIntended(call_id="cal_1", tool="add", arguments_hash="ab", grounds="no rule speaks"),
    settled("cal_1", envelope_of(3), "add"),
]


def completed(result: SpanResult, wake_id: str = "wak_1") -> SpanCompleted:
    return SpanCompleted(span_id=wake_id, span_kind="wake", name="session_run", result=result)


def failed(attempt: int, request_id: str) -> ModelFailed:
    return ModelFailed(
        request_id=request_id, trouble="rate_limited", message="slow down", attempt=attempt
    )


def in_wake(*steps: tuple[float, Payload]) -> list[tuple[float, Payload, str | None]]:
    return [(seconds, payload, "wak_1") for seconds, payload in steps]


WHOLE = in_wake(
    (1, STARTED),
    (2, REQUESTED),
    (4, REPLIED),
    *((5, one) for one in CALL),
    (6, AGAIN),
    *((7, one) for one in (LAST, SAID, RESTS, completed("success"))),
)


def test_a_wake_holds_what_it_asked_and_what_it_ran() -> None:
    memory = Memory()
    heard(memory, WHOLE, created=CODER, provider="openai")
    assert memory.tree() == [
        "invoke_agent coder",
        "  chat gpt-5",
        "  execute_tool add",
        "    permission.evaluate",
        "  chat gpt-5",
    ]
    wake = memory.span("invoke_agent coder")
    assert (times(wake), wake.kind, wake.status.status_code) == (
        *((1, 7), SpanKind.INTERNAL),
        StatusCode.UNSET,
    )
    assert told(wake) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.agent.name": "coder",
        "gen_ai.agent.id": "coder",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.usage.input_tokens": 250,
        "gen_ai.usage.output_tokens": 24,
        "holdfast.wake.id": "wak_1",
        "holdfast.wake.result": "success",
        "holdfast.wake.stop_reason": "idle",
    }
    assert told(memory.span("execute_tool add"))["holdfast.wake.id"] == "wak_1"


def test_a_question_to_a_model_says_what_it_took() -> None:
    memory = Memory()
    heard(memory, WHOLE, created=CODER, provider="openai")
    first, second = [one for one in memory.spans if one.name == "chat gpt-5"]
    assert (times(first), first.kind) == ((2, 4), SpanKind.CLIENT)
    common = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.agent.name": "coder",
        "gen_ai.request.model": "gpt-5",
        "holdfast.wake.id": "wak_1",
        "holdfast.model.purpose": "turn",
    }
    assert told(first) == {
        **common,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_creation.input_tokens": 5,
        "gen_ai.usage.reasoning.output_tokens": 7,
    }
    assert told(second) == {
        **common,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 150,
        "gen_ai.usage.output_tokens": 4,
    }


def test_tokens_and_durations_are_metrics_in_the_buckets_of_the_conventions() -> None:
    memory = Memory()
    heard(memory, WHOLE, created=CODER, provider="openai")
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
    }
    assert memory.points("gen_ai.client.operation.duration") == [(asked, 3.0, 2)]
    assert memory.points("gen_ai.client.token.usage") == [
        ({**asked, "gen_ai.token.type": "input"}, 250, 2),
        ({**asked, "gen_ai.token.type": "output"}, 24, 2),
    ]
    assert memory.points("gen_ai.invoke_agent.duration") == [
        ({"gen_ai.agent.name": "coder"}, 6.0, 1)
    ]
    assert memory.bounds("gen_ai.client.token.usage") == (
        *(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144),
        *(1048576, 4194304, 16777216, 67108864),
    )
    assert memory.bounds("gen_ai.client.operation.duration") == (
        *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
    )
    assert memory.bounds("gen_ai.invoke_agent.duration") == (
        *(0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6),
    )


def test_an_agent_without_a_name_is_still_invoked() -> None:
    memory = Memory()
    heard(memory, [(1, STARTED, "wak_1"), (2, completed("blocked"), "wak_1")])
    wake = memory.span("invoke_agent")
    assert wake.status.status_code is StatusCode.UNSET
    assert told(wake) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "ses_1",
        "holdfast.wake.id": "wak_1",
        "holdfast.wake.result": "blocked",
    }


def test_each_attempt_at_a_model_is_a_span_and_the_wake_fails_by_the_last_trouble() -> None:
    memory = Memory()
    again = StatusChanged(from_status="running", to_status="rescheduling", reason="Wake failed")
    heard(
        memory,
        in_wake(
            *((1, STARTED), (2, REQUESTED), (3, failed(1, "msg_1"))),
            *((5, AGAIN), (6, failed(2, "msg_2")), (7, again), (7, completed("error"))),
        ),
    )
    first, second, wake = memory.spans
    assert [times(first), times(second)] == [(2, 3), (5, 6)]
    assert [told(one)["holdfast.model.attempt"] for one in (first, second)] == [1, 2]
    for span in (first, second, wake):
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
        assert told(span)["error.type"] == "rate_limited"
    assert told(wake)["holdfast.wake.stop_reason"] == "rescheduling"
    ((attributes, _, count),) = memory.points("gen_ai.client.operation.duration")
    assert (attributes["error.type"], count) == ("rate_limited", 2)
    assert memory.points("gen_ai.invoke_agent.duration") == [
        ({"error.type": "rate_limited"}, 6.0, 1)
    ]


def test_a_wake_that_fails_after_its_model_replied_failed_by_itself() -> None:
    memory = Memory()
    heard(
        memory,
        in_wake(
            *((1, STARTED), (2, REQUESTED), (3, failed(1, "msg_1")), (4, AGAIN)),
            *((5, LAST), (6, completed("error"))),
        ),
    )
    assert told(memory.span("invoke_agent"))["error.type"] == "failed"


def test_a_question_that_was_given_up_is_cancelled() -> None:
    memory = Memory()
    heard(memory, in_wake((1, STARTED), (2, REQUESTED), (3, completed("blocked"))))
    chat = memory.span("chat gpt-5")
    assert (times(chat), told(chat)["error.type"]) == ((2, 3), "cancelled")


def test_a_call_that_waits_for_somebody_ends_with_its_wake_and_goes_on_in_the_next() -> None:
    memory = Memory()
    asked, intended, done = CALL
    second = SpanStarted(span_id="wak_2", span_kind="wake", name="session_run")
    heard(
        memory,
        [
            *in_wake((1, STARTED), (2, asked), (3, completed("blocked"))),
            *((9, second, "wak_2"), (10, intended, "wak_2"), (11, done, "wak_2")),
            (12, completed("success", "wak_2"), "wak_2"),
        ],
    )
    assert memory.tree() == [
        *("invoke_agent", "  execute_tool add"),
        *("invoke_agent", "  execute_tool add", "    permission.evaluate"),
    ]
    waits, goes_on = [one for one in memory.spans if one.name == "execute_tool add"]
    assert (times(waits), told(waits)["holdfast.unfinished"]) == ((2, 3), True)
    assert (times(goes_on), told(goes_on).get("holdfast.unfinished")) == ((10, 11), None)


def test_a_wake_that_never_ended_is_unfinished_when_the_next_begins_and_at_the_end() -> None:
    memory = Memory()
    second = SpanStarted(span_id="wak_2", span_kind="wake", name="session_run")
    heard(
        memory,
        [
            *in_wake((1, STARTED), (2, REQUESTED), (3, REPLIED), (4, CALL[0])),
            (9, second, "wak_2"),
            (10, completed("success"), "wak_1"),
        ],
    )
    assert memory.tree() == [
        *("invoke_agent", "  chat gpt-5", "  execute_tool add"),
        "invoke_agent",
    ]
    wakes = [one for one in memory.spans if one.name == "invoke_agent"]
    assert [times(one) for one in wakes] == [(1, 9), (9, 10)]
    assert [told(one)["holdfast.unfinished"] for one in wakes] == [True, True]
    assert told(wakes[0])["gen_ai.usage.input_tokens"] == 100
    assert memory.points("gen_ai.invoke_agent.duration") == []


def test_ends_whose_beginnings_nobody_heard_make_nothing() -> None:
    memory = Memory()
    heard(memory, in_wake((1, completed("success")), (2, REPLIED), (3, failed(1, "msg_9"))))
    assert memory.spans == []


def test_a_question_asked_twice_under_one_name_was_given_up_the_first_time() -> None:
    memory = Memory()
    heard(memory, [(1, REQUESTED), (2, REQUESTED), (3, REPLIED)])
    first, second = memory.spans
    assert (told(first).get("error.type"), told(second).get("error.type")) == ("cancelled", None)


def test_what_was_said_is_told_only_where_that_is_wanted_in_the_form_of_the_conventions() -> None:
    silent, open_hearted = Memory(), Memory()
    heard(silent, WHOLE)
    heard(open_hearted, WHOLE, content=True)
    assert "messages" not in str([told(one) for one in silent.spans])
    first, second = [one for one in open_hearted.spans if one.name == "chat gpt-5"]
    assert told(first)["gen_ai.output.messages"] == (
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"add",'
        '"arguments":"{\\"a\\": 1}"}],"finish_reason":"tool_calls"}]'
    )
    said = (
        '[{"role":"assistant","parts":[{"type":"text","content":"It is 3."}],'
        '"finish_reason":"stop"}]'
    )
    assert told(second)["gen_ai.output.messages"] == said
    assert told(open_hearted.span("invoke_agent"))["gen_ai.output.messages"] == said


def test_a_reply_that_says_nothing_or_is_no_reply_has_no_message() -> None:
    memory = Memory()
    replies: list[JsonValue] = [{"text": ""}, None, {"calls": "?"}, {"calls": [1]}]
    for reply in replies:
        said = ModelReplied(request_id="msg_1", reply=reply, usage={"input_tokens": True})
        heard(memory, [(1, REQUESTED), (2, said)], content=True)
    assert len(memory.spans) == 4
    for span in memory.spans:
        assert "gen_ai.output.messages" not in told(span)
        assert "gen_ai.usage.input_tokens" not in told(span)


HANDED_ON = '{"subagent_type": "searcher", "prompt": "Find it."}'
CHILD = ChildCreated(child_session_id="ses_2", outcome_title="searcher", message="Find it.")


def _task(call_id: str, arguments: str) -> list[Payload]:
    return [
        CallAsked(call_id=call_id, tool="task", arguments=arguments),
        CallIntended(call_id=call_id, tool="task", arguments_hash="ab", grounds=""),
    ]


def _below(memory: Memory, steps: list[tuple[float, Payload]]) -> None:
    """A session hands on work; the other one has a wake meanwhile."""
    opened = memory.opened()
    parent = opened.listening("ses_1", CODER, content=False)
    for seconds, payload in steps:
        parent.hear(event(payload, seconds, "wak_1"))
    named = SessionCreated(parent_id="ses_1", metadata={"agent": "searcher", "depth": 1})
    child = opened.listening("ses_2", named, content=False)
    child.hear(event(SpanStarted(span_id="wak_9", span_kind="wake", name="session_run"), 20))
    child.hear(event(completed("success", "wak_9"), 21))
    child.close()
    rested = ChildIdle(
        child_session_id="ses_2", child_stop_reason="idle", summary="", executed_cycles=1
    )
    parent.hear(event(rested, 22, "wak_1"))
    later = opened.listening("ses_2", named, content=False)
    later.hear(event(SpanStarted(span_id="wak_10", span_kind="wake", name="session_run"), 30))
    later.close()
    parent.close()


def test_a_subagent_is_inside_of_the_call_that_began_it() -> None:
    memory = Memory()
    _below(
        memory,
        [
            (1, STARTED),
            *((2, one) for one in _task("cal_1", '{"prompt": "Something else."}')),
            *((3, one) for one in _task("cal_2", HANDED_ON)),
            (4, CHILD),
            (5, settled("cal_2", envelope_of("found"), "task")),
        ],
    )
    assert memory.tree() == [
        "invoke_agent coder",
        *("  execute_tool task", "    permission.evaluate"),
        *("  execute_tool task", "    permission.evaluate", "    invoke_agent searcher"),
        "invoke_agent searcher",  # it is over: what comes later is not inside of that call
    ]
    inside = next(one for one in memory.spans if one.name == "invoke_agent searcher")
    call = next(
        one
        for one in memory.spans
        if one.name == "execute_tool task" and told(one)["holdfast.call.id"] == "cal_2"
    )
    assert inside.parent is not None
    assert inside.parent.span_id == identity(call)[1]


def test_of_calls_that_do_not_tell_the_only_one_began_the_subagent() -> None:
    memory = Memory()
    _below(memory, [(1, STARTED), *((2, one) for one in _task("cal_1", "{")), (4, CHILD)])
    assert memory.tree()[:2] == ["invoke_agent coder", "  execute_tool task"]
    assert "    invoke_agent searcher" in memory.tree()


def test_where_no_call_can_have_begun_it_a_subagent_is_inside_of_the_wake() -> None:
    memory = Memory()
    first, second = _task("cal_1", "{}"), _task("cal_2", "{}")
    _below(memory, [(1, STARTED), *((2, one) for one in (*first, *second)), (4, CHILD)])
    assert "  invoke_agent searcher" in memory.tree()
