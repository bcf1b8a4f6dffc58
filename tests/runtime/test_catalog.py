"""Registration: one name each, locked names kept, unusable schemas refused."""

from collections.abc import Mapping

import msgspec
import pytest
from support import make_tool

from holdfast.contract.agents import Visibility
from holdfast.contract.tool import LOCKED_NAMES, Effect, Tool, ToolDefinitionError
from holdfast.runtime.catalog import Catalog, compiled
from holdfast.runtime.definitions import full_definition, openai_definition
from holdfast.runtime.visibility import visible


def test_a_duplicate_name_is_an_error() -> None:
    catalog = Catalog([make_tool(name="one")])
    with pytest.raises(ToolDefinitionError, match=r"'one'.*already registered"):
        catalog.register(make_tool(name="one"))
    assert len(catalog) == 1


@pytest.mark.parametrize("name", sorted(LOCKED_NAMES))
def test_a_locked_name_cannot_be_redefined(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="locked"):
        Catalog([make_tool(name=name)])


def test_the_built_in_tools_themselves_bear_their_locked_names() -> None:
    assert "read" in Catalog(built_in=[compiled(make_tool(name="read"))])


def test_a_schema_that_cannot_be_enforced_is_refused_with_its_reason() -> None:
    with pytest.raises(ToolDefinitionError, match=r"'bad': input_schema: .*minimum|number"):
        Catalog([make_tool(name="bad", schema={"properties": {"x": {"minimum": "low"}}})])


def test_tools_come_back_in_the_order_they_were_registered() -> None:
    tools = [make_tool(name=name) for name in ("zeta", "alpha", "mid")]
    catalog = Catalog(tools)
    assert [tool.name for tool in catalog] == ["zeta", "alpha", "mid"]
    assert catalog.get("alpha") is tools[1]
    assert catalog.get("nope") is None


@pytest.mark.req("BOA-OWN-01")
def test_an_unknown_ownership_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="ownership is 'shared'; allowed: managed, mcp"):
        Tool(**{**_fields(), "ownership": "shared"})  # pyright: ignore[reportArgumentType] - the bad value is the test
    for ownership in ("managed", "mcp", "custom"):
        assert Tool(**{**_fields(), "ownership": ownership}).ownership == ownership  # pyright: ignore[reportArgumentType] - as above


def _fields() -> dict[str, object]:
    return msgspec.structs.asdict(make_tool())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("permission_policy", "never"),
        ("interrupt_behavior", "maybe"),
        ("acp_kind", "paint"),
        ("effects", ("session_read", "world_domination")),
        ("name", ""),
    ],
)
def test_a_value_outside_its_closed_set_is_refused(field: str, value: object) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(**{**_fields(), field: value})  # pyright: ignore[reportArgumentType] - the bad value is the test


@pytest.mark.req("BOA-DEF-08", "BOA-DEF-09")
def test_effects_are_a_list_from_the_closed_set_and_empty_by_default() -> None:
    every: tuple[Effect, ...] = (
        "session_read",
        "session_write",
        "resource_read",
        "resource_write",
        "memory_read",
        "memory_write",
        "learning_read",
        "skill_read",
        "sandbox_execute",
    )
    assert make_tool().effects == ()
    assert Tool(**{**_fields(), "effects": every}).effects == every  # pyright: ignore[reportArgumentType] - untyped fields
    with pytest.raises(ToolDefinitionError, match="effects is 'file_read'"):
        Tool(**{**_fields(), "effects": ("file_read",)})  # pyright: ignore[reportArgumentType] - the bad value is the test


def test_catalog_and_every_export_read_one_definition() -> None:
    tool = make_tool(name="one", schema={"type": "object", "properties": {"a": {}}})
    catalog = Catalog([tool])
    exported = openai_definition(next(iter(catalog)))
    function = exported["function"]
    assert isinstance(function, dict)
    assert function == {
        "name": "one",
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    full = full_definition(tool)
    assert (full["name"], full["input_schema"]) == ("one", tool.input_schema)
    assert full["description"] == tool.description
    assert full["permission_policy"] == "always_allow"
    plan = catalog.plan("one")
    assert plan is not None
    assert plan.tool is tool


def test_what_a_source_left_open_stays_absent_on_the_wire() -> None:
    bare = Tool(**{**_fields(), "description": None, "input_schema": {}})  # pyright: ignore[reportArgumentType] - untyped fields
    assert openai_definition(bare) == {"type": "function", "function": {"name": "probe"}}
    assert "description" not in full_definition(bare)
    assert "output_schema" not in full_definition(bare)


@pytest.mark.req("BOA-BND-06")
def test_a_definition_holds_nothing_about_scheduling_routing_or_environments() -> None:
    known = {
        *("name", "description", "input_schema", "output_schema", "requires", "body", "ownership"),
        *("permission_policy", "effects", "read_only", "destructive", "interrupt_behavior"),
        *("acp_kind", "limits", "parallel_safe", "key_of", "keep_empty", "uses", "alias"),
        *("withheld", "guard", "guarded", "alone", "uses_of", "asks_for", "person_decides"),
        "camel_case",
    }
    assert set(Tool.__struct_fields__) == known


@pytest.mark.parametrize(
    ("visibility", "seen"),
    [
        (Visibility(), ["read_a", "read_b", "write_a"]),
        (Visibility(allow=("read_*",)), ["read_a", "read_b"]),
        (Visibility(allow=("read_*",), deny=("read_b",)), ["read_a"]),
        (Visibility(also_allow=("write_a",)), ["read_a", "read_b", "write_a"]),
        (Visibility(allow=("read_a",), also_allow=(" write_a ", "write_a")), ["read_a", "write_a"]),
        (Visibility(allow=("*",), deny=("*",)), []),
        (Visibility(allow=("nothing_like_it",)), []),
        (Visibility(deny=("", " ")), ["read_a", "read_b", "write_a"]),
    ],
)
def test_visibility_filters_the_catalog(visibility: Visibility, seen: list[str]) -> None:
    catalog = Catalog(make_tool(name=name) for name in ("read_a", "read_b", "write_a"))
    assert [tool.name for tool in visible(catalog, visibility)] == seen


@pytest.mark.req("RATH-FTC-09")
def test_a_resource_key_is_global_unless_the_tool_says_otherwise() -> None:
    assert make_tool().resource_key({}) == ("global",)
    safe = Tool(**{**_fields(), "parallel_safe": True})  # pyright: ignore[reportArgumentType] - untyped fields
    assert safe.resource_key({}) == ("safe", "probe")

    def by_path(values: Mapping[str, object]) -> tuple[str, ...]:
        return ("path", str(values["path"]))

    keyed = Tool(**{**_fields(), "key_of": by_path})  # pyright: ignore[reportArgumentType] - untyped fields
    assert keyed.resource_key({"path": "a"}) == ("path", "a")


def test_a_time_limit_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        msgspec.structs.replace(make_tool().limits, wall_seconds=0)
