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
        *("struct", "textwrap", "types", "typing", "unicodedata", "zlib", "msgspec"),
    }
)
"""What works on values alone; `io` for texts in memory."""
PURE_PARTS = frozenset(
    {
        *("anyio.CancelScope", "anyio.create_task_group", "anyio.sleep", "anyio.to_thread"),
        *("signal", "time", "urllib.parse", "xml.sax.saxutils"),
    }
)
"""Parts of modules that can do more: names of signals, budgets of time, texts of addresses."""


def _modules() -> Iterator[Path]:
    return TOOLS.rglob("*.py")


@pytest.mark.req("SPEC-CHECK-01")
@pytest.mark.parametrize("module", sorted(_modules()), ids=lambda path: path.name)
def test_a_tool_imports_nothing_that_reaches_the_world(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    for name in _imported(tree):
        pure = name.partition(".")[0] in PURE or any(
            name == part or name.startswith(f"{part}.") for part in PURE_PARTS
        )
        assert name.startswith(OURS) or pure, name
    called = {name for node in ast.walk(tree) if (name := _called(node))}
    assert not _attributes(tree) & {
        "raise_signal",
        "pthread_kill",
        "pidfd_send_signal",
        "setitimer",
    }
    assert not called & {"open", "exec", "eval", "compile", "__import__", "input", "breakpoint"}


def _attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _called(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return None
