"""Plugins in a session: loaded when the configuration names them, and judged like every tool."""

from pathlib import Path

import pytest
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import Holdfast
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.source_settings import PluginSettings
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule
from holdfast.contract.tool import ToolDefinitionError

pytestmark = pytest.mark.anyio

SOURCE = '''
from pathlib import Path
from holdfast import tool, Runtime

(Path(__file__).parent / "loaded").touch()

@tool
def count(text: str, times: int = 1) -> dict[str, int]:
    """Count."""
    return {"length": len(text) * times}

@tool(permission_policy="always_ask")
def careful() -> str:
    """Always asks."""
    return "done"

@tool(requires={"fs": {"read": ["docs/**"]}}, uses={"path": "fs.read"})
def look(rt: Runtime, path: str) -> str:
    """Read a file of the documentation."""
    return rt.fs.read_text(path).text

@tool
def broken() -> str:
    """Fails."""
    raise KeyError("inside")
'''


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "my-plugin"
    folder.mkdir()
    (folder / "plugin.py").write_text(SOURCE, "utf-8")
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "ws"
    (place / "docs").mkdir(parents=True)
    (place / "docs" / "a").write_text("words", "utf-8")
    return place


def naming(folder: Path) -> Settings:
    return Settings(store=UNRECORDED.store, plugins=PluginSettings(load=(str(folder),)))


@pytest.mark.req("OSA-GEN-05")
async def test_its_tools_go_through_everything_that_built_in_ones_do(
    workspace: Path, plugin: Path
) -> None:
    async with opened(workspace, "locked", settings=naming(plugin)) as hf:
        assert await result(hf, "count", text="ab", times="3") == {"length": 6}  # repaired
        assert (await failure(hf, "count", text=1, more=2)).kind is FailureKind.INVALID_ARGS
        assert (await failure(hf, "careful")).kind is FailureKind.REJECTED  # nobody is asked
        assert await result(hf, "look", path="docs/a") == {"text": "words"}
        assert (await failure(hf, "look", path="/etc/passwd")).kind is FailureKind.REJECTED
        assert (await failure(hf, "broken")).kind is FailureKind.EXECUTION_ERROR
        explained = await hf.explain("count", {"text": ""})
    assert f"the plugin {plugin} ({plugin}) is named in the configuration" in str(explained)
    deny = Rule(permission="count", pattern="*", action="deny", scope="project", source="a test")
    async with opened(workspace, "locked", settings=naming(plugin), rules=[deny]) as hf:
        assert (await failure(hf, "count", text="")).kind is FailureKind.REJECTED


async def test_what_is_not_named_is_not_even_loaded(workspace: Path, plugin: Path) -> None:
    async with opened(workspace, "locked") as hf:
        assert (await failure(hf, "count", text="")).kind is FailureKind.TOOL_NOT_FOUND
    async with opened(workspace, "bare", settings=naming(plugin)) as hf:
        assert (await failure(hf, "count", text="")).kind is FailureKind.TOOL_NOT_FOUND
    assert not (plugin / "loaded").exists()


def test_one_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"plugins.load: .*there is no plugin.py in it"):
        Holdfast(profile="locked", settings=naming(tmp_path))


def test_a_name_that_is_taken_is_refused(plugin: Path) -> None:
    (plugin / "plugin.py").write_text(SOURCE.replace("def count", "def read"), "utf-8")
    with pytest.raises(ToolDefinitionError, match="locked"):
        Holdfast(profile="locked", settings=naming(plugin))
