"""Clean text is read in one pass; the reader never accepts what the clean schema refuses."""

import json
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from preflight.kit import one, same, tool_of
from preflight.strategies import json_values

from holdfast.contract.call import Prepared, Rejected, ToolCall
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.preflight.clean import clean_schema
from holdfast.preflight.plan import Plan
from holdfast.preflight.reader import Reader, compile_reader
from holdfast.preflight.schema import compile_validator, effective_schema

TEXTS = ("", " ", "\u3000", "null", "a", "é", "😀", "low", "High", "null ", "\nnull")
NUMBERS = (0, 1, -1, 2, 7, 2**53 + 1, 2**64, -(2**80), 0.5, 1.0, 2.0, 1e22, -0.0)

CHILDREN: tuple[JsonObject, ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"type": "string", "format": "date"},
    {"type": ["string", "null"]},
    {"type": "string", "enum": ["low", "High"]},
    {"type": ["string", "null"], "enum": ["low", None]},
    {"enum": ["a", 7]},
    {"const": "low"},
    {"const": 7},
    {"type": "integer"},
    {"type": "integer", "minimum": 0, "exclusiveMaximum": 7},
    {"type": "integer", "enum": [1, 2]},
    {"type": "number"},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 2},
    {"type": ["number", "null"]},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"type": "string"}},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"anyOf": [{"type": "integer", "minimum": 2}, {"type": "number", "maximum": 1}]},
    {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "boolean"}]},
)
"""Each of these has a reader when it is a property of a closed object."""

UNREADABLE: tuple[JsonValue, ...] = (
    True,
    {},
    {"type": []},
    {"type": "array"},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}},
    {"type": "object", "additionalProperties": False, "required": ["a"]},
    {"type": "string", "pattern": "^a"},
    {"type": "integer", "multipleOf": 2},
    {"type": "integer", "minimum": 0.5},
    {"type": "integer", "minimum": 2**60},
    {"type": "string", "minLength": 1.0},
    {"type": "string", "not": {"const": "x"}},
    {"type": "integer", "not": {"const": 5}},
    False,
    {"type": ["array", "integer"], "items": {"type": "string"}, "minimum": 1},
    {"type": "string", "minLength": 2**70},
    {"type": "string", "enum": ["a", 1]},
    {"enum": [True]},
    {"enum": [1.5]},
    {"enum": ["a"], "const": "a"},
    {"type": ["string", "null"], "enum": ["null", "a", None]},
    {"type": "string", "enum": ["ab"], "pattern": "^a"},
    {"enum": ["a"], "minLength": 3},
    {"type": ["string", "null"], "enum": ["null", None], "not": {"const": "x"}},
    {"anyOf": [{"type": "integer"}], "minimum": 3},
    {"anyOf": [{"type": "array", "items": {"type": "integer"}}, one({"type": "string"})]},
    {"anyOf": [one({"type": "integer"}, closed=True), one({"type": "string"}, closed=True)]},
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
)


def _clean(schema: JsonObject, keep_empty: frozenset[str] = frozenset()) -> JsonObject:
    clean = clean_schema(effective_schema(schema).schema, keep_empty)
    assert clean is not None
    return clean


def _reads(reader: Reader, text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


class Case(NamedTuple):
    schema: JsonObject
    arguments: JsonObject


def _closed(thrown: Random, depth: int) -> JsonObject:
    names = thrown.sample(("a", "b", "path", "x-1", "_", "arguments", "class"), 3)
    properties: JsonObject = {name: thrown.choice(CHILDREN) for name in names}
    if depth:
        properties["inner"] = _closed(thrown, depth - 1)
        properties["list"] = {"type": "array", "items": _closed(thrown, depth - 1)}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if thrown.randrange(2)],
        "additionalProperties": False,
    }


def _value(thrown: Random, node: JsonValue) -> JsonValue:
    assert isinstance(node, dict)
    properties = node.get("properties")
    if isinstance(properties, dict) and thrown.randrange(12):
        named = {name: _value(thrown, child) for name, child in properties.items()}
        return {name: value for name, value in named.items() if thrown.randrange(6)}
    items = node.get("items")
    if isinstance(items, dict) and thrown.randrange(8):
        return [_value(thrown, items) for _ in range(thrown.randrange(3))]
    declared = node.get("type", "string")
    kind = thrown.choice(declared) if isinstance(declared, list) else declared
    fitting = NUMBERS if kind in {"integer", "number"} else TEXTS
    return thrown.choice([None, True, [], {}, {"stray": 1}, *fitting, *fitting])


def _case(thrown: Random) -> Case:
    schema = _closed(thrown, 1)
    found = _value(thrown, schema)
    return Case(schema, found if isinstance(found, dict) else {})


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=True).map(_case), st.booleans())
def test_what_is_read_fits_the_clean_schema(case: Case, keep: bool) -> None:
    clean = _clean(case.schema, frozenset({"a", "path"}) if keep else frozenset())
    reader = compile_reader(clean)
    assert reader is not None
    if _reads(reader, json.dumps(case.arguments)):
        assert compile_validator(clean).is_valid(case.arguments)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=True).map(_case))
def test_text_and_object_are_prepared_alike(case: Case) -> None:
    plan = Plan(tool_of(case.schema))
    text, given_object = (
        plan.prepare(ToolCall(id="cal_1", tool="probe", arguments=raw, session_id="ses_1"))
        for raw in (json.dumps(case.arguments), case.arguments)
    )
    assert type(text) is type(given_object)
    assert text.repairs == given_object.repairs
    if isinstance(text, Prepared) and isinstance(given_object, Prepared):
        assert same(text.arguments, given_object.arguments)
        assert text.values == given_object.values
    if isinstance(text, Rejected) and isinstance(given_object, Rejected):
        assert text.failure == given_object.failure


@pytest.mark.parametrize("child", CHILDREN)
@given(value=st.sampled_from([*TEXTS, *NUMBERS, None, True]) | json_values)
@settings(max_examples=60, deadline=None)
def test_each_kind_of_property_is_read_as_its_schema_says(
    child: JsonObject, value: JsonValue
) -> None:
    clean = _clean(one(child, required=True, closed=True))
    reader = compile_reader(clean)
    assert reader is not None
    if _reads(reader, json.dumps({"x": value})):
        assert compile_validator(clean).is_valid({"x": value})


@pytest.mark.parametrize("child", UNREADABLE)
def test_what_has_no_exact_type_has_no_reader(child: JsonValue) -> None:
    assert compile_reader(_clean(one(child, required=True, closed=True))) is None


def test_clean_text_is_not_decoded_until_somebody_asks() -> None:
    plan = Plan(tool_of(one({"type": "integer"}, closed=True)))
    call = ToolCall(id="cal_1", tool="probe", arguments='{"x": 1}', session_id="ses_1")
    found = plan.prepare(call)
    assert isinstance(found, Prepared)
    assert found.checked is None
    assert found.arguments == {"x": 1}
    assert found.values == {"x": 1}


@pytest.mark.parametrize("text", ['{"x": 1, "x": 2}', '{"x": "no", "x": 2}'])
def test_of_a_repeated_key_the_last_one_counts_for_every_reader(text: str) -> None:
    plan = Plan(tool_of(one({"type": "integer"}, closed=True)))
    found = plan.prepare(ToolCall(id="cal_1", tool="probe", arguments=text, session_id="ses_1"))
    assert isinstance(found, Prepared)
    assert found.arguments == {"x": 2}
    assert found.values == {"x": 2}


@pytest.mark.parametrize("letter", ["a", "😀"])
def test_text_over_the_bound_is_refused_before_it_is_read(letter: str) -> None:
    plan = Plan(tool_of(one({"type": "string"}, closed=True)))
    text = json.dumps({"x": letter * 30}, ensure_ascii=False)
    size = len(text.encode())
    call = ToolCall(id="cal_1", tool="probe", arguments=text, session_id="ses_1")
    assert isinstance(plan.prepare(call, max_bytes=size), Prepared)
    found = plan.prepare(call, max_bytes=size - 1)
    assert isinstance(found, Rejected)
    assert f"at most {size - 1}" in found.failure.message


def _prepared(schema: JsonObject, text: str) -> Prepared | Rejected:
    call = ToolCall(id="cal_1", tool="probe", arguments=text, session_id="ses_1")
    return Plan(tool_of(schema)).prepare(call)


def test_the_word_null_for_an_optional_text_is_repaired_in_text_too() -> None:
    found = _prepared(one({"type": ["string", "null"]}, closed=True), '{"x": "null"}')
    assert isinstance(found, Prepared)
    assert found.arguments == {"x": None}
    assert [repair.repair for repair in found.repairs] != []


def test_a_required_property_that_accepts_nothing_is_refused_as_missing() -> None:
    schema = one(False, required=True, closed=True)
    found = _prepared(schema, "{}")
    assert isinstance(found, Rejected)
    assert "Missing required property: x" in found.failure.message


def test_an_enum_of_very_large_integers_has_no_reader_and_works() -> None:
    schema = one({"enum": [2**64 - 1]}, required=True, closed=True)
    assert isinstance(_prepared(schema, json.dumps({"x": 2**64 - 1})), Prepared)
    assert isinstance(_prepared(schema, '{"x": 1}'), Rejected)


def test_references_that_nest_too_deep_are_not_read_past_the_limit() -> None:
    def deep(inner: JsonObject, levels: int) -> JsonObject:
        for _ in range(levels):
            inner = {"type": "array", "items": inner}
        return inner

    schema: JsonObject = {
        **one({"$ref": "#/$defs/a"}, required=True, closed=True),
        "$defs": {
            "a": deep({"$ref": "#/$defs/b"}, 50),
            "b": deep({"$ref": "#/$defs/c"}, 50),
            "c": deep({"type": "string"}, 50),
        },
    }
    found = _prepared(schema, '{"x":' + "[" * 150 + '"rm"' + "]" * 150 + "}")
    assert isinstance(found, Rejected)
    assert "nested too deeply" in found.failure.message


class Text(str):
    __slots__ = ()


class Octets(bytes):
    __slots__ = ()


@pytest.mark.parametrize("raw", [Text('{"x": 1}'), Octets(b'{"x": 1}')])
def test_whoever_judges_and_whoever_runs_read_the_same_text(raw: str | bytes) -> None:
    call = ToolCall(id="cal_1", tool="probe", arguments=raw, session_id="ses_1")
    found = Plan(tool_of(one({"type": "integer"}, closed=True))).prepare(call)
    assert isinstance(found, Prepared)
    assert type(found.call.arguments) in (str, bytes)
    assert found.arguments == found.values == {"x": 1}


def test_an_optional_property_that_accepts_nothing_is_refused_when_sent() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "no": False},
        "additionalProperties": False,
    }
    assert isinstance(_prepared(schema, '{"x": 1}'), Prepared)
    assert isinstance(_prepared(schema, '{"x": 1, "no": 2}'), Rejected)
