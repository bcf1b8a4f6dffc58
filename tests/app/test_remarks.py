"""Schemas from elsewhere stay as they are, and are warned about when they are registered."""

from collections.abc import Mapping

import pytest

from holdfast import Holdfast, tool
from holdfast.contract.runtime import Runtime

pytestmark = pytest.mark.anyio


class Elsewhere:
    id = "elsewhere"
    description = "Made by somebody else."
    requires: Mapping[str, object] = {}

    def __init__(self, parameters: Mapping[str, object]) -> None:
        self.parameters = parameters

    def execute(self, args: Mapping[str, object], runtime: Runtime) -> object:
        return dict(args)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
@pytest.mark.req("OSA-SCH-17")
async def test_a_top_level_combinator_is_flagged_when_the_tool_is_registered(keyword: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "additionalProperties": False,
        keyword: [{"required": ["a"]}],
    }
    async with Holdfast(tools=[Elsewhere(schema)]) as hf:
        (remark,) = hf.remarks
        assert remark.startswith(f"elsewhere: {keyword} at the top level")
        assert hf.tools[-1].input_schema == schema
        assert (await hf.settle("elsewhere", {"a": "x"})).ok


async def test_an_ignored_pattern_and_an_open_object_are_remarked_on() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(["}}}
    async with Holdfast(tools=[Elsewhere(schema)]) as hf:
        assert any("not closed" in remark for remark in hf.remarks)
        assert any("not a valid regular expression" in remark for remark in hf.remarks)
        assert (await hf.settle("elsewhere", {"a": "x"})).ok


@tool
def derived(text: str, times: int = 1) -> str:
    """Repeat, e.g. text='ha'."""
    return text * times


async def test_a_derived_schema_draws_no_remark() -> None:
    async with Holdfast(tools=[derived]) as hf:
        assert hf.remarks == ()
