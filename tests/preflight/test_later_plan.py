"""A plan that is compiled at its first call does what one does that was compiled before."""

import pytest
from support import make_call, make_tool

from holdfast.app.profiles import TOOLSETS
from holdfast.contract.builtin import Builtin
from holdfast.contract.call import Prepared, Rejected
from holdfast.contract.json_value import JsonObject
from holdfast.preflight.plan import LaterPlan, Plan
from holdfast.runtime.catalog import compiled
from holdfast.sources.intake import built_in

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("arguments", ['{"n": 1}', '{"n": "2"}', '{"m": 1}', "{", '{"n": [1]}'])
def test_both_make_the_same_of_a_call(arguments: str) -> None:
    tool = make_tool(schema=SCHEMA)
    call = make_call(arguments=arguments)
    now, later = Plan(tool).prepare(call), LaterPlan(tool).prepare(call)
    assert type(now) is type(later)
    if isinstance(now, Prepared) and isinstance(later, Prepared):
        assert (now.arguments, now.repairs) == (later.arguments, later.repairs)
    if isinstance(now, Rejected) and isinstance(later, Rejected):
        assert (now.failure, now.repairs) == (later.failure, later.repairs)


def test_nothing_is_compiled_before_a_call() -> None:
    plan = LaterPlan(make_tool(schema=SCHEMA))
    assert "_validator" not in vars(plan)
    assert plan.remarks == ()
    assert "_validator" in vars(plan)


def test_what_no_plan_has_is_told() -> None:
    with pytest.raises(AttributeError, match="no 'nothing'"):
        _ = getattr(LaterPlan(make_tool()), "nothing")  # noqa: B009 - no type checker would let it


@pytest.mark.parametrize(
    "candidate", [one for tools in TOOLSETS.values() for one in tools], ids=lambda one: one.name
)
def test_every_tool_that_ships_can_be_compiled(candidate: Builtin) -> None:
    assert compiled(built_in(candidate)).tool.name == candidate.name
