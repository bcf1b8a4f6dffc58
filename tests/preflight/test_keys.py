"""Keys in the wrong place or the wrong spelling: wrappers lifted, required keys renamed."""

import json

import pytest
from preflight.kit import accepted, one, prepared, refused, same

from holdfast.contract.envelope import Repair
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

READ: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "note": {"type": "string"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
OPEN: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.req("OSA-COE-21")
def test_wrapped_arguments_are_lifted_to_the_top() -> None:
    found = prepared(READ, {"properties": {"path": "a.txt", "limit": 3}})
    assert found.arguments == {"path": "a.txt", "limit": 3}
    assert found.repairs == (Repair("lifted_wrapper", "properties"),)


@pytest.mark.req("OSA-COE-22")
def test_a_declared_properties_field_is_left_alone() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"properties": {"type": "object"}, "a": {"type": "string"}},
    }
    sent: JsonObject = {"properties": {"a": "x"}}
    found = prepared(schema, sent)
    assert found.arguments == {"properties": {"a": "x"}}
    assert found.repairs == ()


@pytest.mark.req("OSA-COE-22")
def test_a_wrapper_that_shares_no_key_is_left_alone() -> None:
    sent: JsonObject = {"a": "ok", "properties": {"unrelated": 1}}
    found = prepared(OPEN, sent)
    assert found.arguments == {"a": "ok", "properties": {"unrelated": 1}}
    assert found.repairs == ()


@pytest.mark.req("OSA-COE-22")
def test_a_wrapper_that_shares_no_key_is_a_stray_key_under_a_closed_schema() -> None:
    failure = refused(READ, {"path": "a", "properties": {"unrelated": 1}})
    assert failure.field == "properties"
    assert failure.message.startswith("Unexpected property `properties`.")


@pytest.mark.req("OSA-COE-23")
def test_lifting_moves_undeclared_keys_too_and_those_outside_win() -> None:
    sent: JsonObject = {"a": "outside", "properties": {"a": "inside", "zz": 1}}
    assert accepted(OPEN, sent) == {"a": "outside", "zz": 1}
    assert refused(READ, {"properties": {"path": "p", "zz": 1}}).field == "zz"


@pytest.mark.parametrize("value", [["a"], "a", 1, None, '["a"]', '{"a": 1', [{"a": "x"}]])
@pytest.mark.req("OSA-COE-23")
def test_only_an_object_is_lifted(value: JsonValue) -> None:
    found = prepared(OPEN, {"properties": value})
    assert same(found.arguments, {"properties": value})
    assert found.repairs == ()


@pytest.mark.req("OSA-COE-23")
def test_a_doubled_wrapper_is_not_lifted() -> None:
    sent: JsonObject = {"properties": {"properties": {"a": "x"}}}
    found = prepared(OPEN, sent)
    assert found.arguments == {"properties": {"properties": {"a": "x"}}}
    assert refused(READ, {"properties": {"properties": {"path": "x"}}}).field == "path"


@pytest.mark.req("OSA-COE-24")
def test_the_wrapper_rule_holds_at_every_object_and_lifted_values_are_coerced() -> None:
    schema = one({"type": "array", "items": READ})
    sent: JsonObject = {
        "properties": {"x": [{"properties": {"path": "p", "limit": "3", "note": " "}}]}
    }
    found = prepared(schema, sent)
    assert same(found.arguments, {"x": [{"path": "p", "limit": 3}]})
    assert [(done.repair, done.field) for done in found.repairs] == [
        ("lifted_wrapper", "properties"),
        ("lifted_wrapper", "x[0].properties"),
        ("dropped_empty", "x[0].note"),
        ("integer_from_text", "x[0].limit"),
    ]


@pytest.mark.parametrize("name", ["properties", "arguments"])
@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.req("OSA-COE-25")
def test_both_wrappers_are_lifted_from_objects_and_from_text(name: str, as_text: bool) -> None:
    inner: JsonObject = {"path": "p", "limit": "2"}
    sent: JsonObject = {name: json.dumps(inner) if as_text else inner}
    assert same(accepted(READ, sent), {"path": "p", "limit": 2})


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.req("OSA-COE-25")
def test_a_wrapper_named_arguments_has_the_same_guards(as_text: bool) -> None:
    unrelated: JsonValue = json.dumps({"zz": 1}) if as_text else {"zz": 1}
    assert accepted(OPEN, {"arguments": unrelated}) == {"arguments": unrelated}
    declared: JsonObject = {
        "type": "object",
        "properties": {"arguments": {}, "a": {"type": "string"}},
    }
    wrapped: JsonValue = json.dumps({"a": "x"}) if as_text else {"a": "x"}
    assert accepted(declared, {"arguments": wrapped}) == {"arguments": wrapped}


@pytest.mark.parametrize(
    ("required", "sent", "arrived"),
    [
        ("pattern", {"Pattern": "x"}, {"pattern": "x"}),
        ("chartType", {"chart_type": "x"}, {"chartType": "x"}),
        ("chart_type", {"chartType": "x"}, {"chart_type": "x"}),
        ("chart_type", {"CHART-TYPE": "x"}, {"chart_type": "x"}),
        ("line2", {"line_2": "x"}, {"line2": "x"}),
    ],
)
@pytest.mark.req("OSA-COE-29")
def test_an_undeclared_key_takes_the_spelling_of_the_required_key_it_stands_for(
    required: str, sent: JsonObject, arrived: JsonObject
) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {required: {"type": "string"}, "other": {"type": "string"}},
        "required": [required],
        "additionalProperties": False,
    }
    (was,) = sent
    found = prepared(schema, sent)
    assert found.arguments == arrived
    assert found.repairs == (Repair("renamed_key", required, was),)


NAMED: JsonObject = {
    "type": "object",
    "properties": {"pattern": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["pattern"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "sent", "field"),
    [
        pytest.param(NAMED, {"pattern": "a", "Pattern": "b"}, "Pattern", id="declared sent too"),
        pytest.param(NAMED, {"Pattern": "a", "PATTERN": "b"}, "pattern", id="two candidates"),
        pytest.param(NAMED, {"pattern": "a", "Limit": 1}, "Limit", id="an optional key"),
        pytest.param(NAMED, {"patern": "a"}, "pattern", id="another word"),
        pytest.param(
            {
                "type": "object",
                "properties": {"filePattern": {}, "file_pattern": {}},
                "required": ["filePattern"],
                "additionalProperties": False,
            },
            {"FILEPATTERN": "a"},
            "filePattern",
            id="two declared names of one spelling",
        ),
        pytest.param(
            {"type": "object", "properties": {"_": {}}, "required": ["_"]},
            {"-": 1},
            "_",
            id="a name without letters",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {}}, "required": ["zz"]},
            {"ZZ": 1},
            "zz",
            id="a required name that is not declared",
        ),
    ],
)
@pytest.mark.req("OSA-COE-29")
def test_a_key_that_may_mean_something_else_is_not_renamed(
    schema: JsonObject, sent: JsonObject, field: str
) -> None:
    failure = refused(schema, sent)
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, field)


@pytest.mark.parametrize("sent", ["filename", "file_name", "filepath", "file_path", "file"])
@pytest.mark.req("OSA-COE-30")
def test_common_names_are_taken_for_a_missing_path(sent: str) -> None:
    found = prepared(READ, {sent: "a.txt"})
    assert found.arguments == {"path": "a.txt"}
    assert found.repairs == (Repair("renamed_key", "path", sent),)


@pytest.mark.req("OSA-COE-30")
def test_they_are_taken_only_where_path_is_declared_required_and_absent() -> None:
    assert refused(READ, {"path": "a", "file": "b"}).field == "file"
    assert refused(READ, {"file": "a", "filename": "b"}).field == "path"
    optional: JsonObject = {**READ, "required": []}
    assert refused(optional, {"file": "a"}).field == "file"
    undeclared: JsonObject = {"type": "object", "properties": {"a": {}}, "required": ["path"]}
    assert refused(undeclared, {"file": "a"}).field == "path"
    assert refused(NAMED, {"file": "a"}).field == "pattern"
    assert refused(READ, {"Path": "a", "PATH": "b", "file": "c"}).field == "path"


def test_a_common_name_that_the_schema_declares_otherwise_is_not_taken_for_path() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "File": {"type": "string"}},
        "required": ["path", "File"],
    }
    sent: JsonObject = {"file": "f", "filename": "p"}
    assert accepted(schema, sent) == {"path": "p", "File": "f"}


@pytest.mark.parametrize("sent", ["time_out", "Timeout", "timeOut", "tiemout"])
@pytest.mark.req("OSA-COE-33")
def test_a_misspelt_optional_key_is_refused_by_name(sent: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["command"],
        "additionalProperties": False,
    }
    failure = refused(schema, {"command": "ls", sent: 5})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, sent)
    assert failure.expected == "did you mean `timeout`?"


UNRELATED: JsonObject = {"zz": "15", "Yes": "yes", "": "", "list": ["1", None], "o": {"a": ""}}


@pytest.mark.req("OSA-COE-28")
def test_keys_the_schema_does_not_know_are_left_untouched() -> None:
    schema: JsonObject = {**READ, "additionalProperties": True}
    sent: JsonObject = {"properties": {"path": "p", "limit": "3"}, "note": " ", **UNRELATED}
    assert same(accepted(schema, sent), {"path": "p", "limit": 3, **UNRELATED})


@pytest.mark.req("OSA-COE-28")
def test_repaired_arguments_sent_again_are_not_repaired_again() -> None:
    schema: JsonObject = {**READ, "additionalProperties": True}
    sent: JsonObject = {"arguments": '{"file": "p", "limit": "3"}', "note": "", **UNRELATED}
    once = prepared(schema, sent)
    again = prepared(schema, once.arguments)
    assert len(once.repairs) == 4
    assert again.repairs == ()
    assert same(again.arguments, once.arguments)


@pytest.mark.req("OSA-RES-02")
def test_an_object_is_lifted_then_relieved_of_fillers_then_coerced_property_by_property() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "note": {"type": "string"},
            "inner": {"type": "object", "properties": {"b": {"type": "boolean"}}},
        },
        "additionalProperties": False,
    }
    sent: JsonObject = {
        "properties": {"inner": '{"properties": {"b": "no"}}', "note": "", "n": "1"}
    }
    found = prepared(schema, sent)
    assert same(found.arguments, {"n": 1, "inner": {"b": False}})
    assert [(done.repair, done.field) for done in found.repairs] == [
        ("lifted_wrapper", "properties"),
        ("dropped_empty", "note"),
        ("integer_from_text", "n"),
        ("object_from_text", "inner"),
        ("lifted_wrapper", "inner.properties"),
        ("boolean_from_text", "inner.b"),
    ]
