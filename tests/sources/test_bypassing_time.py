"""A tool that keeps time itself says so with a flag; no other one is without a clock."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from holdfast import Holdfast, Limits, tool
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import ToolDefinitionError
from holdfast.runtime.definitions import full_definition
from holdfast.sources.intake import to_tool

SHORT = Limits(wall_seconds=0.05)


async def _late() -> str:
    """Answer late."""
    await anyio.sleep(0.3)
    return "done"


class Late:
    """The same, as an object."""

    id = "late_object"
    description = "Answer late."
    parameters: Mapping[str, Any] = {"type": "object"}
    requires: Mapping[str, Any] = {}
    limits = SHORT

    async def execute(self, _args: Mapping[str, Any], _runtime: Runtime) -> str:
        return await _late()


class Patient(Late):
    """And without the clock."""

    id = "patient_object"
    bypass_timeout = True


@pytest.mark.req("OSA-STR-01")
async def test_only_a_tool_that_says_so_outlasts_the_clock() -> None:
    patient = tool(name="patient", limits=SHORT, bypass_timeout=True)(_late)
    late = tool(name="late", limits=SHORT)(_late)
    also_late = tool(name="also_late", limits=SHORT, bypass_timeout=False)(_late)
    ends: dict[str, object] = {}
    async with Holdfast(profile="bare", tools=[patient, late, also_late, Late(), Patient()]) as hf:
        for name in (one.name for one in hf.tools if one.name != "question"):
            answer = await hf.settle(name, {})
            ends[name] = answer.failure.kind if answer.failure is not None else "ok"
    assert ends == {
        "patient": "ok",
        "late": "timeout",
        "also_late": "timeout",
        "late_object": "timeout",
        "patient_object": "ok",
    }


@pytest.mark.req("OSA-STR-01")
def test_the_default_is_not_to_and_the_definition_says_who_does() -> None:
    plain = tool(name="plain")(_late).tool
    patient = tool(name="patient", bypass_timeout=True)(_late).tool
    assert plain.limits.wall_seconds == 120
    told: Any = [full_definition(one)["limits"] for one in (plain, patient)]
    assert [one["wall_seconds"] for one in told] == [120, None]


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_a_flag_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="bypass_timeout must be True or False"):
        tool(name="odd", bypass_timeout=given)(_late)


def test_an_object_without_the_flag_says_nothing_by_it() -> None:
    silent = type("Silent", (Late,), {"bypass_timeout": None})()
    assert to_tool(silent).limits == SHORT
