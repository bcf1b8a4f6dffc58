"""Nothing a caller or a schema hands in can cost without limit."""

import pytest
from support import make_tool

from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ToolDefinitionError
from holdfast.preflight.parse import Parsed, parse_arguments
from holdfast.runtime.catalog import Catalog


def test_an_object_is_bounded_like_text() -> None:
    for given in ({"a": "x" * 2_000}, {"k" * 2_000: 1}, {"a": [1] * 1_000}):
        refused = parse_arguments(given, max_bytes=1_000)
        assert isinstance(refused, Failure)
        assert "larger than 1,000 bytes" in refused.message
    assert isinstance(parse_arguments({"a": "x" * 900}, max_bytes=1_000), Parsed)


def test_shared_parts_cannot_multiply_without_limit() -> None:
    shared: list[object] = [1]
    for _ in range(60):
        shared = [shared, shared]
    refused = parse_arguments({"a": shared}, max_bytes=100_000)
    assert isinstance(refused, Failure)


def test_a_schema_whose_references_multiply_is_refused() -> None:
    definitions: JsonObject = {"a40": {"type": "string"}}
    for level in range(40):
        following: JsonObject = {"$ref": f"#/$defs/a{level + 1}"}
        definitions[f"a{level}"] = {"allOf": [following, following]}
    schema: JsonObject = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a0"}},
        "$defs": definitions,
    }
    with pytest.raises(ToolDefinitionError, match="more than 100,000 checks"):
        Catalog([make_tool(schema=schema)])


def test_a_recursive_schema_is_not_taken_for_an_explosion() -> None:
    tree: JsonObject = {
        "type": "object",
        "properties": {"left": {"$ref": "#/$defs/t"}, "right": {"$ref": "#/$defs/t"}},
    }
    schema: JsonObject = {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}
    schema["$defs"] = {"t": tree}
    assert len(Catalog([make_tool(schema=schema)])) == 1
