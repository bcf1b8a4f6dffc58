"""The page on manifests: a newcomer who does what it says sees what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

ROOT = Path(__file__).parents[2]
PAGE = next(
    page
    for page in (ROOT / "docs" / "manifest.md", ROOT / "docs" / "parts" / "manifest.md")
    if page.exists()
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(PAGE.read_text("utf-8")) if name == language]


def told(text: str, folder: Path) -> str:
    """Without what is different on every machine: places, durations, the width of a table."""
    text = text.replace(str(folder), "/home/ada")
    return re.sub(r" {2,}", "  ", re.sub(r'"duration_ms":\d+', '"duration_ms":12', text))


@pytest.mark.timeout(90)  # several programs, one after the other
def test_whoever_follows_the_page_sees_what_it_shows(tmp_path: Path) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    programs = work / "tools" / "bin"
    programs.mkdir(parents=True)
    home.mkdir(mode=0o700)
    (program,) = blocks("bash")
    (manifest,) = blocks("json")
    (programs / "count_words").write_text(program, "utf-8")
    (programs / "count_words").chmod(0o755)
    (work / "tools.json").write_text(manifest, "utf-8")
    (shown,) = blocks("console")
    said = ""
    for line in shown.splitlines():
        if line.startswith("$ holdfast "):
            ran = subprocess.run(
                [str(Path(sys.executable).with_name("holdfast")), *shlex.split(line)[2:]],
                cwd=work,
                env={"HOLDFAST_HOME": str(home), "PATH": "/usr/bin:/bin"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            said += f"{line}\n{ran.stdout}"
    assert told(said, work) == told(shown, work)


def test_the_program_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    names: dict[str, object] = {"__name__": "page"}
    (block,) = blocks("python")
    exec(compile(block, str(PAGE), "exec"), names)
    anyio.run(names["main"])  # pyright: ignore[reportArgumentType] - the page defines it
