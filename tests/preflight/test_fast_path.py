"""Clean arguments take one compiled check; that check never accepts what the schema refuses.

Each case is run twice: as it is, and beside a value that needs a repair, which takes the slow way.
Both ways must agree.
"""

import pytest
from preflight.kit import one, prepare, same, tool_of

from holdfast.contract.call import Rejected
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight.clean import clean_schema
from holdfast.preflight.plan import Plan
from holdfast.preflight.schema import effective_schema

EMPTY: JsonObject = {}
DEFINITIONS: JsonObject = {
    "count": {"type": "integer", "minimum": 0},
    "word": {"type": "string"},
    "narrow": {"$ref": "#/$defs/count", "maximum": 9},
    "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
}

REFUSED: dict[str, tuple[JsonObject, JsonValue]] = {
    "below the reference's own bound": ({"$ref": "#/$defs/count", "minimum": -10}, -5),
    "above a bound halfway along a chain": ({"$ref": "#/$defs/narrow", "maximum": 99}, 10),
    "below the bound of a single allOf": (
        {"type": "integer", "minimum": -10, "allOf": [{"minimum": 0}]},
        -5,
    ),
    "below the bound of the second of two": (
        {"allOf": [{"type": "integer"}, {"minimum": 0}]},
        -5,
    ),
    "an allOf of nothing": ({"allOf": [False]}, 1),
    "without what a single allOf requires": (
        {
            "type": "object",
            "allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}],
            "properties": {"b": {}},
            "required": ["b"],
        },
        {"b": 1},
    ),
    "with a key that a single allOf shuts out": (
        {"properties": {"a": {}}, "allOf": [{"additionalProperties": False}]},
        {"a": 1},
    ),
    "closed by reference, declared beside it": (
        {"$ref": "#/$defs/closed", "properties": {"b": {}}},
        {"b": 1},
    ),
    "null where something is required": (
        {"properties": {"a": {}}, "required": ["a"]},
        {"a": None},
    ),
    "a fraction for an integer": ({"$ref": "#/$defs/count"}, 1.5),
    "false for anything": ({"$ref": "#/$defs/never"}, 1),
}

KEPT: dict[str, tuple[JsonObject, JsonValue]] = {
    "a reference": ({"$ref": "#/$defs/count"}, 3),
    "a described reference": ({"$ref": "#/$defs/count", "description": "How many."}, 3),
    "an allOf of one": ({"allOf": [{"$ref": "#/$defs/count"}], "default": 1}, 3),
    "an allOf of one allOf": ({"allOf": [{"allOf": [{"type": "string"}]}]}, "a"),
    "an allOf of anything": ({"allOf": [True]}, 1),
    "text that may be an object": ({"type": ["object", "string"], "properties": {}}, "{}"),
    "text under alternatives": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "null"),
    "an allowed blank": ({"type": "string", "enum": ["", "a"]}, ""),
    "the word null as an allowed value": ({"type": ["string", "null"], "enum": ["null"]}, "null"),
    "true for anything": ({"$ref": "#/$defs/always"}, [1.0]),
    "a float where numbers may be whole": ({"type": "number"}, 2.0),
    "a constant": ({"const": {"properties": {"$ref": "x"}}}, {"properties": {"$ref": "x"}}),
}

REPAIRED: dict[str, tuple[JsonObject, JsonValue, JsonValue]] = {
    "text of an untyped object": ({"properties": {"a": {"type": "integer"}}}, '{"a": 1}', {"a": 1}),
    "a wrapper that a pattern lets through": (
        {
            "type": "object",
            "properties": {"a": {}},
            "patternProperties": {"^p": {}},
            "additionalProperties": False,
        },
        {"properties": {"a": 1}},
        {"a": 1},
    ),
    "a wrapper in an open object": (
        {"type": "object", "properties": {"a": {}}},
        {"arguments": {"a": 1}},
        {"a": 1},
    ),
    "the word null in an allOf of an allOf": (
        {"allOf": [{"allOf": [{"type": ["string", "null"]}]}]},
        "null",
        None,
    ),
    "the word null with a negation": (
        {"type": ["string", "null"], "not": {"const": "x"}},
        "null",
        None,
    ),
    "blank text with a pattern": (
        {"type": "object", "properties": {"s": {"type": "string", "pattern": "^"}}},
        {"s": "\u3000"},
        {},
    ),
    "a whole float deep inside": (
        {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        [{"n": 1}, {"n": 2.0}],
        [{"n": 1}, {"n": 2}],
    ),
    "a whole float several objects down": (
        one(one({"type": "integer"})),
        {"x": {"x": 2.0}},
        {"x": {"x": 2}},
    ),
    "a whole float in a tuple": (
        {"type": "array", "prefixItems": [{}, {"type": "integer"}]},
        [0.5, 2.0],
        [0.5, 2],
    ),
    "a whole float in a list of lists": (
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        [[1], [2.0]],
        [[1], [2]],
    ),
    "an untyped object with a negation": (
        {"properties": {"a": {}}, "not": {"required": ["z"]}},
        '{"a": 1}',
        {"a": 1},
    ),
}


def _plan(child: JsonObject) -> Plan:
    return Plan(
        tool_of(
            {
                "type": "object",
                "properties": {"x": child, "sloppy": {"type": "integer"}},
                "$defs": {**DEFINITIONS, "never": False, "always": True},
            }
        )
    )


@pytest.mark.parametrize(("child", "value"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("beside", [{}, {"sloppy": "1"}])
def test_what_the_schema_refuses_is_refused_on_both_ways(
    child: JsonObject, value: JsonValue, beside: JsonObject
) -> None:
    found = prepare(_plan(child), {"x": value, **beside})
    assert isinstance(found, Rejected)


@pytest.mark.parametrize(("child", "value"), KEPT.values(), ids=KEPT.keys())
@pytest.mark.parametrize("beside", [{}, {"sloppy": "1"}])
def test_what_needs_no_repair_is_unchanged_on_both_ways(
    child: JsonObject, value: JsonValue, beside: JsonObject
) -> None:
    found = prepare(_plan(child), {"x": value, **beside})
    assert not isinstance(found, Rejected), found.failure
    assert same(found.arguments["x"], value)
    assert len(found.repairs) == len(beside)


@pytest.mark.parametrize(("child", "value", "arrived"), REPAIRED.values(), ids=REPAIRED.keys())
@pytest.mark.parametrize("beside", [{}, {"sloppy": "1"}])
def test_what_needs_a_repair_gets_it_on_both_ways(
    child: JsonObject, value: JsonValue, arrived: JsonValue, beside: JsonObject
) -> None:
    found = prepare(_plan(child), {"x": value, **beside})
    assert not isinstance(found, Rejected), found.failure
    assert same(found.arguments["x"], arrived)
    assert len(found.repairs) > len(beside)


def _clean(schema: JsonObject) -> JsonObject | None:
    return clean_schema(effective_schema(schema).schema, frozenset())


def test_ordinary_schemas_have_a_fast_way() -> None:
    child: JsonObject = {"allOf": [{"$ref": "#/$defs/count"}], "description": "How many."}
    properties: JsonObject = {"x": child, "xs": {"type": "array", "items": child}}
    assert _clean({"properties": properties, "$defs": DEFINITIONS}) is not None


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"properties": {"x": {"$ref": "#"}}}, id="recursive"),
        pytest.param({"$ref": "#/$defs/never", "$defs": {"never": False}}, id="false"),
        pytest.param({"properties": {"x": {"$ref": "#/$defs/nowhere"}}}, id="unknown"),
        pytest.param(
            {"properties": dict.fromkeys(map(str, range(3_000)), EMPTY)}, id="very many properties"
        ),
        pytest.param(
            {
                "$ref": "#/$defs/0",
                "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(9)} | {"9": EMPTY},
            },
            id="a long chain",
        ),
    ],
)
def test_schemas_that_cannot_be_written_without_references_have_none(schema: JsonObject) -> None:
    assert _clean(schema) is None
