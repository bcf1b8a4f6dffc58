"""Schemas as they are enforced: leniencies made explicit, nothing fetched, nothing endless."""

import json
import re
import socket
from pathlib import Path

import pytest
from preflight.kit import accepted, one, prepared, refused, same, tool_of

from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue, depth_of
from holdfast.contract.tool import ToolDefinitionError
from holdfast.preflight.plan import Plan
from holdfast.preflight.schema import (
    MAX_SCHEMA_DEPTH,
    SchemaProblem,
    compile_validator,
    effective_schema,
)
from holdfast.runtime.catalog import Catalog

INTEGER: JsonObject = {"type": "integer"}


@pytest.mark.parametrize("schema", [[], "text", None, True, False, 5], ids=repr)
@pytest.mark.req("OSA-VAL-01")
def test_a_schema_that_is_not_an_object_is_refused(schema: object) -> None:
    with pytest.raises(SchemaProblem, match=r"^Schema must be an object$"):
        effective_schema(schema)


@pytest.mark.req("OSA-VAL-01")
def test_a_tool_with_such_a_schema_cannot_be_registered() -> None:
    tool = tool_of([])  # pyright: ignore[reportArgumentType] - the point of the test
    with pytest.raises(ToolDefinitionError, match="Schema must be an object"):
        Catalog([tool])


@pytest.mark.req("OSA-VAL-17", "OSA-VAL-11")
def test_a_pattern_that_is_no_regular_expression_leaves_a_remark_at_registration() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"x": {"pattern": "(["}, "o": {"properties": {"y": {"pattern": "*"}}}},
        "patternProperties": {"(": INTEGER, "^n": INTEGER},
    }
    plan = Catalog([tool_of(schema)]).plan("probe")
    assert plan is not None
    assert plan.remarks == (
        "the schema: the pattern '(' is not a valid regular expression",
        "x: the pattern '([' is not a valid regular expression",
        "o.y: the pattern '*' is not a valid regular expression",
    )
    assert accepted(schema, {"x": "a", "o": {"y": "b"}, "(": "c"})
    assert refused(schema, {"na": "x"}).field == "na"


def test_a_bad_pattern_at_the_top_is_remarked_too() -> None:
    assert effective_schema({"pattern": "(["}).remarks == (
        "the schema: the pattern '([' is not a valid regular expression",
    )
    assert effective_schema(one({"patternProperties": {"(": {}}})).remarks == (
        "x: the pattern '(' is not a valid regular expression",
    )


@pytest.mark.parametrize("path", ["schema.json", "schema.json#/$defs/a"])
def test_a_reference_to_the_network_is_refused_and_nobody_is_called(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        reference = f"http://127.0.0.1:{listener.getsockname()[1]}/{path}"
        children: list[JsonObject] = [{"$ref": reference}, {"anyOf": [{"$ref": reference}]}]
        for child in children:
            with pytest.raises(SchemaProblem, match="not a usable JSON Schema"):
                Plan(tool_of(one(child)))
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_reference_to_a_file_is_refused_though_the_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "integer"}', "utf-8")
    for reference in ((tmp_path / "schema.json").as_uri(), "schema.json"):
        with pytest.raises(SchemaProblem, match="not a usable JSON Schema"):
            Plan(tool_of(one({"$ref": reference})))


def test_a_schema_url_is_neither_needed_nor_followed() -> None:
    schema: JsonObject = {
        **one(INTEGER),
        "$schema": "http://127.0.0.1:9/dialect",
        "$id": "http://127.0.0.1:9/tool",
    }
    assert accepted(schema, {"x": "1"}) == {"x": 1}


TREE: JsonObject = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "left": {"$ref": "#"},
        "kids": {"type": "array", "items": {"$ref": "#/$defs/kid"}},
    },
    "additionalProperties": False,
    "$defs": {"kid": {"allOf": [{"$ref": "#"}], "description": "A child."}},
}


def test_a_recursive_schema_is_repaired_and_checked_at_every_depth() -> None:
    sent: JsonObject = {"left": {"left": {"n": "1"}}, "kids": [{"kids": '[{"n": 2.0}]'}]}
    assert same(accepted(TREE, sent), {"left": {"left": {"n": 1}}, "kids": [{"kids": [{"n": 2}]}]})
    assert refused(TREE, {"left": {"left": {"m": 1}}}).field == "left.left.m"
    assert refused(TREE, {"kids": [{}, {"kids": [{"n": "x"}]}]}).field == "kids[1].kids[0].n"


def _text_inside_text(texts: int, levels: int) -> JsonValue:
    value: JsonValue = {"n": "1"}
    for _ in range(texts):
        for _ in range(levels):
            value = {"left": value}
        value = {"left": json.dumps(value)}
    return value


@pytest.mark.parametrize(("texts", "levels"), [(1, 600), (9, 100), (1, 130)])
@pytest.mark.req("OSA-VAL-23")
def test_text_that_unfolds_too_deep_is_refused_without_a_recursion_error(
    texts: int, levels: int
) -> None:
    sent = _text_inside_text(texts, levels)
    assert isinstance(sent, dict)
    failure = refused(TREE, sent)
    assert failure.message.startswith("Arguments are nested too deeply")


@pytest.mark.req("OSA-VAL-23")
def test_text_that_unfolds_to_the_deepest_accepted_level_is_repaired() -> None:
    sent = _text_inside_text(1, MAX_DEPTH - 2)
    assert isinstance(sent, dict)
    found = prepared(TREE, sent)
    assert [done.repair for done in found.repairs] == ["object_from_text", "integer_from_text"]
    assert depth_of(found.arguments) == MAX_DEPTH
    sent["left"] = '{"left": ' * 126 + '"x"' + "}" * 126
    assert refused(TREE, sent).field == ".".join(["left"] * 127)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_references_that_only_lead_to_each_other_are_refused(schema: JsonObject) -> None:
    with pytest.raises(SchemaProblem, match="loop"):
        Plan(tool_of(schema))


def _deep(keyword: str, levels: int) -> JsonObject:
    schema: JsonObject = {}
    for _ in range(levels):
        below: JsonValue = schema
        if keyword in {"properties", "$defs"}:
            below = {"a": schema}
        if keyword == "anyOf":
            below = [schema]
        schema = {keyword: below}
    return schema


@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf", "not", "$defs"])
@pytest.mark.parametrize("levels", [MAX_SCHEMA_DEPTH + 1, 1_000, 100_000])
def test_a_schema_nested_too_deep_is_a_schema_problem(keyword: str, levels: int) -> None:
    assert effective_schema(_deep(keyword, MAX_SCHEMA_DEPTH)).schema
    with pytest.raises(SchemaProblem, match="64 levels"):
        Plan(tool_of(_deep(keyword, levels)))


def _chained(definitions: int, levels: int) -> JsonObject:
    """Definitions that are deep each, and each continued by the next."""
    chain: JsonObject = {str(definitions): {"type": "integer"}}
    for number in range(definitions):
        node: JsonObject = {"$ref": f"#/$defs/{number + 1}"}
        for _ in range(levels):
            node = {"type": "object", "properties": {"a": node}}
        chain[str(number)] = node
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": chain}


def test_a_schema_that_is_endlessly_deep_through_its_references_is_a_schema_problem() -> None:
    with pytest.raises(SchemaProblem, match="nests too deeply"):
        Plan(tool_of(_chained(40, 60)))


def test_a_schema_deeper_than_arguments_can_be_is_still_enforced() -> None:
    schema = _chained(4, 60)
    assert accepted(schema, {"x": {"a": "{}"}}) == {"x": {"a": {}}}
    assert refused(schema, {"x": {"a": {"a": 5}}}).field == "x.a.a"


def test_deep_annotations_are_nobodys_business() -> None:
    notes: JsonValue = 1
    for _ in range(200):
        notes = {"more": notes}
    assert accepted({**one(INTEGER), "x-notes": notes}, {"x": "1"}) == {"x": 1}


def test_a_default_nested_a_thousand_deep_is_a_schema_problem() -> None:
    default: JsonValue = None
    for _ in range(1_000):
        default = [default]
    with pytest.raises(SchemaProblem):
        Plan(tool_of(one({"default": default})))


MEANINGLESS: list[tuple[JsonObject, str]] = [
    ({"properties": 5}, "not of type"),
    ({"properties": {"a": 5}}, "the schema at a is not an object"),
    ({"items": "x"}, "the schema at items is not an object"),
    ({"anyOf": [{"properties": {"b": None}}]}, "the schema at anyOf[0].b is not an object"),
    ({"required": "a"}, "not of type"),
    ({"required": [5]}, "not of type"),
    ({"type": 5}, "not valid"),
    ({"minLength": -1}, "less than the minimum"),
    ({"minimum": float("nan")}, "not of type"),
    ({"oneOf": 5}, "not of type"),
    ({"$ref": 5}, "not of type"),
    ({"$ref": "#/nowhere"}, "does not exist"),
    ({"enum": [{1, 2}]}, "Unsupported type"),  # pyright: ignore[reportAssignmentType] - no JSON, which is the point
]


@pytest.mark.parametrize(
    ("schema", "words"), MEANINGLESS, ids=[str(schema) for schema, _ in MEANINGLESS]
)
def test_a_schema_that_means_nothing_is_refused_with_a_reason(
    schema: JsonObject, words: str
) -> None:
    with pytest.raises(SchemaProblem, match=re.escape(words)):
        Plan(tool_of(schema))


def test_a_type_list_that_holds_no_names_is_ignored() -> None:
    odd = one({"type": [{"a": 1}, 5]})
    assert accepted(odd, {"x": "1"}) == {"x": "1"}
    assert accepted(one({"type": ["integer", "date"]}), {"x": "1"}) == {"x": 1}


def test_a_tuple_of_an_older_draft_is_checked_place_by_place() -> None:
    pair: JsonObject = {"type": "array", "items": [INTEGER, {"type": "string"}]}
    assert accepted(one(pair), {"x": ["1", "a", None]}) == {"x": [1, "a", None]}
    assert refused(one(pair), {"x": [1, 2]}).field == "x[1]"
    closed: JsonObject = {**pair, "additionalItems": False}
    assert refused(one(closed), {"x": [1, "a", None]}).field == "x[2]"
    typed: JsonObject = {**pair, "additionalItems": {"type": "boolean"}}
    assert accepted(one(typed), {"x": [1, "a", "no"]}) == {"x": [1, "a", False]}


DEFINITIONS: JsonObject = {
    "plain": INTEGER,
    "with/slash~": INTEGER,
    "chain": {"$ref": "#/$defs/plain"},
    "word": {"type": "string"},
}


@pytest.mark.parametrize("name", ["plain", "with~1slash~0", "chain"])
def test_local_references_are_followed_for_repairs_and_words(name: str) -> None:
    schema: JsonObject = {**one({"$ref": f"#/$defs/{name}"}), "$defs": DEFINITIONS}
    assert accepted(schema, {"x": "1"}) == {"x": 1}
    assert refused(schema, {"x": "many"}).message == "Property 'x' must be an integer"


def test_a_reference_to_another_property_is_followed() -> None:
    schema: JsonObject = {"properties": {"a": INTEGER, "b": {"$ref": "#/properties/a"}}}
    assert accepted(schema, {"b": "1"}) == {"b": 1}
    assert refused(schema, {"b": "many"}).field == "b"
    listed: JsonObject = {
        "properties": {"a": INTEGER, "b": {"type": "array", "items": {"$ref": "#/properties/a"}}}
    }
    assert refused(listed, {"b": [1, "x"]}).message == "Property 'b[1]' must be an integer"
    either: JsonObject = {
        "properties": {"a": INTEGER, "b": {"anyOf": [{"$ref": "#/properties/a"}]}}
    }
    assert refused(either, {"b": "x"}).field == "b"


def test_a_reference_by_anchor_or_index_is_checked_but_not_repaired() -> None:
    schema: JsonObject = {
        "properties": {"x": {"$ref": "#whole"}, "y": {"$ref": "#/allOf/0"}, "n": INTEGER},
        "$defs": {"a": {"$anchor": "whole", "type": "object"}},
        "allOf": [{"maxProperties": 9}],
    }
    sent: JsonObject = {"x": {"n": "1"}, "y": {"n": "1"}, "n": "1"}
    assert same(accepted(schema, sent), {"x": {"n": "1"}, "y": {"n": "1"}, "n": 1})
    assert refused(schema, {"x": 5}).field == "x"


def test_a_dynamic_reference_is_checked_but_not_repaired() -> None:
    schema: JsonObject = {
        "properties": {"x": {"$dynamicRef": "#node"}, "n": INTEGER},
        "$defs": {"a": {"$dynamicAnchor": "node", "type": "object"}},
    }
    assert accepted(schema, {"x": {}, "n": "1"}) == {"x": {}, "n": 1}
    assert refused(schema, {"x": 5}).field == "x"


def test_what_stands_beside_a_reference_belongs_to_that_place_alone() -> None:
    schema: JsonObject = {
        "properties": {
            "level": {"$ref": "#/$defs/word", "enum": ["low"]},
            "text": {"$ref": "#/$defs/word"},
        },
        "$defs": DEFINITIONS,
    }
    assert accepted(schema, {"level": "LOW", "text": "LOW"}) == {"level": "low", "text": "LOW"}


def test_a_schema_that_is_a_reference_as_a_whole_is_enforced() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/call",
        "$defs": {"call": one(INTEGER, required=True, closed=True)},
    }
    assert accepted(schema, {"x": "1"}) == {"x": 1}
    assert refused(schema, {}).message == "Missing required property: x"
    assert refused(schema, {"x": 1, "y": 2}).field == "y"


def test_the_given_schema_is_not_changed() -> None:
    given: JsonObject = {
        "properties": {"x": {"type": "date", "oneOf": [{}]}, "y": {"items": [{}]}},
        "required": ["x", "z"],
    }
    before = repr(given)
    assert effective_schema(given).schema != given
    assert repr(given) == before


def test_compiling_names_only_the_first_line_of_a_problem() -> None:
    with pytest.raises(SchemaProblem) as caught:
        compile_validator({"type": 5})
    assert "\n" not in str(caught.value)
