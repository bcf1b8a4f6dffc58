"""Built-in tools reach the world through what they are handed, and in no other way."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast.tools

TOOLS = Path(holdfast.tools.__file__).parent
OURS = ("holdfast.contract", "holdfast.tools")
PURE = frozenset(
    {
        *("__future__", "abc", "base64", "bisect", "codecs", "collections", "contextlib", "csv"),
        *("dataclasses", "datetime", "difflib", "enum", "functools", "hashlib", "heapq", "html"),
        *("io", "itertools", "json", "math", "operator", "posixpath", "re", "shlex", "string"),
        *("struct", "textwrap", "types", "typing", "unicodedata", "urllib", "xml", "zlib"),
        *("msgspec", "anyio", "signal", "time"),
    }
)
"""What works on values alone. `io` for texts in memory, `signal` for names, `time` for budgets."""


def _modules() -> Iterator[Path]:
    return TOOLS.rglob("*.py")


@pytest.mark.req("SPEC-CHECK-01")
@pytest.mark.parametrize("module", sorted(_modules()), ids=lambda path: path.name)
def test_a_tool_imports_nothing_that_reaches_the_world(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    for name in _imported(tree):
        assert name.startswith(OURS) or name.partition(".")[0] in PURE, name
    called = {name for node in ast.walk(tree) if (name := _called(node))}
    assert not called & {"open", "exec", "eval", "compile", "__import__", "input", "breakpoint"}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _called(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return None
