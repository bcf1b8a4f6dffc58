"""A plugin's folder: its files are its own, whatever others call theirs."""

import json
import sys
import typing
from pathlib import Path

import pytest

from holdfast.sources.plugins.folder import load_folder
from holdfast.sources.plugins.loading import PluginProblem, load_plugin

USES = '''
import helpers
import helpers as again
import lib.deep
from lib import deep
from lib.deep import SAID as deeper
from . import helpers as relative
import json

from holdfast import tool

@tool
def said() -> str:
    """Say whose it is."""
    import later
    assert helpers is again is relative
    assert lib.deep is deep
    return f"{helpers.SAID} {deeper} {later.SAID} {json.dumps(1)}"
'''


def folder(path: Path, name: str, source: str = USES) -> Path:
    made = path / name
    (made / "lib").mkdir(parents=True)
    (made / "plugin.py").write_text(source, "utf-8")
    (made / "helpers.py").write_text(f"SAID = {name!r}\n", "utf-8")
    (made / "later.py").write_text(f"SAID = 'later {name}'\n", "utf-8")
    (made / "json.py").write_text("raise RuntimeError('not the one of Python')\n", "utf-8")
    (made / "lib" / "deep.py").write_text(
        "import helpers\nSAID = 'deep ' + helpers.SAID\n", "utf-8"
    )
    return made


def test_two_folders_with_files_of_the_same_names_each_have_their_own(tmp_path: Path) -> None:
    first = load_folder(folder(tmp_path, "first") / "plugin.py")
    second = load_folder(folder(tmp_path, "second") / "plugin.py")
    before = {*sys.modules}
    assert first.said() == "first deep first later first 1"
    assert second.said() == "second deep second later second 1"
    assert first.said() == "first deep first later first 1"
    assert not {"helpers", "later", "lib", "plugin"} & sys.modules.keys()
    assert all(name.startswith("holdfast_plugin_") for name in sys.modules.keys() - before)
    assert json.dumps(1) == "1"


def test_a_folder_is_loaded_as_it_is_now(tmp_path: Path) -> None:
    made = folder(tmp_path, "one")
    load_folder(made / "plugin.py")
    (made / "helpers.py").write_text("SAID = 'new'\n", "utf-8")
    assert load_folder(made / "plugin.py").said().startswith("new deep new ")


def test_an_installed_module_of_the_same_name_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = folder(tmp_path, "site")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    assert load_folder(folder(tmp_path, "own") / "plugin.py").said().startswith("own ")


def test_a_folder_that_is_no_package_does_not_hide_an_installed_one(tmp_path: Path) -> None:
    made = folder(tmp_path, "one", "import msgspec\nimport lib\nTOOLS = [msgspec.Struct, lib]\n")
    (made / "msgspec").mkdir()
    loaded = load_folder(made / "plugin.py")
    assert loaded.msgspec is sys.modules["msgspec"]


def test_annotations_are_found_where_they_are_written(tmp_path: Path) -> None:
    made = folder(
        tmp_path, "one", "from __future__ import annotations\nfrom shapes import Box\nbox = Box\n"
    )
    (made / "shapes.py").write_text(
        "from __future__ import annotations\nclass Size: ...\nclass Box:\n    size: Size\n", "utf-8"
    )
    box = load_folder(made / "plugin.py").box
    assert typing.get_type_hints(box)["size"].__name__ == "Size"


def test_a_fault_names_the_folder_and_leaves_nothing(tmp_path: Path) -> None:
    made = folder(tmp_path, "one", "import helpers\n\nimport not_there\n")
    before = {*sys.modules}
    with pytest.raises(PluginProblem) as raised:
        load_plugin(f"{made}/")
    assert str(raised.value).startswith(f"{made}/plugin.py:3: ")
    assert "not_there" in str(raised.value)
    assert {*sys.modules} == before
