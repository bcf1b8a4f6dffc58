"""Arrays and objects, also written as JSON text, and what is inside them."""

import json

import pytest
from preflight.kit import accepted, one, prepared, refused, same

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

STRINGS = one({"type": "array", "items": {"type": "string"}})
INTEGERS = one({"type": "array", "items": {"type": "integer"}})
POINT = one(
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(["a", "b"], id="native"),
        pytest.param('["a","b"]', id="text"),
        pytest.param('  ["a", "b"]\n', id="padded text"),
        pytest.param('\t[\n  "a",\n  "b"\n]', id="pretty text"),
    ],
)
@pytest.mark.req("OSA-SCH-09", "OSA-COE-09")
def test_an_array_and_the_text_of_one_arrive_as_the_array(sent: JsonValue) -> None:
    assert same(accepted(STRINGS, {"x": sent}), {"x": ["a", "b"]})


@pytest.mark.req("OSA-COE-09")
def test_decoding_an_array_is_a_named_repair() -> None:
    found = prepared(STRINGS, {"x": "[]"})
    assert found.arguments == {"x": []}
    assert [(done.repair, done.field) for done in found.repairs] == [("array_from_text", "x")]


@pytest.mark.parametrize(
    "sent", ["numpy", "a,b", "", "a b", "3", "null", "true", '{"a": 1}', '"a"', "[1", "[1] x", "a]"]
)
@pytest.mark.req("OSA-SCH-10")
def test_a_bare_string_is_neither_wrapped_nor_split(sent: str) -> None:
    failure = refused(STRINGS, {"x": sent})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "x")
    assert failure.message == "Property 'x' must be an array"


@pytest.mark.parametrize(
    ("items", "sent", "arrived"),
    [
        ({"type": "integer"}, ["1", 2, 3.0], [1, 2, 3]),
        ({"type": "integer"}, '["1", 2]', [1, 2]),
        ({"type": "boolean"}, ["yes", False], [True, False]),
        ({"type": "array", "items": {"type": "integer"}}, ['["1"]', ["2"]], [[1], [2]]),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            [[["1.5"]], '[["2"]]'],
            [[[1.5]], [[2]]],
        ),
        (
            {"type": "object", "properties": {"n": {"type": "integer"}}},
            '[{"n": "1"}, "{\\"n\\": \\"2\\"}"]',
            [{"n": 1}, {"n": 2}],
        ),
    ],
)
@pytest.mark.req("OSA-COE-10")
def test_elements_are_coerced_by_the_items_schema(
    items: JsonObject, sent: JsonValue, arrived: JsonValue
) -> None:
    assert same(accepted(one({"type": "array", "items": items}), {"x": sent}), {"x": arrived})


def test_each_place_of_a_tuple_is_coerced_by_its_own_schema() -> None:
    pair: JsonObject = {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "boolean"}],
        "items": {"type": "number"},
    }
    assert same(accepted(one(pair), {"x": ["1", "no", "2.5", "3"]}), {"x": [1, False, 2.5, 3]})
    assert refused(one(pair), {"x": [1, 1]}).field == "x[1]"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(json.dumps(json.dumps(["a"])), id="an array as text as text"),
        pytest.param("['a', 'b']", id="Python quotes"),
        pytest.param("('a',)", id="a Python tuple"),
        pytest.param("[True]", id="Python words"),
        pytest.param("[NaN]", id="NaN"),
        pytest.param("[Infinity]", id="Infinity"),
        pytest.param('["\\ud800"]', id="a lone surrogate"),
    ],
)
@pytest.mark.req("OSA-COE-11")
def test_only_one_level_of_strict_json_is_decoded(sent: str) -> None:
    anything = one({"type": "array"})
    assert refused(anything, {"x": sent}).message == "Property 'x' must be an array"


@pytest.mark.parametrize("sent", ["{'n': 1}", '{"n": NaN}', json.dumps('{"n": 1}'), "dict(n=1)"])
@pytest.mark.req("OSA-COE-11")
def test_objects_too_are_decoded_from_one_level_of_strict_json(sent: str) -> None:
    assert refused(POINT, {"x": sent}).message == "Property 'x' must be an object"


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        ('{"n": 1}', {"n": 1}),
        (' {"n": "2"} ', {"n": 2}),
        ('{"n": "3", "note": ""}', {"n": 3}),
        ({"n": "4"}, {"n": 4}),
    ],
)
@pytest.mark.req("OSA-COE-12")
def test_an_object_as_text_arrives_as_the_object_with_its_properties_coerced(
    sent: JsonValue, arrived: JsonValue
) -> None:
    assert same(accepted(POINT, {"x": sent}), {"x": arrived})


@pytest.mark.req("OSA-COE-12")
def test_decoding_an_object_and_coercing_inside_it_are_both_named() -> None:
    found = prepared(POINT, {"x": '{"n": "1"}'})
    assert [(done.repair, done.field) for done in found.repairs] == [
        ("object_from_text", "x"),
        ("integer_from_text", "x.n"),
    ]


@pytest.mark.parametrize("sent", ["a=1", "[1]", '[{"n": 1}]', '{"n": 1', "", "null", "n: 1"])
@pytest.mark.req("OSA-COE-13")
def test_text_that_holds_no_json_object_is_refused_for_an_object(sent: str) -> None:
    failure = refused(POINT, {"x": sent})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "x")
    assert failure.message == "Property 'x' must be an object"


@pytest.mark.parametrize(
    ("schema", "sent", "field"),
    [
        (POINT, {"x": {"n": 1, "extra": 2}}, "x.extra"),
        (POINT, {"x": '{"n": 1, "extra": 2}'}, "x.extra"),
        (POINT, {"x": [1]}, "x"),
        (POINT, {"x": {"n": "many"}}, "x.n"),
        (one({"type": "string", "enum": ["a"]}), {"x": "A "}, "x"),
        (one({"type": "string", "enum": ["a"]}), {"x": "b"}, "x"),
        (one({"type": "integer", "enum": [1, 2]}), {"x": "3"}, "x"),
    ],
)
@pytest.mark.req("OSA-SCH-12")
def test_objects_and_enums_are_strict_about_the_coerced_value(
    schema: JsonObject, sent: JsonObject, field: str
) -> None:
    assert refused(schema, sent).field == field


@pytest.mark.parametrize(
    ("schema", "sent", "arrived"),
    [
        (POINT, {"x": '{"n": "1"}'}, {"x": {"n": 1}}),
        (one({"type": "string", "enum": ["a"]}), {"x": "A"}, {"x": "a"}),
        (one({"type": "integer", "enum": [1, 2]}), {"x": "2"}, {"x": 2}),
    ],
)
@pytest.mark.req("OSA-SCH-12")
def test_objects_and_enums_are_checked_after_coercion_not_before(
    schema: JsonObject, sent: JsonObject, arrived: JsonObject
) -> None:
    assert same(accepted(schema, sent), arrived)


@pytest.mark.req("OSA-COE-26")
def test_a_schema_with_properties_but_no_type_is_coerced_too() -> None:
    untyped: JsonObject = {
        "properties": {
            "n": {"type": "integer"},
            "inner": {"properties": {"b": {"type": "boolean"}}},
        }
    }
    sent: JsonObject = {"n": "1", "inner": {"b": "no"}}
    assert same(accepted(untyped, sent), {"n": 1, "inner": {"b": False}})
    sent = {"n": 1, "inner": '{"b": "no"}'}
    assert same(accepted(untyped, sent), {"n": 1, "inner": {"b": False}})


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("branches", "sent"),
    [
        ([{"type": "integer"}, {"type": "string"}], "15"),
        ([{"type": "boolean"}, {"type": "string"}], "yes"),
        ([{"type": "array"}, {"type": "string"}], "[1]"),
        ([{"type": "null"}, {"type": "string"}], "null"),
        ([{"type": "string", "enum": ["a"]}, {"type": "string"}], "A"),
        ([{"type": "string"}, {"type": "integer"}], ""),
        ([{"type": "object", "properties": {"n": {"type": "integer"}}}, {}], {"n": "1"}),
        ([{"type": "integer"}], 30.0),
    ],
)
@pytest.mark.req("OSA-COE-27")
def test_values_under_alternatives_are_not_coerced(
    keyword: str, branches: list[JsonValue], sent: JsonValue
) -> None:
    found = prepared(one({keyword: branches}), {"x": sent})
    assert same(found.arguments, {"x": sent})
    assert found.repairs == ()


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.req("OSA-COE-27")
def test_a_spelling_is_not_taken_for_a_branch_it_would_fit_after_coercion(keyword: str) -> None:
    schema = one({keyword: [{"type": "integer"}, {"type": "boolean"}]})
    assert refused(schema, {"x": "15"}).field == "x"


def test_a_value_that_may_be_text_or_an_object_keeps_its_text() -> None:
    schema: JsonObject = {
        "properties": {
            "x": {"type": ["object", "string"], "properties": {"n": {"type": "integer"}}},
            "y": {"type": "integer"},
        }
    }
    for other in (1, "1"):
        assert same(accepted(schema, {"x": '{"n": 1}', "y": other}), {"x": '{"n": 1}', "y": 1})
