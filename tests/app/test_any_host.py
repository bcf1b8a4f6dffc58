"""A tool that may be called with any host does not open the network to every other tool."""

from pathlib import Path

import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import PolicySettings, Settings, StoreSettings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.requirements import requirement_set
from holdfast.policy.scope import shared

pytestmark = pytest.mark.anyio

ANYWHERE = {"net": {"hosts": ["*", "api.example.com"]}}


@tool(requires=ANYWHERE, uses={"url": "net.fetch"})
async def look_up(rt: Runtime, url: str) -> str:
    """Fetch from any host."""
    return rt.tool


@tool(requires={"net": {"hosts": ["api.example.com"]}}, uses={"url": "net.fetch"})
async def ask_api(rt: Runtime, url: str) -> str:
    """Fetch from one host."""
    return rt.tool


@tool(requires=ANYWHERE)
async def crawl() -> str:
    """Fetch from anywhere, and say nowhere in an argument where."""
    return ""


def opened(tmp_path: Path, *tools: object, strict: bool = False) -> Holdfast:
    settings = Settings(store=StoreSettings(kind="none"), policy=PolicySettings(strict=strict))
    around = Surroundings(data_home=tmp_path / "data")
    return Holdfast(tools=tools, settings=settings, surroundings=around)


@pytest.mark.parametrize("strict", [False, True])
async def test_it_reaches_any_host_and_the_others_only_theirs(tmp_path: Path, strict: bool) -> None:
    async with opened(tmp_path, look_up, ask_api, strict=strict) as hf:
        assert (await hf.settle("look_up", {"url": "https://other.example"})).ok
        assert (await hf.settle("ask_api", {"url": "https://api.example.com"})).ok
        refused = await hf.settle("ask_api", {"url": "https://other.example"})
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.REJECTED
    assert "other.example" in refused.failure.message


async def test_a_tool_that_declares_any_host_outright_shares_it(tmp_path: Path) -> None:
    async with opened(tmp_path, crawl, ask_api) as hf:
        assert (await hf.settle("ask_api", {"url": "https://other.example"})).ok


def test_what_is_shared_keeps_everything_but_any_host() -> None:
    assert shared(look_up.tool) == requirement_set({"net": {"hosts": ["api.example.com"]}})
    assert shared(crawl.tool) is crawl.tool.requires
    assert shared(ask_api.tool) is ask_api.tool.requires
