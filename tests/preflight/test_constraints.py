"""Alternatives, patterns, ranges, lengths, allowed values: what holds, and how a breach reads."""

import pytest
from preflight.kit import accepted, one, prepared, refused, same

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import ArgumentFault
from holdfast.preflight.explain import explain, explain_fault
from holdfast.preflight.schema import compile_validator, effective_schema

INTEGER: JsonObject = {"type": "integer"}


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize("sent", ["hello", 0, 7])
@pytest.mark.req("OSA-VAL-10")
def test_the_first_matching_branch_is_enough(keyword: str, sent: JsonValue) -> None:
    branches: list[JsonValue] = [{"type": "string"}, {"type": "integer", "minimum": 0}, {}]
    found = prepared(one({keyword: branches}), {"x": sent})
    assert same(found.arguments, {"x": sent})
    assert found.repairs == ()


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
@pytest.mark.parametrize("sent", [-1, None, True, ["a"]], ids=repr)
@pytest.mark.req("OSA-VAL-10")
def test_a_value_that_fits_no_branch_is_refused(keyword: str, sent: JsonValue) -> None:
    schema = one({keyword: [{"type": "string"}, {"type": "integer", "minimum": 0}]})
    failure = refused(schema, {"x": sent})
    assert failure.field == "x"
    assert failure.message.endswith("did not match any of the allowed schema branches.")
    assert "'x'" in failure.message


def test_one_of_and_any_of_side_by_side_both_hold() -> None:
    schema = one({"oneOf": [{"minimum": 1}, {"minimum": 5}], "anyOf": [{"maximum": 9}]})
    assert accepted(schema, {"x": 7}) == {"x": 7}
    assert refused(schema, {"x": 0}).field == "x"
    assert refused(schema, {"x": 10}).field == "x"
    further = one({"oneOf": [{"minimum": 1}], "anyOf": [{}], "allOf": [{"maximum": 3}]})
    assert refused(further, {"x": 4}).field == "x"
    assert refused(further, {"x": 0}).field == "x"


@pytest.mark.parametrize(
    ("pattern", "sent", "fits"),
    [
        (r"\d+", "abc123def", True),
        (r"\d+", "abc", False),
        (r"^\d+$", "abc123", False),
        (r"^\d+\.\d+$", "1.2", True),
        ("é", "café", True),
    ],
)
@pytest.mark.req("OSA-VAL-11")
def test_a_pattern_is_searched_for_anywhere(pattern: str, sent: str, fits: bool) -> None:
    schema = one({"type": "string", "pattern": pattern})
    if fits:
        assert accepted(schema, {"x": sent}) == {"x": sent}
    else:
        failure = refused(schema, {"x": sent})
        assert failure.message == f"Property 'x' must match the pattern {pattern}"
        assert failure.field == "x"


@pytest.mark.req("OSA-VAL-11")
def test_an_invalid_pattern_is_ignored_and_the_rest_of_the_schema_holds() -> None:
    schema = one({"type": "string", "pattern": "([", "maxLength": 3})
    assert accepted(schema, {"x": "abc"}) == {"x": "abc"}
    assert refused(schema, {"x": "abcd"}).field == "x"


RANGE = one({"type": "number", "minimum": 0, "maximum": 100})


@pytest.mark.parametrize("sent", [0, 100, "0", "100", "99.5", 100.0, "1e2"])
@pytest.mark.req("OSA-VAL-12")
def test_bounds_are_inclusive_for_numbers_and_their_spellings(sent: JsonValue) -> None:
    assert accepted(RANGE, {"x": sent})["x"] == float(str(sent))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (-1, ">= 0"),
        ("-0.5", ">= 0"),
        (101, "<= 100"),
        ("150", "<= 100"),
        ("100.01", "<= 100"),
        (10**30, "<= 100"),
    ],
)
@pytest.mark.req("OSA-VAL-12")
def test_a_number_outside_its_bounds_is_refused(sent: JsonValue, words: str) -> None:
    failure = refused(RANGE, {"x": sent})
    assert failure.message == f"Property 'x' must be {words}"
    assert failure.field == "x"


def test_exclusive_bounds_and_multiples_are_enforced() -> None:
    schema = one({"exclusiveMinimum": 0, "exclusiveMaximum": 10, "multipleOf": 2})
    assert accepted(schema, {"x": 4}) == {"x": 4}
    assert refused(schema, {"x": 0}).message == "Property 'x' must be > 0"
    assert refused(schema, {"x": 10}).message == "Property 'x' must be < 10"
    assert refused(schema, {"x": 3}).field == "x"


@pytest.mark.parametrize("sent", ["ab", "abcd", "😀😀", "😀" * 4, "é̂x"])
@pytest.mark.req("OSA-VAL-13")
def test_lengths_are_counted_in_code_points(sent: str) -> None:
    assert accepted(one({"type": "string", "minLength": 2, "maxLength": 4}), {"x": sent})


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("a", "at least 2 characters long; it has 1"),
        ("😀", "at least 2 characters long; it has 1"),
        ("abcde", "at most 4 characters long; it has 5"),
        ("😀" * 5, "at most 4 characters long; it has 5"),
    ],
)
@pytest.mark.req("OSA-VAL-13")
def test_a_text_of_the_wrong_length_is_refused(sent: str, words: str) -> None:
    failure = refused(one({"type": "string", "minLength": 2, "maxLength": 4}), {"x": sent})
    assert failure.field == "x"
    assert words in failure.message


@pytest.mark.parametrize(
    ("allowed", "sent", "listed"),
    [
        (["pinned", "episodes"], "other", "pinned, episodes"),
        ([1, 2.5], 3, "1, 2.5"),
        (["a", 1, None, True], "b", "a, 1, null, true"),
        ([{"k": 1}], {"k": 2}, '{"k":1}'),
    ],
)
@pytest.mark.req("OSA-VAL-14")
def test_a_value_outside_its_enum_names_the_property_and_what_is_allowed(
    allowed: list[JsonValue], sent: JsonValue, listed: str
) -> None:
    failure = refused(one({"enum": allowed}), {"x": sent})
    assert failure.field == "x"
    assert failure.message.startswith(f"Property 'x' must be one of: {listed}.")


@pytest.mark.req("OSA-VAL-15")
def test_allowed_values_are_a_bare_list_and_the_received_one_is_repeated() -> None:
    failure = refused(one({"type": "string", "enum": ["pinned", "episodes"]}), {"x": "other"})
    assert failure.message == "Property 'x' must be one of: pinned, episodes. Got \"other\"."
    assert failure.expected == "one of: pinned, episodes"
    assert failure.extras == {"received": '"other"'}


@pytest.mark.parametrize("child", [{"type": "string", "enum": ["a", "b"]}, {"enum": ["a", "b"]}])
@pytest.mark.parametrize("sent", [["a"], ["x", "b"]])
@pytest.mark.req("OSA-VAL-15")
def test_an_allowed_value_inside_an_array_gets_a_hint(
    child: JsonObject, sent: list[JsonValue]
) -> None:
    failure = refused(one(child), {"x": sent})
    assert "must be one of: a, b." in failure.message
    assert failure.message.endswith("Send the value itself, not an array holding it.")


@pytest.mark.req("OSA-VAL-15")
def test_an_array_without_an_allowed_value_gets_no_hint() -> None:
    typed = refused(one({"type": "string", "enum": ["a"]}), {"x": ["z"]})
    assert typed.message == "Property 'x' must be a string"
    untyped = refused(one({"enum": ["a"]}), {"x": ["z"]})
    assert untyped.message == "Property 'x' must be one of: a. Got [\"z\"]."


def test_an_array_that_is_itself_allowed_is_accepted() -> None:
    assert accepted(one({"enum": [["a"], "a"]}), {"x": ["a"]}) == {"x": ["a"]}


def test_a_long_list_of_allowed_values_is_cut() -> None:
    failure = refused(one({"enum": list(range(100))}), {"x": 100})
    assert "58, 59, and 40 more." in failure.message


@pytest.mark.parametrize(
    ("allowed", "sent"),
    [
        ([1], True),
        ([0], False),
        ([True], 1),
        ([False], 0),
        ([[1]], [True]),
        ([{"a": 0}], {"a": False}),
    ],
)
@pytest.mark.req("OSA-VAL-16")
def test_booleans_and_numbers_are_kept_apart_in_an_enum(
    allowed: list[JsonValue], sent: JsonValue
) -> None:
    assert refused(one({"enum": allowed}), {"x": sent}).field == "x"
    assert same(accepted(one({"enum": allowed}), {"x": allowed[0]}), {"x": allowed[0]})


@pytest.mark.parametrize("form", ["email", "date-time", "uri", "ipv4", "made-up"])
@pytest.mark.req("OSA-VAL-17")
def test_a_format_is_an_annotation(form: str) -> None:
    assert accepted(one({"type": "string", "format": form}), {"x": "none"}) == {"x": "none"}


@pytest.mark.parametrize("kind", ["date", "file", "any", ["date", "file"]])
@pytest.mark.parametrize("sent", [5, "x", "15", None, [1]], ids=repr)
@pytest.mark.req("OSA-VAL-17")
def test_an_unknown_type_is_ignored(kind: JsonValue, sent: JsonValue) -> None:
    assert same(accepted(one({"type": kind}), {"x": sent}), {"x": sent})


@pytest.mark.parametrize("sent", [{}, {"x": "42"}, {"properties": {"a": ""}}, {"a": {"b": [None]}}])
@pytest.mark.req("OSA-VAL-17")
def test_an_empty_schema_accepts_anything_unchanged(sent: JsonObject) -> None:
    found = prepared({}, sent)
    assert same(found.arguments, sent)
    assert found.repairs == ()


WITHOUT_WORDS: list[tuple[JsonValue, JsonValue]] = [
    ({"uniqueItems": True}, [1, 1]),
    ({"contains": {"type": "string"}}, [1]),
    ({"minItems": 2}, [1]),
    ({"type": "object", "minProperties": 1}, {}),
    ({"type": "object", "propertyNames": {"maxLength": 1}}, {"long": 1}),
    ({"const": "a"}, "b"),
    ({"not": {"type": "string"}}, "b"),
    ({"if": {"type": "string"}, "then": {"minLength": 3}}, "b"),
    (False, "b"),
    ({"prefixItems": [{}], "items": False}, [1, 2]),
]


@pytest.mark.parametrize(("child", "bad"), WITHOUT_WORDS)
def test_what_has_no_words_of_ours_is_said_in_the_validators(
    child: JsonValue, bad: JsonValue
) -> None:
    failure = refused(one(child), {"x": bad})
    assert failure.field is not None
    assert failure.field.startswith("x")
    assert failure.message.startswith(f"Property '{failure.field}': ")
    assert len(failure.message) > len("Property 'x': ")


@pytest.mark.parametrize(
    ("child", "bad", "expected"),
    [
        ({"minItems": 2}, [1], "at least 2 items"),
        ({"uniqueItems": True}, [1, 1], "no item twice"),
        ({"multipleOf": 5}, 6, "a multiple of 5"),
        ({"const": "a"}, "b", '"a"'),
        ({"$ref": "#/$defs/pair"}, [1], "at least 2 items"),
        ({"not": {"type": "string"}}, "b", None),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 9, "an integer >= 1 and <= 5"),
        ({"properties": {"a/b~c": {"multipleOf": 5}}}, {"a/b~c": 6}, "a multiple of 5"),
    ],
)
def test_what_would_fit_and_what_came_are_said(
    child: JsonObject, bad: JsonValue, expected: str | None
) -> None:
    failure = refused({**one(child), "$defs": {"pair": {"minItems": 2}}}, {"x": bad})
    assert failure.expected == expected
    assert "received" in failure.extras


def test_a_type_that_does_not_exist_is_remarked_on() -> None:
    schema: JsonObject = {
        "type": "objct",
        "properties": {"a": {"type": "strin"}, "b": {"type": ["string", "nul"]}},
    }
    remarks = effective_schema(schema).remarks
    assert [remark.partition(";")[0] for remark in remarks] == [
        "the schema: there is no type 'objct'",
        "a: there is no type 'strin'",
        "b: there is no type 'nul'",
    ]


def test_there_are_words_even_where_nothing_is_wrong() -> None:
    schema = one(INTEGER)
    assert explain(schema, {"x": 1}, compile_validator(schema)).message


def test_what_was_expected_comes_from_the_schema() -> None:
    child: JsonObject = {
        "type": "integer",
        "description": "How many lines.",
        "examples": [20],
    }
    failure = refused(one(child), {"x": "many"})
    assert failure.expected == "an integer; How many lines.; e.g. 20"
    assert refused(one(child, required=True), {}).expected == failure.expected
    assert refused(one({}, required=True), {}).expected is None


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (one({"type": "integer"}), {"x": HUGE}),
        (one({"enum": ["a"]}), {"x": HUGE}),
        (one({"not": {"type": "string"}}), {"x": HUGE}),
        (one({}, closed=True), {HUGE: 1}),
        (one({"type": "object", "additionalProperties": False}), {"x": {HUGE: 1}}),
        (one({}, required=True), {HUGE: 1}),
        ({"type": "object", "maxProperties": 0}, {"x": HUGE}),
        ({"type": "string"}, {"x": HUGE}),
    ],
    ids=["type", "enum", "not", "stray", "nested stray", "missing", "count", "whole"],
)
def test_no_refusal_repeats_a_megabyte(schema: JsonObject, sent: JsonObject) -> None:
    failure = refused(schema, sent)
    assert len(str(failure)) < 10_000
    assert failure.message


def test_a_fault_at_the_end_of_a_long_array_is_found() -> None:
    items: JsonObject = {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}
    failure = refused(one({"type": "array", "items": items}), {"x": [1] * 200_000 + ["x"]})
    assert failure.field == "x[200000]"


def test_a_missing_key_among_very_many_others_is_found() -> None:
    names: list[JsonValue] = [f"needed_{number}" for number in range(40)]
    schema: JsonObject = {
        "type": "object",
        "properties": {str(name): {"type": "string"} for name in names},
        "required": names,
    }
    sent: JsonObject = {f"key_{number}": number for number in range(50_000)}
    assert refused(schema, sent).field == "needed_0"


def test_a_fault_deep_inside_is_told_without_what_would_fit() -> None:
    fault = ArgumentFault(message="Argument `x.a`: no date", field="x.a")
    failure = explain_fault(one({"type": "object"}), {"x": {"a": "soon"}}, fault)
    assert (failure.field, failure.expected, failure.extras) == ("x.a", None, {})
