"""Calls as spans: their times, what is said of them, the decisions inside, and metrics."""

import pytest
from msgspec import Raw
from opentelemetry.trace import SpanKind, StatusCode
from telemetry_kit import Memory, heard, identity, settled, times, told

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, Metadata, Repair, envelope_of
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    SessionCreated,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Use

ASKED = CallAsked(
    call_id="cal_1", model_call_id="call_x", tool="bash", arguments='{"command": "cat secret.txt"}'
)
RULE = "the manifest rule bash 'cat *' (config.toml:3)"
INTENDED = CallIntended(
    call_id="cal_1",
    tool="bash",
    arguments_hash="ab",
    grounds=f"allowed by {RULE}",
    repairs=(Repair("integer_from_text", "seconds"), Repair("integer_from_text", "limit")),
)
QUESTION = ApprovalAsked(
    approval_id="apr_1",
    call_id="cal_1",
    tool="bash",
    arguments_hash="ab",
    reason=f"Tool 'bash': {RULE} says to ask about shell.run on 'cat secret.txt'.",
    uses=(
        Use(capability="shell.run", kind="command", target="cat secret.txt"),
        Use(capability="fs.read", kind="path", target="secret.txt"),
        Use(capability="shell.run", kind="command", target="true"),
    ),
)
YES = ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada")
DONE = settled("cal_1", Envelope(metadata=Metadata(duration_ms=1250, truncated=True)))


def failed(kind: FailureKind) -> CallSettled:
    return settled("cal_1", Envelope(failure=failure_of(kind, "secret.txt is not yours")))


def test_a_call_is_a_span_from_when_it_was_asked_for_until_it_was_settled() -> None:
    memory = Memory()
    heard(memory, [(1, ASKED), (2, INTENDED), (4, DONE)])
    assert memory.tree() == ["execute_tool bash", "  permission.evaluate"]
    call, decision = memory.span("execute_tool bash"), memory.span("permission.evaluate")
    assert (times(call), call.kind, call.status.status_code) == (
        *((1, 4), SpanKind.INTERNAL),
        StatusCode.UNSET,
    )
    assert told(call) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_x",
        "holdfast.call.id": "cal_1",
        "holdfast.tool.duration_ms": 1250,
        "holdfast.tool.truncated": True,
        "holdfast.tool.repairs": ("integer_from_text",),
    }
    assert times(decision) == (2, 2)
    assert told(decision) == {
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.tool.name": "bash",
        "holdfast.call.id": "cal_1",
        "holdfast.permission.action": "allow",
        "holdfast.permission.source": "manifest rule",
        "holdfast.permission.grounds": RULE.removeprefix("the "),
    }


def test_how_long_calls_took_is_a_metric_in_the_buckets_of_the_conventions() -> None:
    memory = Memory()
    heard(
        memory,
        [(1, ASKED), (2, INTENDED), (4, DONE), (5, ASKED), (5.5, failed(FailureKind.TIMEOUT))],
        created=SessionCreated(agent_id="coder"),
    )
    name = "gen_ai.execute_tool.duration"
    named = {
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": "coder",
    }
    assert memory.points(name) == [
        (named, 3.0, 1),
        ({**named, "error.type": "timeout"}, 0.5, 1),
    ]
    assert memory.bounds(name) == (
        *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
    )


def test_a_call_that_was_written_down_at_once_took_what_its_answer_says() -> None:
    memory = Memory()
    heard(memory, [(3, ASKED), (3, INTENDED), (3, DONE)])
    assert times(memory.span("execute_tool bash")) == (1.75, 3)
    assert times(memory.span("permission.evaluate")) == (1.75, 1.75)


@pytest.mark.parametrize("kind", [*FailureKind])
def test_a_call_that_fails_says_of_which_kind_and_nothing_else(kind: FailureKind) -> None:
    memory = Memory()
    heard(memory, [(1, ASKED), (2, failed(kind))])
    (call,) = memory.spans
    assert (call.status.status_code, call.status.description) == (StatusCode.ERROR, None)
    assert told(call)["error.type"] == kind
    assert "secret" not in str(told(call))


def test_an_answer_that_nobody_can_read_is_an_error_of_another_kind() -> None:
    memory = Memory()
    for number, text in enumerate((b"[", b'{"ok": false, "kind": "never heard of"}')):
        unread = CallSettled(call_id=f"cal_{number}", tool="bash", envelope=_raw(text))
        heard(memory, [(1, unread)])
    assert [told(one)["error.type"] for one in memory.spans] == ["_OTHER", "_OTHER"]


def _raw(text: bytes) -> Raw:
    return Raw(text)


def test_a_tool_that_does_not_exist_names_no_span_and_no_metric() -> None:
    memory = Memory()
    made_up = CallAsked(call_id="cal_1", tool="made_up_by_a_model", arguments="{}")
    unknown = Envelope(failure=failure_of(FailureKind.TOOL_NOT_FOUND, "no such tool"))
    heard(memory, [(1, made_up), (1, settled("cal_1", unknown, made_up.tool))])
    assert told(memory.span("execute_tool"))["gen_ai.tool.name"] == "made_up_by_a_model"
    ((attributes, _, _),) = memory.points("gen_ai.execute_tool.duration")
    assert attributes["gen_ai.tool.name"] == "_OTHER"


def test_a_person_who_is_asked_is_a_span_until_they_answer() -> None:
    memory = Memory()
    heard(memory, [(1, ASKED), (2, QUESTION), (7, YES), (8, INTENDED), (9, DONE)])
    assert memory.tree() == [
        "execute_tool bash",
        "  permission.evaluate",
        "  permission.evaluate",
    ]
    asked, allowed, _ = memory.spans
    assert (times(asked), times(allowed)) == ((2, 7), (7.75, 7.75))
    assert told(asked) == {
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.tool.name": "bash",
        "holdfast.call.id": "cal_1",
        "holdfast.permission.action": "ask",
        "holdfast.permission.source": "manifest rule",
        "holdfast.permission.grounds": RULE.removeprefix("the "),
        "holdfast.permission.capabilities": ("shell.run", "fs.read"),
        "holdfast.permission.allowed": True,
        "holdfast.permission.remember": "once",
    }


def test_an_answer_that_came_elsewhere_is_known_by_what_follows_from_it() -> None:
    refused = CallRefused(
        call_id="cal_1", tool="bash", arguments_hash="ab", kind="user_denied", reason="No: secret."
    )
    denied = failed(FailureKind.USER_DENIED)
    lost = failed(FailureKind.UNAVAILABLE)
    found: list[tuple[object, object, object]] = []
    for then in (
        [(6, INTENDED), (7, DONE)],
        [(6, refused), (6, denied)],
        [(6, denied)],
        [(6, lost)],
    ):
        memory = Memory()
        heard(memory, [(1, ASKED), (2, QUESTION), *then])
        asked = told(memory.spans[0])
        found.append(
            (
                times(memory.spans[0])[1],
                asked.get("holdfast.permission.allowed"),
                asked.get("holdfast.unfinished"),
            )
        )
    assert found == [(5.75, True, None), (6, False, None), (6, False, None), (6, None, True)]


def test_a_refused_call_has_a_decision_that_denies_and_an_error() -> None:
    memory = Memory()
    reason = f"Execution denied by policy for tool: bash. T{RULE[1:]} denies shell.run on 'secret'."
    refused = CallRefused(
        call_id="cal_1", tool="bash", arguments_hash="ab", kind="rejected", reason=reason
    )
    heard(memory, [(1, ASKED), (2, refused), (2, failed(FailureKind.REJECTED))])
    decision, call = memory.spans
    assert told(call)["error.type"] == "rejected"
    assert told(decision) == {
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.tool.name": "bash",
        "holdfast.call.id": "cal_1",
        "holdfast.permission.action": "deny",
        "holdfast.permission.source": "manifest rule",
        "holdfast.permission.grounds": RULE.removeprefix("the "),
    }


def test_calls_that_overlap_are_kept_apart() -> None:
    memory = Memory()
    other = CallAsked(call_id="cal_2", tool="read", arguments="{}")
    heard(
        memory,
        [
            *((1, ASKED), (1.5, other)),
            (2, INTENDED),
            (3, CallIntended(call_id="cal_2", tool="read", arguments_hash="cd", grounds="")),
            (4, settled("cal_2", envelope_of("text"), "read")),
            (5, DONE),
        ],
    )
    assert memory.tree() == [
        *("execute_tool bash", "  permission.evaluate"),
        *("execute_tool read", "  permission.evaluate"),
    ]
    assert times(memory.span("execute_tool read")) == (1.5, 4)
    assert times(memory.span("execute_tool bash")) == (1, 5)
    assert told(memory.span("execute_tool read"))["gen_ai.tool.call.id"] == "cal_2"
    roots = {identity(one)[0] for one in memory.spans}
    assert len(roots) == 2


def test_a_call_whose_beginning_nobody_heard_begins_where_it_was_heard_of() -> None:
    memory = Memory()
    heard(memory, [(2, YES), (3, INTENDED), (4, DONE)])
    call = memory.span("execute_tool bash")
    assert times(call) == (2, 4)
    assert told(call)["gen_ai.tool.name"] == "bash"


def test_a_call_that_is_open_at_the_end_is_unfinished_and_measures_nothing() -> None:
    memory = Memory()
    heard(memory, [(1, ASKED), (2, QUESTION), (3, QUESTION)])
    assert memory.tree() == ["execute_tool bash", "  permission.evaluate", "  permission.evaluate"]
    assert [told(one).get("holdfast.unfinished") for one in memory.spans] == [True, True, True]
    assert times(memory.span("execute_tool bash")) == (1, 3)
    assert memory.points("gen_ai.execute_tool.duration") == []


def test_nothing_of_what_a_call_is_about_is_told_unless_that_is_wanted() -> None:
    steps = [(1, ASKED), (2, QUESTION), (3, YES), (4, INTENDED), (5, DONE)]
    silent, open_hearted = Memory(), Memory()
    heard(silent, steps)
    heard(open_hearted, steps, content=True)
    assert "secret" not in str([told(one) for one in silent.spans])
    assert "ada" not in str([told(one) for one in silent.spans])
    asked, _, call = open_hearted.spans
    assert told(call)["gen_ai.tool.call.arguments"] == ASKED.arguments
    assert told(call)["gen_ai.tool.call.result"] == bytes(DONE.envelope).decode()
    assert told(asked)["holdfast.permission.pattern"] == "cat secret.txt, secret.txt, true"
    assert told(asked)["holdfast.permission.reason"] == QUESTION.reason
    assert told(asked)["holdfast.permission.by"] == "ada"


def test_content_is_bounded() -> None:
    memory = Memory()
    long = CallAsked(call_id="cal_1", tool="bash", arguments="é" * 100_000)
    done = settled("cal_1", envelope_of("x" * 100_000))
    heard(memory, [(1, long), (2, done)], content=True)
    call = told(memory.span("execute_tool bash"))
    for name in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"):
        assert (len(call[name]), call[name][-1]) == (4096, "…")
