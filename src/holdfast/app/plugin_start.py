"""A first plugin: a package that announces a tool, with a test of it. Nothing is replaced."""

import os
import re
from pathlib import Path

from holdfast.app.problems import ConfigurationError
from holdfast.sources.plugins.loading import FOLDER_FILE, GROUP

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")

TOOLS = '''"""The tools of this plugin, loaded once a configuration names it."""

from typing import Literal

from holdfast import tool


@tool
def greeting(name: str, language: Literal["en", "no"] = "en") -> str:
    """Greet somebody, e.g. {"name": "Ada"}.

    Args:
        name: whom to greet
        language: in which language
    """
    word = {"en": "Hello", "no": "Hei"}[language]
    return f"{word}, {name}!"
'''

TEST = '''"""What every tool owes, checked by holdfast's own kit, and what this one does."""

from pathlib import Path

import anyio
from plugin import greeting

from holdfast import Holdfast
from holdfast.testing.plugin_kit import check_plugin

HERE = Path(__file__).parent


def test_the_plugin_conforms() -> None:
    assert anyio.run(check_plugin, f"{HERE}/") == []


async def _greeted() -> object:
    async with Holdfast(tools=[greeting]) as hf:
        return (await hf.settle("greeting", {"name": "Ada"})).result


def test_it_greets() -> None:
    assert anyio.run(_greeted) == {"text": "Hello, Ada!"}
'''

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "holdfast-@PACKAGE@"
version = "0.1.0"
description = "Tools for holdfast."
requires-python = ">=3.11"
dependencies = ["holdfast"]

[project.entry-points."@GROUP@"]
@NAME@ = "holdfast_@NAME@"

[tool.hatch.build.targets.wheel.force-include]
"plugin.py" = "holdfast_@NAME@.py"
"""


def begin_plugin(folder: Path, name: str) -> tuple[Path, ...]:
    """Write its files; ConfigurationError where one is there already, and then none is."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} is no name of a plugin; take small letters, digits and underscores"
        )
    project = PROJECT.replace("@NAME@", name).replace("@GROUP@", GROUP)
    # Packages are named with hyphens, modules with underscores.
    project = project.replace("@PACKAGE@", name.replace("_", "-"))
    files = {FOLDER_FILE: TOOLS, "test_plugin.py": TEST, "pyproject.toml": project}
    paths = tuple(folder / file for file in files)
    for path in paths:
        if os.path.lexists(path):
            raise ConfigurationError(f"{path} is there already; name another folder, or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, files.values(), strict=True):
            path.write_text(text, "utf-8")
    except OSError as problem:
        raise ConfigurationError(
            f"{folder}: it cannot be written ({problem.strerror}); name another folder"
        ) from None
    return paths
