"""What the tool's own policy says, and what an answer makes of a question."""

import msgspec
import pytest
from support import make_call, make_tool

from holdfast.contract.call import Ask, Deny, Permit, Prepared
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.tool import PermissionPolicy
from holdfast.policy.permission import NOBODY_TO_ASK, decide, judge_by_tool


def _prepared(policy: PermissionPolicy = "always_allow") -> Prepared:
    tool = msgspec.structs.replace(make_tool(), permission_policy=policy)
    return Prepared(call=make_call(), tool=tool, checked={}, values={})


def test_a_tool_that_asks_for_no_confirmation_is_permitted() -> None:
    prepared = _prepared()
    verdict = judge_by_tool(prepared)
    assert isinstance(verdict, Permit)
    assert verdict.prepared is prepared


def test_a_tool_that_always_asks_is_never_permitted_by_itself() -> None:
    assert isinstance(judge_by_tool(_prepared("always_ask")), Ask)


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (None, FailureKind.REJECTED, NOBODY_TO_ASK),
        (
            Answer(allowed=False, by="ada"),
            FailureKind.USER_DENIED,
            "The user denied confirmation for probe.",
        ),
        (
            Answer(allowed=False, by="ada", note="too late"),
            FailureKind.USER_DENIED,
            "The user denied confirmation for probe: too late",
        ),
    ],
)
def test_no_answer_and_a_refusal_deny(
    answer: Answer | None, kind: FailureKind, reason: str
) -> None:
    verdict = decide(Ask(prepared=_prepared("always_ask"), reason="r"), answer)
    assert isinstance(verdict, Deny)
    assert (verdict.kind, verdict.reason) == (kind, reason)


def test_an_approval_permits_exactly_the_call_that_was_asked_about() -> None:
    prepared = _prepared("always_ask")
    verdict = decide(Ask(prepared=prepared, reason="r"), Answer(allowed=True, by="ada"))
    assert isinstance(verdict, Permit)
    assert verdict.prepared is prepared
    assert verdict.grounds == "approved by ada"
