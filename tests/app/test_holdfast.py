"""The opened whole: opens, settles, closes, and keeps nothing it was not asked to keep."""

from pathlib import Path

import pytest

from holdfast import Holdfast, blocking, tool
from holdfast.app.configuration import ConfigurationError
from holdfast.app.settings import (
    LimitSettings,
    ProfileSettings,
    Settings,
    Surroundings,
    ToolLimitSettings,
)
from holdfast.contract.agents import Visibility
from holdfast.contract.failure import FailureKind

SMALL = Settings(limits=LimitSettings(tool={"pages": ToolLimitSettings(max_bytes=10)}))


@tool
def pages(count: int = 1) -> str:
    """Write pages."""
    return "page\n" * count


@tool
def secret_door() -> None:
    """Open it."""


async def test_calls_are_settled_only_while_open() -> None:
    hf = Holdfast(tools=[pages], settings=Settings())
    with pytest.raises(RuntimeError, match="async with"):
        await hf.settle("pages")
    async with hf:
        assert (await hf.settle("pages")).ok
    with pytest.raises(RuntimeError, match="not open"):
        await hf.settle("pages")


async def test_it_can_be_opened_again() -> None:
    hf = Holdfast(tools=[pages], settings=Settings())
    for _ in range(2):
        async with hf:
            assert (await hf.settle("pages", model_call_id="toolu_1")).ok


@pytest.mark.parametrize("keep", [True, False])
def test_closing_removes_outputs_unless_they_are_to_stay(tmp_path: Path, keep: bool) -> None:
    hf = blocking.Holdfast(
        tools=[pages],
        settings=SMALL,
        surroundings=Surroundings(data_home=tmp_path),
        keep_outputs=keep,
    )
    with hf:
        envelope = hf.settle("pages", {"count": 100})
        stored = Path(envelope.metadata.output_path or "")
        assert hf.session_id in stored.parts
        assert stored.read_text("utf-8") == "page\n" * 100
    assert stored.exists() is keep


def test_closing_a_session_that_was_taken_up_leaves_its_outputs(tmp_path: Path) -> None:
    around = Surroundings(data_home=tmp_path, state_home=tmp_path)
    with blocking.Holdfast(tools=[pages], settings=SMALL, surroundings=around) as hf:
        assert hf.settle("pages", {"count": 1}).ok
    session = hf.session_id
    again = blocking.Holdfast(tools=[pages], settings=SMALL, surroundings=around, session=session)
    with again as hf:
        stored = Path(hf.settle("pages", {"count": 100}).metadata.output_path or "")
    assert stored.read_text("utf-8") == "page\n" * 100


async def test_a_profile_decides_which_tools_exist() -> None:
    night = ProfileSettings(tools=Visibility(deny=("secret_*",)))
    settings = Settings(profile={"night": night})
    async with Holdfast(tools=[pages, secret_door], profile="night", settings=settings) as hf:
        assert [tool.name for tool in hf.tools] == ["question", "pages"]
        envelope = await hf.settle("secret_door")
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TOOL_NOT_FOUND


def test_an_unknown_profile_names_the_one_that_was_meant_or_all_there_are() -> None:
    settings = Settings(profile={"night": ProfileSettings()})
    with pytest.raises(ConfigurationError, match=r"no profile 'nihgt'; did you mean 'night'\?"):
        Holdfast(profile="nihgt", settings=settings)
    known = "bare, code, host, locked, managed, night, readonly"
    with pytest.raises(ConfigurationError, match=rf"no profile 'xyz'; known: {known} \(or add a"):
        Holdfast(profile="xyz", settings=settings)
