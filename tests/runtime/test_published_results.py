"""The schema of results that a definition publishes: whole as the tool declares it, or cut."""

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from envelope.strategies import json_values, steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool

from holdfast.contract.envelope import envelope_of
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.told import KeptOutput
from holdfast.contract.tool import OutputBound, Tool
from holdfast.envelope.bound import CUT_FORM, bound_envelope, bound_spooled
from holdfast.runtime.definitions import full_definition, published_results

NODE: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "below": {"type": "array", "items": {"$ref": "#"}},
        "also": {"$ref": "#/properties/name"},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"name": {"type": "string"}},
}
CUT: JsonObject = {"head": "be", "name": 1}

FIELDS = st.lists(st.sampled_from(["stdout", "head", "a"]), unique=True, max_size=2).map(tuple)
NAMED = json_values | st.dictionaries(
    st.sampled_from(["stdout", "head", "a", "truncated"]), json_values
)


def declaring(schema: JsonObject | None) -> Tool:
    return msgspec.structs.replace(make_tool(), output_schema=schema)


def published(schema: JsonObject) -> dict[str, Any]:
    made = published_results(declaring(schema))
    assert made is not None
    assert full_definition(declaring(schema))["output_schema"] == made
    return made


@steady
@given(
    value=NAMED,
    most=st.integers(0, 40),
    items=st.none() | st.integers(0, 3),
    fields=FIELDS,
    kept=st.none() | st.binary(max_size=60),
)
def test_every_answer_that_is_cut_has_the_cut_form(
    value: JsonValue, most: int, items: int | None, fields: tuple[str, ...], kept: bytes | None
) -> None:
    bound = OutputBound(max_bytes=most, max_items=items, fields=fields)
    answer = envelope_of(value)
    if kept is None:
        told = bound_envelope(answer, bound, lambda _content: None)
    else:
        output = KeptOutput(path="/kept", head=kept, tail=b"", total=len(kept) + 1)
        told = bound_spooled(answer, output, bound)
    if told.metadata.truncated:
        jsonschema_rs.validate(CUT_FORM, told.result)
    else:
        assert told.result == value


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (NODE, "object"),
        ({"anyOf": [{"type": "object"}, {"type": "object", "required": ["a"]}]}, "object"),
        ({"anyOf": [{"type": "object"}, {"type": "integer"}]}, None),
        ({"type": "integer"}, None),
        ({"type": "array", "items": {"type": "integer"}}, None),
    ],
)
def test_objects_are_told_at_the_top_and_a_cut_result_fits(
    schema: JsonObject, word: str | None
) -> None:
    made = published(schema)
    assert made.get("type") == word
    jsonschema_rs.meta.validate(made)
    jsonschema_rs.validate(made, CUT)


def test_what_a_schema_points_to_is_still_found() -> None:
    made = published(NODE)
    assert made["$schema"] == NODE["$schema"]
    fits = jsonschema_rs.validator_for(made).is_valid
    assert fits({"name": "a", "below": [{"name": "b", "below": []}], "also": "c"})
    for wrong in (
        {"name": 1},
        {"name": "a", "below": [{"name": 2}]},
        {"name": "a", "also": 3},
        {"name": "a", "other": 4},
    ):
        assert not fits(wrong), wrong


def test_a_schema_with_an_address_of_its_own_points_from_there() -> None:
    made = published({**NODE, "$id": "https://example.com/node"})
    fits = jsonschema_rs.validator_for(made).is_valid
    assert fits({"name": "a", "below": [{"name": "b"}]})
    assert not fits({"name": "a", "below": [{"name": 2}]})


def test_a_tool_that_declares_nothing_of_its_results_publishes_nothing() -> None:
    assert published_results(declaring(None)) is None
    assert "output_schema" not in full_definition(declaring(None))
