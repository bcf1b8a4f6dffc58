"""The names in a schema have one order, whoever kept it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.model import ModelTool, in_one_order

EDIT: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Which."},
        "old": {"type": "string"},
        "every": {"type": "boolean"},
        "new": {"anyOf": [{"type": "string"}, {"type": "null", "description": "Nothing."}]},
    },
    "required": ["path", "old", "new", "gone", 3],
}


def _properties(schema: Any) -> list[str]:
    return list(schema["properties"])


def test_what_is_required_comes_first_as_it_is_required_and_the_rest_by_name() -> None:
    ordered = in_one_order(EDIT)
    assert list(ordered) == ["properties", "required", "type"]
    assert _properties(ordered) == ["path", "old", "new", "every"]
    assert ordered == EDIT


@pytest.mark.parametrize("required", [None, "path", {"path": 1}, []])
def test_where_nothing_is_required_names_are_sorted(required: Any) -> None:
    odd = {**EDIT, "required": required}
    assert _properties(in_one_order(odd)) == ["every", "new", "old", "path"]


def test_a_tool_that_was_kept_is_the_same_bytes_as_before() -> None:
    tool = ModelTool(name="edit", description=None, schema=EDIT)
    kept = msgspec.json.decode(encode_json(tool), type=ModelTool)
    assert json.dumps(kept.schema) == json.dumps(tool.schema)
    assert _properties(kept.schema) == ["path", "old", "new", "every"]


_NAMES = st.sampled_from(["properties", "required", "type", "items", "a", "b"])
_VALUES = st.recursive(
    st.one_of(st.none(), st.integers(0, 9), _NAMES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner)),
    max_leaves=20,
)


@given(st.dictionaries(_NAMES, _VALUES))
def test_equal_schemas_come_out_as_the_same_text_and_say_the_same(schema: JsonObject) -> None:
    again = decode_json(encode_json(schema))
    assert isinstance(again, dict)
    assert json.dumps(in_one_order(again)) == json.dumps(in_one_order(schema))
    assert in_one_order(schema) == schema
