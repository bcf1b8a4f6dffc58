"""pydantic models in a schema: their own description, rewritten to our rules."""

import dataclasses
from inspect import cleandoc
from typing import Annotated, Literal

import msgspec
import pydantic
import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool


@dataclasses.dataclass
class Line:
    """One line of an order.

    Attributes:
        item: what is ordered, e.g. "nail"
    """

    item: str
    count: int = 1
    tags: list[str] = dataclasses.field(default_factory=list[str])
    note: Annotated[str | None, "a remark"] = None


class Cat(msgspec.Struct, tag=True):
    lives: int = 9


class Address(pydantic.BaseModel):
    """Where someone lives."""

    street: str = pydantic.Field(description="with number", title="Street name")
    lines: list[Line] = []
    country: "Country | None" = None


class Country(pydantic.BaseModel):
    code: str = pydantic.Field(alias="countryCode", max_length=2)
    title: str = "Sir"


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    friends: "list[Person]"


class Pet(pydantic.BaseModel):
    animal: Cat | None = None

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)


class Combined:
    @classmethod
    def model_json_schema(cls, **_how: object) -> JsonObject:
        size: JsonObject = {"type": "integer", "title": "Size"}
        sides: JsonObject = {"enum": [[1, 2]]}
        part: JsonObject = {"type": "object", "properties": {"size": size, "sides": sides}}
        return {
            "$defs": {"Part": part},
            "allOf": [{"$ref": "#/$defs/Part"}, {"description": "Both."}],
        }

    @classmethod
    def model_validate(cls, obj: object) -> object:
        return obj


class Dangling(Combined):
    @classmethod
    def model_json_schema(cls, **_how: object) -> JsonObject:
        return {"$ref": "#/elsewhere"}


def property_for(annotation: object) -> JsonObject:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    properties = tool(function).tool.input_schema["properties"]
    assert isinstance(properties, dict)
    found = properties["x"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (Person, "contains itself"),
        (Pet, "no JSON Schema"),
        (Dangling, "refers to '#/elsewhere'"),
    ],
)
def test_a_model_without_a_finite_schema_is_refused_by_name(model: object, hint: str) -> None:
    with pytest.raises(ToolDefinitionError, match=rf"(?s)'function', parameter 'x'.*{hint}"):
        property_for(model)


def test_a_pydantic_model_follows_our_rules() -> None:
    assert property_for(Address) == {
        "type": "object",
        "description": "Where someone lives.",
        "properties": {
            "street": {"type": "string", "description": "with number"},
            "lines": {
                "type": "array",
                "default": [],
                "items": {
                    "type": "object",
                    "description": cleandoc(Line.__doc__ or ""),
                    "properties": {
                        "item": {"type": "string"},
                        "count": {"type": "integer", "default": 1},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "note": {"type": ["string", "null"], "default": None},
                    },
                    "required": ["item"],
                    "additionalProperties": False,
                },
            },
            "country": {
                "type": ["object", "null"],
                "default": None,
                "properties": {
                    "countryCode": {"type": "string", "maxLength": 2},
                    "title": {"type": "string", "default": "Sir"},
                },
                "required": ["countryCode"],
                "additionalProperties": False,
            },
        },
        "required": ["street"],
        "additionalProperties": False,
    }


def test_a_model_that_combines_schemas_has_them_merged() -> None:
    assert property_for(Combined) == {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "sides": {"enum": [[1, 2]]}},
        "description": "Both.",
        "additionalProperties": False,
    }


class Fish(pydantic.BaseModel):
    kind: Literal["fish"]
    at: tuple[int, str] = (0, "")


class Bird(pydantic.BaseModel):
    kind: Literal["bird"]
    wings: Literal["left", 2] = 2


class Cage(pydantic.BaseModel):
    pet: Fish | Bird = pydantic.Field(discriminator="kind")


def test_a_discriminated_union_of_pydantic_models_is_any_of() -> None:
    properties = property_for(Cage)["properties"]
    fish: JsonObject = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["fish"]},
            "at": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
                "default": [0, ""],
            },
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    bird: JsonObject = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["bird"]},
            "wings": {"type": ["string", "integer"], "enum": ["left", 2], "default": 2},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    assert properties == {"pet": {"anyOf": [fish, bird]}}


def test_a_result_schema_has_what_a_result_is_written_with() -> None:
    @tool
    def look() -> Country:
        """Look."""
        raise NotImplementedError

    schema = look.tool.output_schema
    assert schema is not None
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["code", "title"]
