"""The decorator: what a function's code says, and what may be said beside it."""

import dataclasses
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import anyio.lowlevel
import pydantic
import pytest

from holdfast.contract.requirements import NOTHING_REQUIRED, NetRequirement, RequirementSet
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Effect, Limits, OutputBound, ToolDefinitionError
from holdfast.sources.functions import FunctionTool, tool

if TYPE_CHECKING:
    pass


@dataclasses.dataclass
class Report:
    degrees: float


class Model(pydantic.BaseModel):
    size: int = 1


@tool
def weather(city: str, unit: Literal["c", "f"] = "c") -> Report:
    """Current weather. city: a town, e.g. 'Oslo'."""
    return Report(degrees=len(city) + len(unit))


def test_a_decorated_function_is_a_tool_and_still_a_function(runtime: Runtime) -> None:
    assert isinstance(weather, FunctionTool)
    assert weather("Oslo", unit="f") == Report(5)
    assert weather.__name__ == "weather"
    assert repr(weather) == "<tool 'weather'>"
    assert weather.tool.body.invoke({"city": "Oslo"}, runtime) == Report(5)


def test_the_model_is_told_what_the_code_says() -> None:
    made = weather.tool
    assert made.name == "weather"
    assert made.description == "Current weather."
    assert made.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "a town, e.g. 'Oslo'."},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.req("OSA-SCH-15", "OSA-RES-07")
def test_every_default_json_can_hold_is_in_the_schema() -> None:
    @tool
    def search(
        depth: int = 3,
        ratio: float = 0.5,
        names: tuple[str, ...] = ("a", "b"),
        place: Report = Report(1.5),  # noqa: B008 - the default under test
        sort: Literal["up", "down"] | None = None,
        way: Path = Path("a"),
        model: Model = Model(),  # noqa: B008 - the default under test
        forever: float = float("inf"),
        often: tuple[float, ...] = (float("inf"),),
        marker: Any = object(),  # noqa: B008 - the default under test
    ) -> None:
        """Search."""

    properties = search.tool.input_schema["properties"]
    assert isinstance(properties, dict)
    declared = {
        name: schema["default"]
        for name, schema in properties.items()
        if isinstance(schema, dict) and "default" in schema
    }
    assert declared == {
        "depth": 3,
        "ratio": 0.5,
        "names": ["a", "b"],
        "place": {"degrees": 1.5},
        "sort": None,
        "way": "a",
        "model": {"size": 1},
    }
    assert "required" not in search.tool.input_schema


def test_a_default_of_none_lets_null_pass() -> None:
    def search(
        depth: object = None,
        near: object = None,
        key: object = None,
        way: Literal["up", None] = None,
    ) -> None:
        """Search."""

    search.__annotations__.update(depth=int, near=Annotated[str, "a town"], key=int | str)
    assert tool(search).tool.input_schema["properties"] == {
        "depth": {"type": ["integer", "null"], "default": None},
        "near": {"type": ["string", "null"], "description": "a town", "default": None},
        "key": {"type": ["integer", "string", "null"], "default": None},
        "way": {"type": ["string", "null"], "enum": ["up", None], "default": None},
    }


def test_an_annotation_says_more_than_the_docstring() -> None:
    @tool
    def go(where: Annotated[str, "the annotation"], when: str) -> None:
        """Go. where: the docstring. when: the docstring."""

    properties = go.tool.input_schema["properties"]
    assert isinstance(properties, dict)
    assert properties["where"] == {"type": "string", "description": "the annotation"}
    assert properties["when"] == {"type": "string", "description": "the docstring."}


@pytest.mark.req("BOA-DEF-02", "BOA-DEF-03", "BOA-DEF-05", "BOA-DEF-06", "BOA-DEF-07")
@pytest.mark.req("BOA-DEF-08", "BOA-DEF-10", "BOA-DEF-11", "BOA-DEF-12")
def test_what_is_not_said_has_the_published_default() -> None:
    @tool
    def ping() -> None:
        """Answer."""

    made = ping.tool
    assert (made.name, made.description) == ("ping", "Answer.")
    assert made.output_schema is None
    assert made.ownership == "managed"
    assert made.permission_policy == "always_allow"
    assert made.effects == ()
    assert made.read_only is True
    assert made.destructive is False
    assert made.interrupt_behavior == "block"


def test_every_option_reaches_the_tool() -> None:
    def key(arguments: Mapping[str, object]) -> tuple[str, ...]:
        return ("path", str(arguments["path"]))

    @tool(
        name="fs-write",
        description="Write a file.",
        requires={"fs": {"write": ["{workspace}/**"]}},
        ownership="custom",
        permission_policy="always_ask",
        effects=["resource_write"],
        read_only=False,
        destructive=True,
        interrupt_behavior="cancel",
        acp_kind="edit",
        limits=Limits(wall_seconds=5, output=OutputBound(max_bytes=10)),
        parallel_safe=True,
        resource_key=key,
        keep_empty=["text"],
        output_schema={"type": "object"},
    )
    def write(path: str, text: str) -> None: ...

    made = write.tool
    assert (made.name, made.description) == ("fs-write", "Write a file.")
    assert made.requires.fs.write == ("{workspace}/**",)
    assert (made.ownership, made.permission_policy) == ("custom", "always_ask")
    assert made.effects == ("resource_write",)
    assert (made.read_only, made.destructive) == (False, True)
    assert (made.interrupt_behavior, made.acp_kind) == ("cancel", "edit")
    assert made.limits == Limits(wall_seconds=5, output=OutputBound(max_bytes=10))
    assert made.parallel_safe
    assert made.resource_key({"path": "a"}) == ("path", "a")
    assert made.keep_empty == frozenset({"text"})
    assert made.output_schema == {"type": "object"}


@pytest.mark.req("SPEC-CON-06")
def test_a_tool_that_needs_nothing_has_an_explicitly_empty_set() -> None:
    assert weather.tool.requires == NOTHING_REQUIRED

    declared = RequirementSet(net=NetRequirement(hosts=("api.weather.example",)))

    @tool(requires=declared)
    def fetch() -> None:
        """Fetch."""

    assert fetch.tool.requires == declared


@pytest.mark.req("BOA-DEF-09")
def test_effects_come_from_the_closed_set() -> None:
    def ping() -> None:
        """Answer."""

    published = (
        *("session_read", "session_write", "resource_read", "resource_write", "memory_read"),
        *("memory_write", "learning_read", "skill_read", "sandbox_execute"),
    )
    assert get_args(Effect) == published
    assert tool(ping, effects=get_args(Effect)).tool.effects == published
    unknown: Any = ["world_write"]
    with pytest.raises(ToolDefinitionError, match="effects is 'world_write'"):
        tool(ping, effects=unknown)


@pytest.mark.req("SPEC-CON-07")
def test_a_first_parameter_runtime_is_handed_over_and_not_shown(
    runtime: Runtime,
) -> None:
    @tool
    def where(rt: Runtime, name: str) -> str:
        """Say where."""
        return f"{rt.session.id}/{name}"

    @tool
    def here(rt: Annotated[Runtime, "not shown"], /) -> str:
        """Say where."""
        return rt.call_id

    properties = where.tool.input_schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["name"]
    assert where.tool.body.invoke({"name": "a"}, runtime) == "ses_1/a"
    assert here.tool.body.invoke({}, runtime) == "cal_1"


def test_each_kind_of_function_runs_in_its_own_way() -> None:
    @tool
    async def awaited() -> int:
        """A."""
        await anyio.lowlevel.checkpoint()
        return 1

    @tool
    def threaded() -> int:
        """A."""
        return 1

    @tool(inline=True)
    def inline() -> int:
        """A."""
        return 1

    @tool
    def items() -> Iterator[int]:
        """A."""
        yield 1

    @tool
    async def async_items() -> AsyncIterator[int]:
        """A."""
        yield 1

    styles = [one.tool.body.style for one in (awaited, threaded, inline, items, async_items)]
    assert styles == ["async", "thread", "inline", "generator", "async_generator"]


def test_an_inline_tool_has_opted_out_of_the_wall_clock() -> None:
    @tool(inline=True, limits=Limits(wall_seconds=5, output=OutputBound(max_bytes=10)))
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert add.tool.limits == Limits(wall_seconds=None, output=OutputBound(max_bytes=10))


def test_a_bound_method_and_a_callable_object_are_tools(runtime: Runtime) -> None:
    class Counter:
        """Count up."""

        def __init__(self) -> None:
            self.count = 0

        def add(self, step: int) -> int:
            """Add a step."""
            self.count += step
            return self.count

        def __call__(self, step: float) -> float:
            return self.count + step

    counter = Counter()
    method = tool(counter.add).tool
    called = tool(counter, name="count").tool
    assert (method.name, method.description) == ("add", "Add a step.")
    assert method.body.invoke({"step": 2}, runtime) == 2
    assert called.description == "Count up."
    assert called.input_schema["required"] == ["step"]
    assert called.body.invoke({"step": 0.5}, runtime) == 2.5


def test_a_wrapped_function_keeps_its_signature() -> None:
    def logged(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def wrapper(*args: object, **kwargs: object) -> object:
            return function(*args, **kwargs)

        return wrapper

    @logged
    def add(a: int) -> int:
        """Add one."""
        return a + 1

    assert tool(add).tool.input_schema["required"] == ["a"]


def test_types_of_the_enclosing_function_are_found_by_name() -> None:
    @dataclasses.dataclass
    class Leaf:
        size: int

    @dataclasses.dataclass
    class Branch:
        leaves: "list[Leaf]"

    @tool
    def grow(branch: "Branch") -> None:
        """Grow."""

    decode = grow.tool.body.decode
    assert decode is not None
    assert decode({"branch": {"leaves": [{"size": 1}]}}) == {"branch": Branch([Leaf(1)])}


def test_a_pydantic_field_beside_the_type_is_understood() -> None:
    @tool
    def count(n: Annotated[int, pydantic.Field(ge=1, description="how many")] = 1) -> None:
        """Count."""

    assert count.tool.input_schema["properties"] == {
        "n": {"type": "integer", "minimum": 1, "description": "how many", "default": 1}
    }


def test_a_tool_made_again_has_other_options() -> None:
    again = tool(weather, name="forecast")
    assert again.tool.name == "forecast"
    assert again.tool.input_schema == weather.tool.input_schema
    assert again("Oslo") == weather("Oslo")


def test_an_empty_string_may_have_a_meaning_in_a_nested_field() -> None:
    @tool(keep_empty={"size"})
    def put(model: list[Model]) -> None:
        """Put."""

    assert put.tool.keep_empty == {"size"}


def test_deriving_a_tool_leaves_the_options_alone() -> None:
    effects: list[Effect] = ["session_read"]
    made = tool(weather.function, effects=effects, requires={}).tool
    effects.append("session_write")
    assert made.effects == ("session_read",)
