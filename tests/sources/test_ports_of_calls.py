"""Ports that a tool names as parameters: the host hands them in, models do not see them."""

from pathlib import Path
from typing import Protocol

import pytest

from holdfast import Holdfast
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.builtin import builtin
from holdfast.contract.call_port import CallPort
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import Ports, Runtime
from holdfast.sources.intake import to_tool

pytestmark = pytest.mark.anyio


class Greeting(CallPort, Protocol):
    def greet(self, name: str, /) -> str: ...


class Nordic:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def greet(self, name: str, /) -> str:
        return f"hei {name} from {self._runtime.tool}"


@builtin()
def welcome(rt: Runtime, name: str, greeting: Greeting, times: int = 1) -> str:
    """Welcome somebody."""
    assert rt.tool == "welcome"
    return greeting.greet(name) * times


@builtin(name="hail")
async def _hail(greeting: Greeting) -> str:
    """Hail the world."""
    return greeting.greet("world")


def opened(tmp_path: Path, ports: Ports) -> Holdfast:
    return Holdfast(
        tools=[welcome, _hail],
        settings=Settings(store=StoreSettings(kind="none")),
        surroundings=Surroundings(data_home=tmp_path),
        ports=ports,
    )


async def test_a_port_is_handed_in_bound_to_its_call_and_no_model_sees_it(tmp_path: Path) -> None:
    properties = to_tool(welcome).input_schema["properties"]
    assert isinstance(properties, dict)
    assert sorted(properties) == ["name", "times"]
    async with opened(tmp_path, {Greeting: Nordic}) as hf:
        assert (
            b"hei Ann from welcomehei"
            in (await hf.settle("welcome", {"name": "Ann", "times": 2})).result_json
        )
        assert b"hei world from hail" in (await hf.settle("hail")).result_json


async def test_a_model_cannot_give_a_port(tmp_path: Path) -> None:
    async with opened(tmp_path, {Greeting: Nordic}) as hf:
        refused = await hf.settle("hail", {"greeting": "mine"})
    assert refused.failure is not None
    assert (refused.failure.kind, refused.failure.field) == (FailureKind.INVALID_ARGS, "greeting")


async def test_a_host_without_it_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path, {}) as hf:
        refused = await hf.settle("hail")
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.UNAVAILABLE
    assert "hail needs Greeting" in refused.failure.message


def test_a_built_in_tool_is_derived_once() -> None:
    assert to_tool(welcome) is to_tool(welcome)
    assert to_tool(_hail).name == _hail.name == "hail"
