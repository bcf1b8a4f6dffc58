"""Built-in tools reach the world through what they are handed, and in no other way."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import holdfast.tools

TOOLS = Path(holdfast.tools.__file__).parent
OURS = ("holdfast.contract", "holdfast.tools")
PURE = frozenset(
    {
        *("__future__", "abc", "base64", "bisect", "collections", "contextlib", "copy"),
        *(
            "csv",
            "dataclasses",
            "datetime",
            "difflib",
            "enum",
            "functools",
            "hashlib",
            "heapq",
            "html",
        ),
        *("itertools", "json", "math", "operator", "posixpath", "re", "shlex", "string"),
        *("struct", "textwrap", "types", "typing", "unicodedata", "zlib", "msgspec"),
    }
)
"""What works on values alone."""
PURE_PARTS = frozenset(
    {
        *("anyio.CancelScope", "anyio.create_task_group", "anyio.sleep", "anyio.to_thread"),
        *("codecs.BOM_UTF8", "codecs.BOM_UTF16_BE", "codecs.BOM_UTF16_LE"),
        *("io.BytesIO", "io.StringIO", "signal.Signals", "time.monotonic"),
        *("urllib.parse", "xml.sax.saxutils"),
    }
)
"""Parts of modules that can do more: texts in memory, names of signals, budgets of time."""
OPENING = frozenset(
    {
        *("open", "exec", "eval", "compile", "__import__", "input", "breakpoint", "getattr"),
        *("globals", "locals", "vars", "__builtins__", "__loader__", "__spec__"),
    }
)
"""Names that reach further without an import."""
FURTHER = frozenset(
    {
        *("open", "open_code", "system", "popen", "os", "sys", "io", "codecs", "builtins"),
        *("modules", "__globals__", "__builtins__", "__subclasses__", "__loader__", "__spec__"),
        *("__dict__", "__import__", "import_module"),
    }
)
"""Attributes that lead from a value or a pure module to what is not pure."""


@pytest.mark.req("SPEC-CHECK-01")
@pytest.mark.parametrize("module", sorted(TOOLS.rglob("*.py")), ids=lambda path: path.name)
def test_a_tool_imports_nothing_that_reaches_the_world(module: Path) -> None:
    assert list(_faults(module.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import posixpath\nposixpath.os.system('true')",
        "import posixpath as p\np.os.system('true')",
        "import posixpath\nlib = posixpath\nlib.os.system('true')",
        "import posixpath\nposixpath.genericpath.stat",
        "from posixpath import os",
        "from posixpath import genericpath as g",
        "from posixpath import *",
        "import io\nio.open('x')",
        "from io import open as read",
        "import codecs\ncodecs.open('x')",
        "from codecs import open as read",
        "import json\njson.codecs.open('x')",
        "import signal\nsignal.raise_signal(9)",
        "from signal import raise_signal",
        "import time\ntime.sleep(9)",
        "read = open",
        "open('x')",
        "eval('1')",
        "def f(): pass\nf.__globals__['__builtins__']",
        "getattr(re, 'sys')",
        "().__class__.__base__.__subclasses__()",
        "def f(x): return input(x)",
        "def f(read=open): return read('x')",
        "def f(open): pass\nopen('x')",
        "from . import other",
        "from holdfast.execution import run",
        "import holdfast.execution.run",
    ],
)
def test_what_reaches_the_world_is_found(source: str) -> None:
    assert list(_faults(source))


@pytest.mark.parametrize(
    "source",
    [
        "import posixpath\nposixpath.normpath('x')",
        "from io import StringIO\nStringIO('x')",
        "import json\njson.loads('1')",
        "from holdfast.contract.errors import NotFound",
        "from urllib.parse import urlsplit",
        "import collections.abc",
        "async def f(input): return input or {}",
    ],
)
def test_what_works_on_values_is_left_alone(source: str) -> None:
    assert list(_faults(source)) == []


def _faults(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if not _is_pure(one.name))
            modules |= {one.asname or one.name: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            yield from _taken_from(node)
    arguments = set(_arguments(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in OPENING and isinstance(node.ctx, ast.Load):
            if node not in arguments:
                yield node.id
        elif isinstance(node, ast.Attribute) and (
            node.attr in FURTHER or _leads_to_a_module(node, modules)
        ):
            yield ast.unparse(node)


def _arguments(tree: ast.Module) -> Iterator[ast.Name]:
    """Names in the body of a function that are its own arguments: they hide what is built in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            names = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            for statement in node.body:
                for one in ast.walk(statement):
                    if isinstance(one, ast.Name) and one.id in names:
                        yield one


def _taken_from(node: ast.ImportFrom) -> Iterator[str]:
    for one in node.names:
        name = f"{node.module}.{one.name}"
        if node.level or one.name == "*" or not _is_pure(name):
            yield name
        elif not name.startswith(OURS) and name not in PURE_PARTS:
            taken = getattr(importlib.import_module(node.module or ""), one.name, None)
            if isinstance(taken, ModuleType) and not _is_pure(taken.__name__):
                yield name


def _is_pure(name: str) -> bool:
    if name.startswith(tuple(f"{one}." for one in OURS)) or name.partition(".")[0] in PURE:
        return True
    return any(name == part or name.startswith(f"{part}.") for part in PURE_PARTS)


def _leads_to_a_module(node: ast.Attribute, modules: dict[str, str]) -> bool:
    """Whether a pure module is asked for another one that it happens to hold."""
    if not isinstance(node.value, ast.Name) or node.value.id not in modules:
        return False
    found = getattr(importlib.import_module(modules[node.value.id]), node.attr, None)
    return isinstance(found, ModuleType) and not _is_pure(found.__name__)
