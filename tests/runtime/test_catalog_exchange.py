"""The tools of a source are exchanged as a whole, or not at all."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool

from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.runtime.catalog import Catalog

NAMES = st.lists(st.sampled_from("abcdef"), unique=True)


def named(name: str, description: str = "Does something.") -> Tool:
    return msgspec.structs.replace(make_tool(), name=name, description=description)


def catalog_of(*names: str) -> Catalog:
    return Catalog([named(name) for name in names])


def names_of(catalog: Catalog) -> list[str]:
    return [tool.name for tool in catalog]


def test_tools_come_and_go_and_the_others_stay() -> None:
    catalog = catalog_of("own", "old", "same")
    kept = catalog.plan("own")
    catalog.exchange(["old", "same"], [named("same", "Other words."), named("new")])
    assert names_of(catalog) == ["own", "same", "new"]
    assert catalog.plan("own") is kept
    assert catalog.plan("old") is None
    changed = catalog.get("same")
    assert changed is not None
    assert changed.description == "Other words."


def test_a_tool_that_is_the_same_keeps_its_compiled_preflight() -> None:
    catalog = catalog_of("a", "b")
    plan = catalog.plan("b")
    same = catalog.get("b")
    assert same is not None
    catalog.exchange(["b"], [same])
    assert catalog.plan("b") is plan


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([named("own")], "already registered"),
        ([named("twice"), named("twice", "Another.")], "already registered"),
        ([named("bash")], "locked"),
        (
            [named("ok"), msgspec.structs.replace(named("bad"), input_schema={"minimum": "none"})],
            "input_schema",
        ),
    ],
    ids=["of another source", "two of one name", "locked", "no schema"],
)
def test_what_cannot_be_exchanged_leaves_everything_as_it_was(tools: list[Tool], said: str) -> None:
    catalog = catalog_of("own", "old")
    plans = {name: catalog.plan(name) for name in ("own", "old")}
    with pytest.raises(ToolDefinitionError, match=said):
        catalog.exchange(["old"], tools)
    assert names_of(catalog) == ["own", "old"]
    assert {name: catalog.plan(name) for name in ("own", "old")} == plans


@given(first=NAMES, before=NAMES, after=NAMES)
def test_exchanging_is_taking_out_and_putting_in(
    first: list[str], before: list[str], after: list[str]
) -> None:
    catalog = catalog_of(*first)
    stays = [name for name in first if name not in before]
    if set(stays) & set(after):
        with pytest.raises(ToolDefinitionError):
            catalog.exchange(before, map(named, after))
        assert names_of(catalog) == first
    else:
        catalog.exchange(before, map(named, after))
        assert names_of(catalog) == [*stays, *after]
