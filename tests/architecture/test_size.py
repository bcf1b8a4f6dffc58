"""The size law: files of at most 400 lines, classes of at most 15 methods."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAX_LINES = 400
MAX_METHODS = 15


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_source_file_fits_the_size_law(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            methods = [
                part
                for part in node.body
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
                and not part.name.startswith("__")
            ]
            assert len(methods) <= MAX_METHODS, f"{node.name} has {len(methods)} methods"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_file_is_a_drawer_for_things_without_a_place(path: Path) -> None:
    avoided = {"utils", "util", "helper", "helpers", "manager", "base", "common", "misc"}
    assert path.stem not in avoided


def test_tests_stay_readable_too() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "tests").rglob("*.py")
        if (lines := len(path.read_text("utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def test_agents_file_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text("utf-8").splitlines()) < 120
