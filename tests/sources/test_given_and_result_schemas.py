"""Schemas given by hand, and the schema of what a function returns."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.contract.backend import CommandResult
from holdfast.contract.builders import success
from holdfast.contract.envelope import Envelope
from holdfast.contract.results import Image
from holdfast.contract.runtime import Runtime
from holdfast.sources.functions import tool

if TYPE_CHECKING:
    from fractions import Fraction


@dataclasses.dataclass
class Report:
    degrees: float


def test_a_result_type_that_cannot_be_found_is_no_obstacle() -> None:
    @tool
    def half(x: int) -> "Fraction":
        """Halve."""
        raise NotImplementedError

    assert half.tool.output_schema is None
    assert half.tool.input_schema["required"] == ["x"]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (int, {"type": "integer"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, Any], {"type": "object"}),
        (int | None, {"type": ["integer", "null"]}),
        (str, None),
        (str | None, None),
        (None, None),
        (Any, None),
        (Envelope, None),
        (Report | Envelope, None),
        (Image, None),
        (bytes, None),
        (CommandResult, None),
        (complex, None),
        (Iterator[int], None),
    ],
)
def test_a_result_has_a_schema_when_its_type_says_what_will_be_written(
    returns: object, expected: object
) -> None:
    def function() -> object:
        """Do something."""
        return success()

    function.__annotations__["return"] = returns
    assert tool(function).tool.output_schema == expected


def test_a_generator_has_no_result_schema() -> None:
    def items() -> Iterator[int]:
        """Count."""
        yield 1

    items.__annotations__["return"] = list[int]
    assert tool(items).tool.output_schema is None


def test_a_schema_given_by_hand_replaces_the_derived_one() -> None:
    given = {"type": "object", "properties": {"path": {"type": "string"}, "at": {"type": "number"}}}

    def look(path: complex, at: float = 1.0, unannotated: None = None) -> None:
        """Look."""

    del look.__annotations__["unannotated"]
    made = tool(look, input_schema=given).tool
    assert made.input_schema == given
    given["properties"] = {}
    assert made.input_schema != given, "the tool holds a copy"
    decode = made.body.decode
    assert decode is not None
    assert decode({"path": "p", "at": 2}) == {"path": "p", "at": 2.0}


def test_with_a_schema_given_by_hand_extra_keywords_are_welcome(runtime: Runtime) -> None:
    @tool(input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
    def collect(**anything: object) -> object:
        """Collect."""
        return anything

    assert collect.tool.body.invoke({"a": 1, "b": 2}, runtime) == {"a": 1, "b": 2}
