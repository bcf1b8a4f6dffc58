"""What is refused, in which order it is found, and in which words it is said."""

import pytest
from preflight.kit import accepted, one, prepared, refused, same

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

CLOSED: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("value", ["x", 1, None, "", [], {}], ids=repr)
@pytest.mark.req("OSA-SCH-03", "OSA-SCH-04")
def test_an_undeclared_key_of_a_closed_schema_is_refused_whatever_it_holds(
    value: JsonValue,
) -> None:
    failure = refused(CLOSED, {"name": "a", "rogue": value})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "rogue")
    assert failure.message == "Unexpected property `rogue`. Allowed: age, name"


@pytest.mark.req("OSA-SCH-04")
def test_a_closed_schema_without_properties_says_that_none_are_allowed() -> None:
    schema: JsonObject = {"type": "object", "additionalProperties": False}
    assert refused(schema, {"a": 1}).message == "Unexpected property `a`. Allowed: none"
    assert accepted(schema, {}) == {}


@pytest.mark.parametrize(
    "extra", [{}, {"additionalProperties": True}, {"additionalProperties": {"type": "string"}}]
)
@pytest.mark.parametrize("value", [5, "", "15", None, [1], {"name": 1}], ids=repr)
@pytest.mark.req("OSA-SCH-05")
def test_only_false_closes_a_schema(extra: JsonObject, value: JsonValue) -> None:
    schema: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}, **extra}
    found = prepared(schema, {"rogue": value})
    assert same(found.arguments, {"rogue": value})
    assert found.repairs == ()


def test_a_key_that_a_pattern_declares_is_no_stray_key() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }
    assert accepted(schema, {"x-a": "1"}) == {"x-a": "1"}
    assert refused(schema, {"x-a": "1", "n": "many"}).field == "n"
    assert refused(schema, {"x-a": "1", "y-a": "1"}).field == "y-a"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "b"),
        ({"b": 1}, "a"),
        ({"a": 1}, "b"),
        ({"b": None, "a": 1}, "b"),
        ({"b": 1, "a": None}, "a"),
        ({"b": None, "a": None}, "b"),
    ],
)
@pytest.mark.req("OSA-VAL-03")
def test_the_first_required_property_that_is_absent_or_null_is_named(
    sent: JsonObject, field: str
) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["b", "a"],
    }
    failure = refused(schema, sent)
    assert failure.message == f"Missing required property: {field}"
    assert failure.field == field


SILENT_ABOUT_NULL: dict[str, JsonValue] = {
    "nothing": {},
    "true": True,
    "a length": {"minLength": 1},
    "a description": {"description": "anything"},
    "a negation": {"not": {"type": "string"}},
    "a reference to nothing": {"$ref": "#/$defs/anything"},
}


@pytest.mark.parametrize("child", SILENT_ABOUT_NULL.values(), ids=SILENT_ABOUT_NULL.keys())
@pytest.mark.req("OSA-VAL-03")
def test_null_counts_as_missing_where_the_property_has_no_type(child: JsonValue) -> None:
    schema: JsonObject = {**one(child, required=True), "$defs": {"anything": {}}}
    failure = refused(schema, {"x": None})
    assert (failure.message, failure.field) == ("Missing required property: x", "x")
    assert accepted(schema, {"x": 5}) == {"x": 5}


def test_what_is_said_of_a_property_holds_beside_the_rule_about_null() -> None:
    assert refused(one({"not": {"type": "string"}}, required=True), {"x": "a"}).field == "x"
    schema: JsonObject = {"type": "object", "required": ["zz"], "allOf": [{"maxProperties": 1}]}
    assert accepted(schema, {"zz": 1}) == {"zz": 1}
    assert refused(schema, {"zz": 1, "a": 2}).message.startswith("Arguments: ")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"rogue": 1}, id="and a stray key"),
        pytest.param({"age": "old"}, id="and a wrong type"),
        pytest.param({"age": "old", "rogue": 1}, id="and both"),
    ],
)
@pytest.mark.req("OSA-VAL-04")
def test_a_missing_property_is_reported_first(sent: JsonObject) -> None:
    assert refused(CLOSED, sent).field == "name"


def test_a_stray_key_is_reported_before_a_wrong_type() -> None:
    assert refused(CLOSED, {"name": "a", "age": "old", "rogue": 1}).field == "rogue"


@pytest.mark.parametrize(
    ("kind", "sent", "words"),
    [
        ("string", 5, "a string"),
        ("number", "x", "a number"),
        ("boolean", "x", "a boolean"),
        ("integer", "x", "an integer"),
        ("array", "x", "an array"),
        ("object", "x", "an object"),
        (["integer", "null"], "x", "an integer or null"),
        (["string", "array"], 5, "a string or an array"),
    ],
)
@pytest.mark.req("OSA-VAL-05")
def test_a_wrong_type_is_named_with_its_article(
    kind: JsonValue, sent: JsonValue, words: str
) -> None:
    failure = refused(one({"type": kind}), {"x": sent})
    assert failure.message == f"Property 'x' must be {words}"
    assert failure.field == "x"
    assert failure.expected == words


@pytest.mark.parametrize(
    ("sent", "field"),
    [([1, "b", 3], "x[1]"), (["b"], "x[0]"), ('[1, 2, "b"]', "x[2]"), ([1, None], "x[1]")],
)
@pytest.mark.req("OSA-VAL-06")
def test_a_bad_element_is_named_by_its_index(sent: JsonValue, field: str) -> None:
    failure = refused(one({"type": "array", "items": {"type": "integer"}}), {"x": sent})
    assert failure.field == field
    assert failure.message == f"Property '{field}' must be an integer"


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        ({"o": {"k": "many"}}, "o.k", "must be an integer"),
        ({"o": {}}, "o.k", "Missing required property"),
        ({"o": {"k": 1, "z": 1}}, "o.z", "Unexpected property"),
        ({"o": {"k": 1}, "xs": [{"k": 1}, {"k": "x"}]}, "xs[1].k", "must be an integer"),
        ({"xs": [{"k": 1}, {}]}, "xs[1].k", "Missing required property"),
        ({"xs": [{"k": 1, "deep": {"d": [1, "x"]}}]}, "xs[0].deep.d[1]", "must be a number"),
    ],
)
@pytest.mark.req("OSA-VAL-07")
def test_a_fault_inside_an_object_is_named_by_its_whole_path(
    sent: JsonObject, field: str, words: str
) -> None:
    deep: JsonObject = {
        "type": "object",
        "properties": {"d": {"type": "array", "items": {"type": "number"}}},
    }
    inner: JsonObject = {
        "type": "object",
        "properties": {"k": {"type": "integer"}, "deep": deep},
        "required": ["k"],
        "additionalProperties": False,
    }
    schema: JsonObject = {
        "type": "object",
        "properties": {"o": inner, "xs": {"type": "array", "items": inner}},
    }
    failure = refused(schema, sent)
    assert failure.field == field
    assert words in failure.message
    assert field in failure.message


@pytest.mark.req("OSA-VAL-08")
def test_keys_are_case_sensitive_after_repair_and_undeclared_names_can_be_required() -> None:
    assert refused(CLOSED, {"name": "a", "Age": 1}).field == "Age"
    open_schema: JsonObject = {**CLOSED, "additionalProperties": True}
    assert accepted(open_schema, {"name": "a", "Age": 1}) == {"name": "a", "Age": 1}
    assert accepted(open_schema, {"NAME": "a"}) == {"name": "a"}
    undeclared: JsonObject = {"type": "object", "required": ["zz"]}
    for sent in ({}, {"zz": None}, {"Zz": 1}):
        assert refused(undeclared, sent).field == "zz"
    assert accepted(undeclared, {"zz": 1}) == {"zz": 1}


@pytest.mark.req("OSA-VAL-09")
def test_a_required_name_that_is_not_declared_is_a_stray_key_of_a_closed_schema() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["zz"],
        "additionalProperties": False,
    }
    failure = refused(schema, {"a": "x", "zz": 1})
    assert failure.message == "Unexpected property `zz`. Allowed: a"
    assert failure.field == "zz"


@pytest.mark.req("OSA-VAL-18")
@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "array", "object"])
def test_null_for_an_optional_property_is_refused_not_dropped(kind: str) -> None:
    failure = refused(one({"type": kind}), {"x": None})
    assert failure.field == "x"
    assert "must be a" in failure.message


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize(
    "child",
    [{"type": ["string", "null"]}, {"type": ["null", "integer"]}, {"$ref": "#/$defs/maybe"}],
)
@pytest.mark.req("OSA-VAL-19")
def test_a_type_list_with_null_permits_null_even_where_it_is_required(
    child: JsonObject, required: bool
) -> None:
    schema: JsonObject = {
        **one(child, required=required),
        "$defs": {"maybe": {"type": ["string", "null"]}},
    }
    found = prepared(schema, {"x": None})
    assert same(found.arguments, {"x": None})


@pytest.mark.req("OSA-VAL-19")
def test_a_permitted_null_is_not_blamed_for_another_fault() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"x": {"type": ["string", "null"]}, "n": {"type": "integer"}},
        "required": ["x", "n"],
    }
    assert refused(schema, {"x": None, "n": "many"}).field == "n"


@pytest.mark.parametrize("sent", [{}, {"b": 1}, {"c": 1}, {"a": None}, {"b": 1, "c": None}])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.req("OSA-VAL-20")
def test_required_groups_are_named_as_alternatives(sent: JsonObject, keyword: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {}, "b": {}, "c": {}},
        keyword: [{"required": ["a"]}, {"required": ["b", "c"]}],
    }
    failure = refused(schema, sent)
    assert failure.message == "Arguments must include `a` OR `b` + `c`."
    assert failure.field == "a"
    for whole in ({"a": 1}, {"b": 1, "c": 2}, {"a": 1, "b": 1, "c": 1}):
        assert accepted(schema, whole) == whole


def test_an_object_with_required_groups_is_repaired_like_any_other() -> None:
    schema: JsonObject = {**one({"type": "integer"}), "anyOf": [{"required": ["x"]}]}
    assert same(accepted(schema, {"x": "1"}), {"x": 1})
    assert same(accepted(one(schema), {"x": {"properties": {"x": "1"}}}), {"x": {"x": 1}})


def test_groups_that_are_met_are_not_blamed_for_another_fault() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert refused(schema, {"a": "x"}).field == "a"


def test_object_alternatives_of_another_form_are_left_to_the_validator() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"n": {}},
        "anyOf": [{"minProperties": 2}, {"required": ["a"]}],
    }
    failure = refused(schema, {})
    assert failure.message.startswith("Arguments: ")
    assert failure.field is None


@pytest.mark.parametrize(
    ("sent", "field"),
    [({}, "name"), ({"name": 5}, "name"), ({"name": "a", "age": "x"}, "age")],
)
@pytest.mark.req("OSA-VAL-21")
def test_a_refusal_has_its_kind_its_field_and_says_what_was_expected(
    sent: JsonObject, field: str
) -> None:
    failure = refused(CLOSED, sent)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.retryable
    assert failure.field == field
    assert failure.expected == ("a string" if field == "name" else "an integer")


@pytest.mark.req("OSA-VAL-21")
def test_a_fault_of_no_single_property_has_no_field() -> None:
    failure = refused({"type": "object", "minProperties": 2}, {"a": 1})
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.field is None


@pytest.mark.parametrize(
    ("declared", "sent"),
    [("file_path", "file_paths"), ("path", "pathh"), ("path", "Paths"), ("thepaths", "the_path")],
)
@pytest.mark.req("OSA-VAL-22")
def test_a_missing_property_names_the_sent_key_that_looks_like_it(declared: str, sent: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {declared: {"type": "string"}},
        "required": [declared],
    }
    failure = refused(schema, {"unrelated": 1, sent: "a"})
    assert failure.message == f"Missing required property: {declared} (you sent `{sent}`)"


@pytest.mark.req("OSA-VAL-22")
def test_a_key_that_looks_like_nothing_is_not_offered() -> None:
    assert refused(CLOSED, {"colour": 1}).message == "Missing required property: name"
