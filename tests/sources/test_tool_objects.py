"""Objects that have the published fields."""

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, Tool, ToolDefinitionError
from holdfast.sources.objects import ToolObject, tool_from_object

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "additionalProperties": False,
}


class Greeter:
    id = "greet"
    description = "Greet someone."
    parameters: Mapping[str, object] = SCHEMA
    requires: Mapping[str, object] | RequirementSet = NOTHING_REQUIRED

    def execute(self, args: dict[str, object], runtime: Runtime, /) -> object:
        return {"args": args, "session": runtime.session.id}


class Alternative:
    name = "greet2"
    description = "Greet someone."
    input_schema: Mapping[str, object] = SCHEMA
    requires: Mapping[str, object] = {"net": {"hosts": ["greet.example"]}}
    read_only = False
    effects = ("session_write",)
    limits = Limits(wall_seconds=3)
    output_schema: Mapping[str, object] = {"type": "string"}

    async def execute(self, args: dict[str, object], runtime: Runtime, /) -> object:
        return args

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        return ("greet", str(arguments["name"]))


@pytest.mark.req("SPEC-CON-03", "SPEC-CON-04", "SPEC-CON-05", "SPEC-CON-06")
def test_the_published_fields_become_the_tool() -> None:
    published: ToolObject = Greeter()
    made = tool_from_object(published)
    assert isinstance(made, Tool)
    assert made.name == "greet"
    assert made.description == "Greet someone."
    assert made.input_schema == SCHEMA
    assert made.requires == NOTHING_REQUIRED
    assert made.body.style == "thread"


@pytest.mark.req("SPEC-CON-07")
def test_execute_gets_the_arguments_as_a_dict_and_the_runtime(runtime: Runtime) -> None:
    made = tool_from_object(Greeter())
    given = {"name": "Ada"}
    answer: Any = made.body.invoke(given, runtime)
    assert answer == {"args": {"name": "Ada"}, "session": "ses_1"}
    assert answer["args"] is not given, "what the body does with them is its own business"


def test_the_other_spellings_and_every_option_are_taken() -> None:
    made = tool_from_object(Alternative())
    assert made.name == "greet2"
    assert made.input_schema == SCHEMA
    assert made.requires.net.hosts == ("greet.example",)
    assert made.body.style == "async"
    assert made.read_only is False
    assert made.effects == ("session_write",)
    assert made.limits == Limits(wall_seconds=3)
    assert made.output_schema == {"type": "string"}
    assert made.resource_key({"name": "Ada"}) == ("greet", "Ada")


def test_an_object_may_run_in_place() -> None:
    class Inline(Greeter):
        inline = True

    made = tool_from_object(Inline())
    assert made.body.style == "inline"
    assert made.limits.wall_seconds is None


@pytest.mark.req("SPEC-CON-08")
@pytest.mark.parametrize("field", ["id", "description", "parameters", "requires", "execute"])
def test_a_missing_field_is_named(field: str) -> None:
    members = {name: value for name, value in vars(Greeter).items() if name != field}
    for members_without in (members, {**members, field: None}):
        candidate = type("Greeter", (), members_without)()
        with pytest.raises(ToolDefinitionError, match=rf"the field {field}.* is missing"):
            tool_from_object(candidate)


@pytest.mark.req("SPEC-CON-03")
@pytest.mark.parametrize("bad", ["", " ", 5])
def test_an_id_must_be_a_text_that_is_not_empty(bad: object) -> None:
    candidate = type("Greeter", (Greeter,), {"id": bad})()
    with pytest.raises(ToolDefinitionError, match="id must be a text"):
        tool_from_object(candidate)


@pytest.mark.parametrize(
    ("field", "bad"),
    [("description", ""), ("parameters", "x"), ("requires", []), ("execute", 5), ("inline", True)],
)
def test_a_field_of_the_wrong_kind_is_named(field: str, bad: object) -> None:
    base = Alternative if field == "inline" else Greeter
    candidate = type("Greeter", (base,), {field: bad})()
    with pytest.raises(ToolDefinitionError, match=field):
        tool_from_object(candidate)


def test_a_class_is_no_instance() -> None:
    with pytest.raises(ToolDefinitionError, match="register an instance"):
        tool_from_object(Greeter)
