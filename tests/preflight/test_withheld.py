"""Arguments that a session withholds: refused with their reason, and never let pass as clean."""

import msgspec
import pytest
from preflight.kit import one, tool_of

from holdfast.contract.call import Prepared, RawArguments, Rejected, ToolCall
from holdfast.contract.failure import FailureKind
from holdfast.preflight.plan import Plan


def outcome(arguments: RawArguments, *, closed: bool) -> Prepared | Rejected:
    tool = tool_of(one({"type": "integer"}, closed=closed))
    plan = Plan(msgspec.structs.replace(tool, withheld={"background": "Not here."}))
    return plan.prepare(
        ToolCall(id="cal_test", tool="probe", arguments=arguments, session_id="ses_test")
    )


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(
    "arguments",
    [
        {"x": 1, "background": True},
        {"x": "1", "background": True},
        '{"x": 1, "background": true}',
        b'{"background": false}',
    ],
)
def test_what_is_withheld_is_refused_with_the_reason(arguments: RawArguments, closed: bool) -> None:
    found = outcome(arguments, closed=closed)
    assert isinstance(found, Rejected)
    failure = found.failure
    assert (failure.kind, failure.message, failure.field) == (
        FailureKind.REJECTED,
        "Not here.",
        "background",
    )


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("arguments", [{"x": 1}, {"x": "1"}, '{"x": 1}', '{"x": "1"}'])
def test_all_else_is_prepared_as_ever(arguments: RawArguments, closed: bool) -> None:
    found = outcome(arguments, closed=closed)
    assert isinstance(found, Prepared)
    assert found.values == {"x": 1}
