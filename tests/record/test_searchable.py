"""Which words of which event can be found."""

import pytest
from msgspec import Raw

from holdfast.contract import events
from holdfast.contract.events import Payload
from holdfast.contract.managed_events import OutcomeEvaluated, ShellChanged
from holdfast.contract.outcomes import Evaluation, EvaluationRecord
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.searching import MOST_CHARACTERS, searchable


def set_env(arguments: str) -> Payload:
    return events.CallAsked(call_id="c", tool="shell_set_env", arguments=arguments)


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (events.UserMessage(message="hi"), "hi"),
        (events.ChildCreated(child_session_id="s", message="do it"), "do it"),
        (
            events.OutcomeDefined(
                outcome=events.WantedOutcome(title="t", detail="d", success_criteria=("a", "b"))
            ),
            "t\nd\na\nb",
        ),
        (events.UserInterrupt(note="stop"), "stop"),
        (events.UserInterrupt(), ""),
        (events.AgentMessage(message="m", summary="s"), "m\ns"),
        (
            events.ChildIdle(
                child_session_id="s", child_stop_reason="idle", summary="did", executed_cycles=1
            ),
            "did",
        ),
        (events.StatusIdle(reason="idle", summary="rests"), "rests"),
        (events.CustomToolResult(request_id="c", tool_name="deploy", output="ok"), "deploy\nok"),
        (
            events.ToolUse(
                tool_name="bash", ownership="o", permission_policy="p", input={}, output="out"
            ),
            "bash\nout",
        ),
        (events.CallAsked(call_id="c", tool="grep", arguments='{"a":1}'), 'grep\n{"a":1}'),
        (set_env('{"key":"TILL","value":"secret"}'), "shell_set_env\nTILL"),
        (set_env('{"key":7,"value":"secret"}'), "shell_set_env"),
        (set_env('["TILL","secret"]'), "shell_set_env"),
        (set_env('{"key":"TILL","value":"sec'), "shell_set_env"),
        (
            events.CallSettled(
                call_id="c", tool="t", envelope=Raw(b'{"ok":true,"result":["a",{"k":"b"},3,"c"]}')
            ),
            "a\nb\nc",
        ),
        (
            events.ModelReplied(request_id="m", reply={"text": "I look.", "calls": [{"id": "c"}]}),
            "I look.",
        ),
        (events.ModelReplied(request_id="m", reply={"text": "said by a message"}), ""),
        (LearningCaptured(learning_kind="lesson", title="t", detail="d"), "t\nd"),
        (ShellChanged(cwd="/till", set_env=(("TILL", "secret"),)), "/till\nTILL"),
        (
            OutcomeEvaluated(
                record=EvaluationRecord(
                    evaluated_at="",
                    wake_id="w",
                    iteration=0,
                    outcome_title="t",
                    outcome_fingerprint="f",
                    grade_status="sleeping",
                    evaluation=Evaluation(status="fail", confidence="low", summary="s"),
                )
            ),
            "t\nsleeping\nfail\ns",
        ),
        (events.SessionClosed(reason="unseen"), ""),
        (events.UserMessage(message="a\0b"), "a b"),
    ],
)
def test_the_words_of_an_event(payload: Payload, text: str) -> None:
    assert searchable(payload) == text


def test_only_the_beginning_of_much_can_be_found() -> None:
    assert len(searchable(events.UserMessage(message="x" * 100_000))) == MOST_CHARACTERS
