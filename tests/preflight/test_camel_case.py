"""Arguments in camelCase: for tools that take them so, every argument, and nothing else."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from preflight.kit import prepare, tool_of

from holdfast.contract.call import Prepared, Rejected, ToolCall
from holdfast.contract.envelope import Repair
from holdfast.contract.json_value import JsonObject
from holdfast.preflight.plan import Plan
from holdfast.preflight.shape import camel_of

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "tool_name": {"type": "string"},
        "max_chars": {"type": "integer"},
        "query": {"type": "string"},
        "inner": {
            "type": "object",
            "properties": {"some_key": {"type": "string"}},
            "additionalProperties": False,
        },
    },
    "required": ["tool_name"],
    "additionalProperties": False,
}
PLAN = Plan(msgspec.structs.replace(tool_of(SCHEMA), camel_case=True))
PLAIN = Plan(tool_of(SCHEMA))


@pytest.mark.req("BOA-ARG-08")
def test_required_and_optional_arguments_are_taken_in_camel_case_and_that_is_told() -> None:
    found = PLAN.prepare(_call({"toolName": "read", "maxChars": 3, "query": "x"}))
    assert isinstance(found, Prepared)
    assert found.arguments == {"tool_name": "read", "max_chars": 3, "query": "x"}
    assert {*found.repairs} == {
        Repair("renamed_key", "tool_name", "toolName"),
        Repair("renamed_key", "max_chars", "maxChars"),
    }


def test_what_is_renamed_is_repaired_and_checked_like_any_other() -> None:
    found = PLAN.prepare(_call({"toolName": "read", "maxChars": "3"}))
    assert isinstance(found, Prepared)
    assert found.arguments == {"tool_name": "read", "max_chars": 3}
    refused = PLAN.prepare(_call({"toolName": "read", "maxChars": "many"}))
    assert isinstance(refused, Rejected)
    assert refused.failure.field == "max_chars"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"tool_name": "a", "max_chars": 1, "maxChars": 2}, "maxChars"),
        ({"tool_name": "a", "MaxChars": 2}, "MaxChars"),
        ({"tool_name": "a", "maxchars": 2}, "maxchars"),
        ({"tool_name": "a", "inner": {"someKey": "x"}}, "inner.someKey"),
    ],
    ids=["both spellings", "another case", "no case", "inside of an argument"],
)
def test_nothing_else_is_guessed(sent: JsonObject, field: str) -> None:
    found = PLAN.prepare(_call(sent))
    assert isinstance(found, Rejected)
    assert found.failure.field == field


def test_other_tools_refuse_a_misspelt_optional_argument_by_its_name() -> None:
    found = PLAIN.prepare(_call({"tool_name": "a", "maxChars": 2}))
    assert isinstance(found, Rejected)
    assert found.failure.field == "maxChars"


def test_arguments_as_they_are_declared_take_the_fast_way() -> None:
    found = prepare(PLAN, '{"tool_name": "a", "max_chars": 2}')
    assert isinstance(found, Prepared)
    assert found.repairs == ()
    assert found.checked is None  # read in one pass over the text


names = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True)


@given(st.lists(names, unique_by=lambda name: (name, camel_of(name)), max_size=6))
def test_every_declared_name_comes_through_by_either_spelling(wanted: list[str]) -> None:
    by_camel = {camel_of(name): name for name in wanted}
    properties: JsonObject = {name: {"type": "integer"} for name in by_camel.values()}
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    plan = Plan(msgspec.structs.replace(tool_of(schema), camel_case=True))
    sent: JsonObject = {
        camel: number for number, camel in enumerate(by_camel) if camel not in properties
    }
    found = plan.prepare(_call(sent))
    assert isinstance(found, Prepared)
    assert found.arguments == {by_camel[camel]: number for camel, number in sent.items()}
    again = plan.prepare(_call(found.arguments))
    assert isinstance(again, Prepared)
    assert again.repairs == ()


def _call(arguments: JsonObject) -> ToolCall:
    from_kit = prepare(PLAIN, {"tool_name": "x"})
    return msgspec.structs.replace(from_kit.call, arguments=arguments)
