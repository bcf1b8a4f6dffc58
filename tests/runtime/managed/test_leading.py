"""Which tools hints lead to."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue
from holdfast.runtime.managed.leading import followable, led_to, noted

STEP: JsonValue = {"tool": "outcome_define", "args": {}, "rationale": "why"}


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value)


ANSWERS: list[tuple[JsonValue, tuple[str, ...]]] = [
    ({"ok": True, "result": {"next_step": STEP}}, ("outcome_define",)),
    (
        {"a": [{"b": STEP}, {"c": {"tool": "read", "args": {}, "rationale": "why"}}, STEP]},
        ("outcome_define", "read"),
    ),
    ({"next_step": None}, ()),
    ({"tool": "read", "args": {}}, ()),
    ({"tool": 3, "args": {}, "rationale": ""}, ()),
    ({"text": 'the "rationale" of it'}, ()),
]


@pytest.mark.parametrize(
    ("answer", "names"),
    ANSWERS,
    ids=["one", "several, each once", "none", "no reason", "no name", "only words"],
)
def test_steps_are_found_wherever_they_stand_in_an_answer(
    answer: JsonValue, names: tuple[str, ...]
) -> None:
    assert led_to(encoded(answer)) == names


@given(st.binary() | st.text().map(str.encode))
def test_what_is_no_answer_leads_nowhere(text: bytes) -> None:
    assert led_to(text + b'"rationale"') == ()


def test_an_answer_deeper_than_any_leads_nowhere() -> None:
    deep = b'{"rationale":' * 5000 + b"1" + b"}" * 5000
    assert led_to(deep) == ()


def test_notes_name_the_tool_that_is_next() -> None:
    lines = (
        "[promotion-gate] status=not_ready next_tool=session_get_trace next_args={} next_why=x",
        "[shell-busy] next_tool=shell_wait next_args={} next_why=x",
        '[odd] not_next_tool=bash and next_tool="x" next_tool=',
        "Finish what matters most.",
    )
    assert noted(lines) == ("session_get_trace", "shell_wait")


def test_steps_to_tools_that_are_not_there_are_taken_out_and_nothing_else() -> None:
    other: JsonValue = {"tool": "read", "args": {"path": "a"}, "rationale": "why"}
    said: dict[str, JsonValue] = {"next": STEP, "plan": [STEP, other, None], "hit": {"step": other}}
    left = {"next": None, "plan": [other, None], "hit": {"step": other}}
    answer = envelope_of(said)
    assert followable(answer, "read".__eq__).result == left
    assert followable(answer, {"read", "outcome_define"}.__contains__) is answer
    failure = Failure(
        kind=FailureKind.REJECTED, message="Not yet.", retryable=False, extras={**said}
    )
    refused = followable(Envelope(failure=failure), "read".__eq__)
    assert refused.failure is not None
    assert refused.failure.extras == left
    plain = Envelope(failure=msgspec.structs.replace(failure, extras={"hit": other}))
    assert followable(plain, "read".__eq__) is plain


def test_what_lies_too_deep_is_left_as_it_is() -> None:
    said: JsonValue = STEP
    for _ in range(40):
        said = [said]
    answer = envelope_of([said, STEP])
    assert followable(answer, "read".__eq__).result == [said]
