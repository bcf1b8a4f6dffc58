"""Warnings about schemas that come from elsewhere."""

import dataclasses
from typing import Any, Literal

import msgspec
import pydantic
import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Tool
from holdfast.sources.functions import tool
from holdfast.sources.lint import lint

CLOSED: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}


@tool
def ping() -> None:
    """Answer."""


def with_schema(schema: JsonObject) -> Tool:
    return msgspec.structs.replace(ping.tool, input_schema=schema)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "enum", "not"])
def test_what_providers_refuse_at_the_top_level_is_flagged(keyword: str) -> None:
    found = lint(with_schema({**CLOSED, keyword: []}))
    assert len(found) == 1
    assert found[0].startswith(f"ping: {keyword} at the top level")


@pytest.mark.parametrize(
    "extra", [{}, {"additionalProperties": True}, {"additionalProperties": {}}]
)
def test_an_open_top_level_is_flagged(extra: JsonObject) -> None:
    assert lint(with_schema({"type": "object", **extra})) == [
        "ping: the top level: the object is not closed; set additionalProperties to false"
    ]


OPEN: JsonObject = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("inner", "path"),
    [
        (OPEN, "a"),
        ({"type": "array", "items": OPEN}, "a.items"),
        ({"anyOf": [{"type": "null"}, OPEN]}, r"a.anyOf[1]"),
        ({"type": "object", "additionalProperties": OPEN}, "a.additionalProperties"),
    ],
)
def test_an_open_object_with_named_fields_is_flagged_where_it_is(
    inner: JsonObject, path: str
) -> None:
    found = lint(with_schema({**CLOSED, "properties": {"a": inner}}))
    assert found == [f"ping: {path}: the object is not closed; set additionalProperties to false"]


@pytest.mark.parametrize(
    ("schema", "remark"),
    [
        (
            {**CLOSED, "required": ["a"]},
            "'a' is required but not declared; no call can be accepted",
        ),
        (
            {**OPEN, "required": ["z"]},
            "'z' is required but not declared",
        ),
    ],
)
def test_a_required_name_that_is_not_declared_is_flagged(schema: JsonObject, remark: str) -> None:
    assert f"ping: the top level: {remark}" in lint(with_schema(schema))


def test_a_closed_schema_is_not_remarked_on() -> None:
    properties: JsonObject = {
        "map": {"type": "object"},
        "any": True,
        "text": {"type": "string", "pattern": "^a+$"},
        "choice": {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]},
    }
    assert lint(with_schema({**CLOSED, "properties": properties})) == []


@dataclasses.dataclass
class Point:
    x: float
    near: list["Label"]


class Label(msgspec.Struct):
    text: str | None = None


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    inner: dict[str, "Inner"]


class Inner(pydantic.BaseModel):
    kind: Literal["a", "b"] | int
    more: Any = None


def test_a_derived_schema_gives_no_warnings() -> None:
    @tool
    def everything(
        a: Point | Label, b: Model, c: dict[str, Point] | None, d: tuple[int, str], e: Any = None
    ) -> None:
        """Take everything."""

    assert lint(everything.tool) == []
