"""Plugins: what is announced or lies in a folder is loaded by name, and every fault is named."""

import importlib
import sys
from pathlib import Path

import pytest

from holdfast.sources.plugins.loading import PluginProblem, announced, load_plugin

TOOLS = '''
from holdfast import tool

@tool(requires={"net": {"hosts": ["api.example.com"]}}, permission_policy="always_ask")
def shout(text: str) -> str:
    """Shout a text."""
    return text.upper()

def made():
    return [shout]

TABLE = (shout,)
'''


class Site:
    """A place that packages are installed in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, package: str, module: str, source: str, **announces: str) -> None:
        (self.folder / f"{module}.py").write_text(source, "utf-8")
        facts = self.folder / f"{package}-1.2.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n", "utf-8"
        )
        lines = "".join(f"{name} = {value}\n" for name, value in announces.items())
        (facts / "entry_points.txt").write_text(f"[holdfast.tools]\n{lines}", "utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()
    return Site(folder)


@pytest.mark.req("OSA-GEN-05")
@pytest.mark.parametrize("value", ["of_a_module", "of_a_module:made", "of_a_module:TABLE"])
def test_a_package_announces_a_module_a_function_or_a_list(site: Site, value: str) -> None:
    site.install("shouting", "of_a_module", TOOLS, loud=value)
    plugin = load_plugin("loud")
    (tool,) = plugin.tools
    assert (plugin.name, plugin.origin) == ("loud", "shouting 1.2")
    assert (tool.name, tool.permission_policy) == ("shout", "always_ask")
    assert tool.requires.net.hosts == ("api.example.com",)
    assert announced()["loud"] == "shouting 1.2"


def test_one_tool_by_itself_is_a_plugin_too(site: Site) -> None:
    site.install("alone", "of_one_tool", TOOLS, one="of_one_tool:shout")
    assert [tool.name for tool in load_plugin("one").tools] == ["shout"]


def test_a_folder_holds_one(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(f"import neighbour\n{TOOLS}", "utf-8")
    (tmp_path / "neighbour.py").write_text("", "utf-8")
    plugin = load_plugin(f"{tmp_path}/")
    assert [tool.name for tool in plugin.tools] == ["shout"]


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        ("x = 1", "faulty", "there are no tools in it"),
        ("x = 1", "faulty:x", "it announces int, no tools"),
        ("x = 'text'", "faulty:x", "it announces str, no tools"),
        ("x = []", "faulty:x", "it has no tools"),
        ("x = [3]", "faulty:x", "is not a tool"),
        ("def x():\n    raise RuntimeError('no luck')", "faulty:x", "RuntimeError: no luck"),
        ("raise SystemExit(3)", "faulty", "SystemExit"),
        ("import not_installed_anywhere", "faulty", "ModuleNotFoundError"),
        ("", "faulty:missing", "AttributeError"),
        ("class X: pass", "faulty:X", "it announces type, no tools"),
    ],
)
def test_every_fault_names_the_plugin(site: Site, source: str, value: str, said: str) -> None:
    module = f"faulty_{abs(hash((source, value)))}"
    site.install("broken", module, source, bad=value.replace("faulty", module))
    with pytest.raises(
        PluginProblem, match=r"^bad \(broken 1.2, faulty_[0-9]+(:\w+)?\): "
    ) as raised:
        load_plugin("bad")
    assert said in str(raised.value)


def test_what_nobody_announces_and_what_two_announce(site: Site) -> None:
    with pytest.raises(PluginProblem, match="no installed package announces it"):
        load_plugin("nothing")
    site.install("first", "of_first", TOOLS, loud="of_first")
    site.install("second", "of_second", TOOLS, loud="of_second")
    with pytest.raises(PluginProblem, match=r"announced by first 1.2 and second 1.2"):
        load_plugin("loud")


def test_a_folder_without_one_and_a_broken_one(tmp_path: Path) -> None:
    with pytest.raises(PluginProblem, match=r"there is no plugin.py in it"):
        load_plugin(f"{tmp_path}/")
    (tmp_path / "plugin.py").write_text("x = (\n", "utf-8")
    with pytest.raises(PluginProblem, match=rf"^{tmp_path}/plugin.py:1: .*correct that line"):
        load_plugin(f"{tmp_path}/")


def test_a_name_that_is_nearly_right_is_recognized(site: Site) -> None:
    site.install("shouting", "of_a_name", TOOLS, my_plugin="of_a_name")
    for name in ("my-plugin", "My_Plugin", "my_plugn"):
        with pytest.raises(PluginProblem, match="did you mean 'my_plugin'"):
            load_plugin(name)
    with pytest.raises(PluginProblem, match=r"my_plugin\); install the package"):
        load_plugin("weather")
