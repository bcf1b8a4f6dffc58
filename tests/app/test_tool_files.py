"""Tool files the operator names: loaded in order; a mistake says file, line and next step."""

import re
import sys
from pathlib import Path

import pytest

from holdfast.app.tool_files import ToolFileError, load_tools, tools_in
from holdfast.sources.intake import to_tool

GOOD = '''
import sqlite3
from dataclasses import dataclass
from holdfast import tool

@dataclass
class Point:
    x: int

@tool
def second_name_first(point: Point) -> int:
    """Take a point."""
    return point.x

@tool
def another(n: "int") -> int:
    """Take a number."""
    return n

class Spoken:
    id = "spoken"
    description = "An object."
    parameters = {"type": "object"}
    requires = {}
    def execute(self, args, runtime):
        return args

_hidden = another
alias = another
spoken = Spoken()
database = sqlite3.connect(":memory:")
database.close()

if __name__ == "__main__":
    raise SystemExit("only when run")
'''


def _write(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def _names(path: Path) -> list[str]:
    return [to_tool(found).name for found in tools_in(path)]


def test_tools_come_in_the_order_they_are_defined_and_once_each(tmp_path: Path) -> None:
    path = _write(tmp_path, GOOD)
    assert _names(path) == ["second_name_first", "another", "spoken"]


def test_tool_objects_and_imported_tools_count(tmp_path: Path) -> None:
    _write(tmp_path, GOOD, "holdfast_test_neighbour.py")
    text = "from holdfast_test_neighbour import another\nbuilt = another.tool\n"
    try:
        assert _names(_write(tmp_path, text)) == ["another", "another"]
    finally:
        sys.modules.pop("holdfast_test_neighbour", None)
    assert str(tmp_path) not in sys.path


def test_a_changed_file_is_loaded_as_it_is_now_and_leaves_no_cache(tmp_path: Path) -> None:
    path = _write(tmp_path, GOOD)
    tools_in(path)
    path.write_text(GOOD.replace("another", "changed"), "utf-8")
    assert "changed" in _names(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\ndef broken(:\n", ":2: .*; correct that line"),
        ("x = 1\n\nimport nowhere_at_all\n", ":3: loading it failed with ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", ":2: loading it failed with SystemExit: 3"),
        ("raise ValueError\n", ":1: loading it failed with ValueError; correct"),
        ("import json\n\njson.loads('{')\n", ":3: loading it failed with JSONDecodeError"),
        (
            "from holdfast import tool\n@tool\ndef f(x): ...\n",
            ":[23]: loading it failed with ToolDefinitionError",
        ),
        ("x = 1\n", ": there are no tools in it; mark a function with @holdfast.tool"),
        ("def f(x: int): ...\n", ": there are no tools in it; mark the function 'f' with @holdf"),
        (
            "import sqlite3\nx = sqlite3.connect(':memory:')\nx.close()\n",
            ": .* mark a function with",
        ),
        ("x = '\0'\n", r": it cannot be loaded|:1: "),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_what_to_do(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(ToolFileError, match=f"^{re.escape(str(path))}(?:{problem})"):
        tools_in(path)


def test_a_missing_file_and_a_folder_say_so(tmp_path: Path) -> None:
    with pytest.raises(ToolFileError, match=r"missing\.py: there is no such file; check the path"):
        tools_in(tmp_path / "missing.py")
    with pytest.raises(ToolFileError, match=r"cannot be read \(Is a directory\)"):
        tools_in(tmp_path)


def test_an_interrupt_while_loading_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        tools_in(_write(tmp_path, "raise KeyboardInterrupt\n"))


OBJECT = """
class Spoken:
    id = "spoken"
    description = "An object."
    parameters = {"type": "object"}
    requires = {}
    def execute(self, args, runtime):
        return args
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            OBJECT,
            "there are no tools in it; 'Spoken' is a class; add an instance of it: spoken = Sp",
        ),
        (
            OBJECT.replace("requires = {}", "") + "spoken = Spoken()\n",
            "'spoken' is almost a tool: tool 'spoken': the field requires is missing; correct that",
        ),
        (
            OBJECT.replace("requires = {}", "").replace("parameters", "schema") + "it = Spoken()\n",
            "there are no tools in it; 'it' is almost a tool: tool 'spoken': the field parameters",
        ),
        (
            OBJECT.replace("requires = {}", "")
            + "good = Spoken()\ngood.requires = {}\nx = Spoken()",
            "'x' is almost a tool: tool 'spoken': the field requires is missing",
        ),
        (
            OBJECT.replace("def execute", "execute = 1\n    def run") + "spoken = Spoken()\n",
            "there are no tools in it; 'spoken' is almost a tool: tool 'spoken': execute must be",
        ),
        (
            OBJECT + "spoken = Spoken()\nspoken.description = ' '\n",
            "tool 'spoken': description must be a text that says something; correct it there",
        ),
    ],
)
def test_an_object_that_almost_is_a_tool_is_named_with_what_it_lacks(
    tmp_path: Path, text: str, problem: str
) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(ToolFileError, match=f"^{re.escape(f'{path}: {problem}')}"):
        load_tools([path])


def test_a_name_that_is_there_twice_names_the_files(tmp_path: Path) -> None:
    first, second = _write(tmp_path, GOOD), _write(tmp_path, GOOD, "again.py")
    with pytest.raises(ToolFileError) as raised:
        load_tools([first, second])
    assert str(raised.value) == (
        f"the tool 'second_name_first' is both in {first} and in {second};"
        " rename one or leave a file out"
    )
    same = _write(tmp_path, OBJECT + "one = Spoken()\ntwo = Spoken()\n")
    with pytest.raises(ToolFileError, match="there are two tools named 'spoken' in it; rename one"):
        load_tools([same])


def test_one_tool_under_two_names_is_one_tool(tmp_path: Path) -> None:
    path = _write(tmp_path, GOOD + "\nbuilt = another.tool\nagain = built\n")
    assert [tool.name for tool in load_tools([path])] == ["second_name_first", "another", "spoken"]


FOREIGN = '''
import collections
from holdfast import tool

Other = collections.namedtuple("Other", "name description parameters execute")
Other.__module__ = "another.framework"
other = Other("x", "y", {}, print)

class Proxy:
    def __getattr__(self, name):
        raise RuntimeError("working outside of a request")

proxy = Proxy()

@tool
def mine() -> None:
    """Mine."""
'''


def test_what_another_framework_brings_along_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "mixed.py"
    path.write_text(FOREIGN, "utf-8")
    assert [one.name for one in load_tools([path])] == ["mine"]
