"""Every Python example in the documentation runs, and every command it shows works."""

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page.read_text("utf-8")) if name == language]


WITH_PYTHON = [page for page in PAGES if _blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    names: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    for block in _blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
        for name in ("main", "demonstrate"):
            shown = names.pop(name, None)
            if inspect.iscoroutinefunction(shown):
                anyio.run(shown)
            elif callable(shown):
                shown()


COMMANDS = sorted(
    {
        line.partition(" # ")[0].strip()
        for page in PAGES
        for block in _blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith("holdfast ")
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_the_documentation_shows_works(command: str, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("holdfast"))
    result = subprocess.run(
        [program, *shlex.split(command)[1:]],
        cwd=ROOT,
        env={"HOLDFAST_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_documentation_links_to_files_that_exist() -> None:
    for page in [*PAGES, ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
