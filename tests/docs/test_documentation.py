"""Every Python and TOML example in the documentation holds, and every command it shows works."""

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from holdfast import Holdfast
from holdfast.app.configuration import load_configuration
from holdfast.policy.rule_file import read_rule_file

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page.read_text("utf-8")) if name == language]


WITH_PYTHON = [page for page in PAGES if _blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    if page.stem == "telemetry":  # it sets up the program's own, which is for this test alone
        monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
        monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER_SET_ONCE._done", False)
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
    words = shlex.split(command)
    if "send" in words or "interrupt" in words:  # the session of a call is over with it
        _done('holdfast run "Say hello." --model scripted:examples/hello.toml', tmp_path)
    elif "last" in words:
        _done("holdfast call weather city=Oslo --from examples/weather_tool.py", tmp_path)
    _done(command, tmp_path)


def _done(command: str, home: Path) -> None:
    program = str(Path(sys.executable).with_name("holdfast"))
    result = subprocess.run(
        [program, *shlex.split(command)[1:]],
        cwd=ROOT,
        env={"HOLDFAST_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


TOML = [(page, block) for page in PAGES for block in _blocks(page, "toml")]


@pytest.mark.parametrize(("page", "block"), TOML, ids=lambda part: getattr(part, "name", ""))
def test_a_toml_example_can_be_used_as_it_is(page: Path, block: str, tmp_path: Path) -> None:
    if block.startswith("[[rule]]"):
        found = read_rule_file(block, name=page.name, scope="project")
        assert (len(found.rules), found.problems) == (block.count("[[rule]]"), ())
        return
    (tmp_path / "config.toml").write_text(block, "utf-8")
    environment = {"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)}
    Holdfast(configuration=load_configuration(tmp_path, environment=environment))


THEIRS = '[[rule]]\npermission = "save"\npattern = "notes/*"\naction = "allow"\n'


@pytest.mark.timeout(90)  # several programs, one after the other
def test_the_output_of_commands_is_what_the_page_on_policy_shows(tmp_path: Path) -> None:
    page = ROOT / "docs" / "policy.md"
    rules = next(block for block in _blocks(page, "toml") if block.startswith("[[rule]]"))
    project, own = tmp_path / "project", tmp_path / ".config" / "holdfast"
    for folder, text in ((own, rules), (project / ".holdfast", THEIRS)):
        folder.mkdir(parents=True)
        (folder / "policy.toml").write_text(text, "utf-8")
    tools = (ROOT / "examples" / "guarded_tools.py").read_bytes()
    (project / "tools.py").write_bytes(tools)
    for block in _blocks(page, "console"):
        assert _repeated(block, tmp_path, project) == block


def _repeated(block: str, home: Path, project: Path) -> str:
    """The same commands, with what they say now."""
    said = ""
    for line in block.splitlines():
        if line.startswith("$ holdfast "):
            words = [word.replace("~", str(home)) for word in shlex.split(line)[2:]]
            result = subprocess.run(
                [str(Path(sys.executable).with_name("holdfast")), *words],
                cwd=project,
                env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            said += f"{line}\n{result.stdout.replace(str(home), '~')}"
    return said


def test_the_documentation_links_to_files_that_exist() -> None:
    for page in [*PAGES, ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
