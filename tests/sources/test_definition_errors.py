"""What cannot become a tool says which function, which parameter and what to do."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pydantic
import pytest

from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.functions import tool

if TYPE_CHECKING:
    from fractions import Fraction

make: Callable[..., Any] = tool


def bare(x: int, y: int) -> None:
    """Do something."""


del bare.__annotations__["x"]


def positional(*args: str) -> None:
    """Do something."""


def keywords(**kwargs: str) -> None:
    """Do something."""


def slashed(x: int, /) -> None:
    """Do something."""


def late_runtime(x: int, rt: Runtime) -> None:
    """Do something."""


def keyword_runtime(*, rt: Runtime) -> None:
    """Do something."""


def unresolved(x: "Fraction") -> None:
    """Do something."""


def field_default(x: int = pydantic.Field(default=3)) -> None:
    """Do something."""


def no_type(x: "list[no_type]") -> None:
    """Do something."""


class Counter:
    def add(self, step: int) -> None:
        """Add."""


@pytest.mark.parametrize(
    ("function", "parameter", "advice"),
    [
        (bare, "x", r"e\.g\. `x: str`"),
        (positional, "args", r"args: list\[str\]"),
        (keywords, "kwargs", "name each parameter"),
        (slashed, "x", "remove the `/`"),
        (late_runtime, "rt", "first parameter"),
        (keyword_runtime, "rt", "keyword-only"),
        (unresolved, "x", "module level"),
        (field_default, "x", r"Annotated\["),
        (no_type, "x", "no JSON form"),
        (Counter.add, "self", "bound method"),
    ],
)
def test_a_parameter_that_cannot_be_one_is_named_with_advice(
    function: Callable[..., object], parameter: str, advice: str
) -> None:
    name = function.__name__
    with pytest.raises(ToolDefinitionError, match=rf"'{name}', parameter '{parameter}'.*{advice}"):
        tool(function)


@pytest.mark.req("SPEC-CON-04")
def test_a_function_nobody_described_is_refused() -> None:
    def silent() -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"'silent'.*description"):
        tool(silent)
    with pytest.raises(ToolDefinitionError, match=r"'silent'.*description"):
        tool(silent, description="  ")
    assert tool(silent, description="Say nothing.").tool.description == "Say nothing."


@pytest.mark.parametrize("name", ["", "1st", "with space", "a" * 65, "né", "a\n", None])
def test_a_name_models_cannot_call_is_refused(name: Any) -> None:
    def function() -> None:
        """Do something."""

    with pytest.raises(ToolDefinitionError, match="name"):
        tool(function, name=name)


async def awaited() -> None:
    """Do something."""


def items() -> Iterator[int]:
    """Do something."""
    yield 1


async def async_items() -> AsyncIterator[int]:
    """Do something."""
    yield 1


@pytest.mark.parametrize("function", [awaited, items, async_items])
def test_only_a_plain_function_can_be_inline(function: Callable[..., object]) -> None:
    with pytest.raises(ToolDefinitionError, match="inline"):
        tool(function, inline=True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"requires": {"fs": {"reed": []}}}, "requires"),
        ({"requires": {"fs": {"read": ["{home}/x"]}}}, "requires.*home"),
        ({"requires": None}, "requires"),
        ({"require": {}}, "did you mean 'requires'"),
        ({"zzz": 1}, "no option 'zzz'"),
        ({"ownership": "nobody"}, "ownership"),
        ({"acp_kind": "dance"}, "acp_kind"),
        ({"limits": 5}, "limits"),
        ({"effects": "session_read"}, "effects"),
        ({"keep_empty": ["y"]}, "keep_empty names 'y'"),
        ({"keep_empty": 5}, "keep_empty"),
        ({"resource_key": ("a",)}, "resource_key"),
        ({"input_schema": []}, "input_schema"),
        ({"input_schema": {"type": "array"}}, "type object"),
        ({"input_schema": {"type": "object"}}, "parameter 'x'.*not in input_schema"),
        ({"input_schema": {"type": "object", "properties": {"x": {}, "q": {}}}}, "names 'q'"),
        ({"output_schema": 1}, "output_schema"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(options: dict[str, Any], text: str) -> None:
    def function(x: int) -> None:
        """Do something."""

    with pytest.raises(ToolDefinitionError, match=text):
        make(function, **options)


def test_an_unknown_option_is_refused_before_anything_is_decorated() -> None:
    with pytest.raises(ToolDefinitionError, match="no option 'nam'"):
        make(nam="x")


class Unreadable:
    __signature__ = "none"

    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    "candidate",
    [Unreadable(), functools.partial(print, "x"), int, 5, dict.fromkeys, "".join, print],
)
def test_what_is_no_described_function_is_refused(candidate: object) -> None:
    with pytest.raises(ToolDefinitionError):
        make(candidate, description="x", name="x")
