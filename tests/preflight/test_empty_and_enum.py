"""Empty fillers, the word null, and enum values in the wrong case."""

from collections.abc import Mapping

import pytest
from preflight.kit import accepted, one, prepared, refused, same
from support import make_tool, settle

from holdfast.contract.arguments import require_string
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.runtime import Runtime
from holdfast.preflight.literals import WHITE_SPACE

BLANKS = ["", " ", "\n", "\t \r", "\u00a0", "\u2003\u3000", WHITE_SPACE]


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
@pytest.mark.req("OSA-COE-14")
def test_an_empty_optional_text_is_removed_before_the_body_runs(blank: str) -> None:
    found = prepared(one({"type": "string"}), {"x": blank})
    assert found.arguments == {}
    assert [(done.repair, done.field) for done in found.repairs] == [("dropped_empty", "x")]


def test_a_zero_width_space_is_not_white_space() -> None:
    assert accepted(one({"type": "string"}), {"x": "\u200b"}) == {"x": "\u200b"}


def test_empty_fillers_are_removed_inside_objects_and_arrays_too() -> None:
    inner = one({"type": "string"})
    schema = one({"type": "array", "items": inner})
    assert accepted(schema, {"x": [{"x": ""}, {"x": "kept"}]}) == {"x": [{}, {"x": "kept"}]}


@pytest.mark.req("OSA-COE-15")
async def test_a_required_text_stays_empty_so_that_the_body_can_answer() -> None:
    def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        return require_string(values, "x", expected="a name")

    tool = make_tool(body, schema=one({"type": "string"}, required=True))
    envelope = await settle(tool, {"x": ""})
    assert envelope.failure is not None
    assert envelope.failure.message == "Argument `x` must not be empty (a name)."


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
@pytest.mark.req("OSA-COE-15")
def test_a_required_text_keeps_its_blanks(blank: str) -> None:
    found = prepared(one({"type": "string"}, required=True), {"x": blank})
    assert found.arguments == {"x": blank}
    assert found.repairs == ()


KEPT: dict[str, tuple[JsonObject, JsonObject]] = {
    "null where it is allowed": (one({"type": ["string", "null"]}), {"x": None}),
    "an empty array": (one({"type": "array"}), {"x": []}),
    "an empty object": (one({"type": "object"}), {"x": {}}),
    "empty text without a type": (one({}), {"x": ""}),
    "empty text under an undeclared key": (one({"type": "string"}), {"y": ""}),
    "empty text under alternatives": (one({"anyOf": [{"type": "string"}]}), {"x": ""}),
    "empty text that may also be a number": (one({"type": ["string", "integer"]}), {"x": ""}),
    "empty text in an array": (one({"type": "array", "items": {"type": "string"}}), {"x": [""]}),
    "empty text that is an allowed value": (
        one({"type": "string", "enum": ["", "a"]}),
        {"x": ""},
    ),
}


@pytest.mark.parametrize(("schema", "sent"), KEPT.values(), ids=KEPT.keys())
@pytest.mark.req("OSA-COE-16")
def test_nothing_else_that_is_empty_is_dropped(schema: JsonObject, sent: JsonObject) -> None:
    found = prepared(schema, sent)
    assert same(found.arguments, sent)
    assert found.repairs == ()


@pytest.mark.parametrize("kind", ["integer", "number", "boolean", "array", "object"])
@pytest.mark.req("OSA-COE-16")
def test_empty_text_for_another_type_is_refused_not_dropped(kind: str) -> None:
    assert refused(one({"type": kind}), {"x": ""}).field == "x"


@pytest.mark.req("OSA-COE-16")
def test_null_for_a_text_is_refused_not_dropped() -> None:
    assert refused(one({"type": "string"}), {"x": None}).field == "x"


@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
@pytest.mark.req("OSA-COE-16")
def test_an_optional_enum_text_that_is_empty_is_dropped(blank: str) -> None:
    assert accepted(one({"type": "string", "enum": ["a", "b"]}), {"x": blank}) == {}


@pytest.mark.req("OSA-COE-17")
def test_a_tool_can_keep_the_empty_text_of_a_field() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "new_string": {"type": "string"},
            "note": {"type": "string"},
            "deep": one({"type": "string"}),
        },
    }
    sent: JsonObject = {"new_string": "", "note": "", "deep": {"x": ""}}
    assert accepted(schema, sent) == {"deep": {}}
    kept = prepared(schema, sent, keep_empty=["new_string", "x"])
    assert kept.arguments == {"new_string": "", "deep": {"x": ""}}
    assert [done.field for done in kept.repairs] == ["note"]


@pytest.mark.parametrize(
    ("child", "sent", "arrived"),
    [
        pytest.param({"type": ["string", "null"]}, "null", None, id="text or null"),
        pytest.param({"type": ["integer", "null"]}, "null", None, id="integer or null"),
        pytest.param({"type": ["array", "null"]}, "null", None, id="array or null"),
        pytest.param({"type": "null"}, "null", None, id="null alone"),
        pytest.param({"enum": ["a", None]}, "null", None, id="an enum with null"),
        pytest.param({"type": ["string", "null"], "enum": ["a", None]}, "null", None, id="both"),
        pytest.param({"type": "string"}, "null", "null", id="text alone"),
        pytest.param({}, "null", "null", id="no type"),
        pytest.param({"type": ["string", "null"]}, "NULL", "NULL", id="another case"),
        pytest.param({"type": ["string", "null"]}, " null", " null", id="padding"),
        pytest.param(
            {"type": ["string", "null"], "enum": ["null", "a"]}, "null", "null", id="allowed word"
        ),
        pytest.param({"enum": ["null", None]}, "null", "null", id="allowed word beside null"),
    ],
)
@pytest.mark.req("OSA-COE-31")
def test_the_word_null_becomes_null_where_the_schema_allows_null(
    child: JsonObject, sent: str, arrived: JsonValue
) -> None:
    assert same(accepted(one(child), {"x": sent}), {"x": arrived})
    assert same(accepted(one(child, required=True), {"x": sent}), {"x": arrived})


@pytest.mark.parametrize("kind", ["integer", "number", "boolean", "array", "object"])
@pytest.mark.req("OSA-COE-31")
def test_the_word_null_is_kept_and_refused_where_null_is_not_allowed(kind: str) -> None:
    failure = refused(one({"type": kind}), {"x": "null"})
    assert failure.extras == {"received": '"null"'}


@pytest.mark.req("OSA-COE-18")
def test_a_value_in_another_case_gets_the_declared_spelling() -> None:
    found = prepared(one({"type": "string", "enum": ["pinned", "episodes"]}), {"x": "Pinned"})
    assert found.arguments == {"x": "pinned"}
    assert [(done.repair, done.field) for done in found.repairs] == [("enum_case", "x")]


@pytest.mark.req("OSA-RES-06")
async def test_a_body_can_compare_strictly_with_the_declared_spelling() -> None:
    seen: list[object] = []

    def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        seen.append(values["x"])
        return values["x"] == "pinned"

    tool = make_tool(body, schema=one({"type": "string", "enum": ["pinned", "episodes"]}))
    envelope = await settle(tool, '{"x": "PINNED"}')
    assert envelope.result is True
    assert seen == ["pinned"]


@pytest.mark.parametrize(
    ("enum", "sent", "arrived"),
    [
        (["Foo", "FOO"], "FOO", "FOO"),
        (["Foo", "FOO"], "Foo", "Foo"),
        (["Foo", "FOO"], "foo", "Foo"),
        (["FOO", "Foo"], "foo", "FOO"),
        (["élan"], "ÉLAN", "élan"),
        (["Straße"], "STRASSE", "Straße"),
        (["ΣΊΣΥΦΟΣ"], "σίσυφος", "ΣΊΣΥΦΟΣ"),
    ],
)
@pytest.mark.req("OSA-COE-19")
def test_an_exact_match_wins_then_the_first_that_is_equal_ignoring_case(
    enum: list[JsonValue], sent: str, arrived: str
) -> None:
    assert accepted(one({"type": "string", "enum": enum}), {"x": sent}) == {"x": arrived}


@pytest.mark.req("OSA-COE-19")
def test_enum_values_inside_arrays_get_their_spelling() -> None:
    schema = one({"type": "array", "items": {"type": "string", "enum": ["foo", "bar"]}})
    assert accepted(schema, {"x": ["FOO", "bar", "Bar"]}) == {"x": ["foo", "bar", "bar"]}
    assert accepted(schema, {"x": '["FOO"]'}) == {"x": ["foo"]}


@pytest.mark.parametrize("sent", [" pinned", "pinned ", "pinned\n", " Pinned"])
@pytest.mark.req("OSA-COE-19")
def test_a_padded_enum_value_is_refused(sent: str) -> None:
    assert refused(one({"type": "string", "enum": ["pinned"]}), {"x": sent}).field == "x"


@pytest.mark.req("OSA-COE-20")
def test_an_enum_without_a_type_gets_the_declared_spelling_too() -> None:
    assert accepted(one({"enum": ["pinned", 1]}), {"x": "Pinned"}) == {"x": "pinned"}
    assert accepted(one({"enum": ["pinned", 1]}), {"x": 1}) == {"x": 1}
    assert refused(one({"enum": ["pinned", 1]}), {"x": "1"}).field == "x"
