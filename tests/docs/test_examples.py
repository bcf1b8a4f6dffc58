"""Every example runs as it says, and can be used from the command line where it holds tools."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

SAID = {
    "weather_tool.py": [
        '"degrees":[4.0]',
        "['enum_case', 'integer_from_text']",
        "invalid_args city",
        "invalid_args days",
    ],
    "progress_tool.py": ["1/3 read text 1", "3/3 read text 3", "{'texts': 3, 'words': 6}"],
    "guarded_tools.py": [
        "{'characters': 8, 'path': 'notes/today.md'}",
        "requires.fs.write = ['src/main.py']",
        "Drafts are written by hand.",
        "{'would_fetch': 'https://api.example.com/towns'}",
        "requires.net.hosts = ['example.com.evil.net']",
        "{'would_run': 'git status && ls -l'}",
        "Publishing is for people.",
    ],
    "confined_commands.py": [
        "'stdout': '2\\n'",
        "The command exited 0 without output",
        "The command says it could not reach '/etc/shadow', which this session may not: "
        "'/etc/shadow' is outside of what may be read.",
        "{'text': 'ONE\\nTWO\\n'}",
    ],
    "envelope_by_hand.py": ["Frank Herbert", '"shelf":["dune","emma"]', '"field":"title"'],
    "flow_sandbox.py": [
        "{'lines': 2}",
        "invalid_args path",
        "timeout",
        "written outside: False",
        '{"exit_code": 0, "stdout": "two\\n"',
    ],
    "flow_agents.py": [
        "['runner', 'writer']",
        'write_workspace_file -> {"bytes_written": 39}',
        '"stdout": "385\\n"',
        "none of my business",
    ],
    "agent_session.py": [
        "I deploy first.",
        "[approval.answered]",
        "asked for: order {'item': 'tea'}",
        "North is deployed, and tea is on its way.",
        "ended: final_response",
    ],
    "subagents.py": [
        "You count. -> count",
        "You judge. -> It will be remembered.",
        "in the end: Six words, and the critic likes them.",
    ],
    "managed_agent.py": [
        "resources_promote_to_substrate: resources_promote_to_substrate requires outcome_evaluate"
        " to return status=pass; it returns not_ready",
        "I may not share it yet",
        "resources_promote_to_substrate: done\nIt is shared.",
        "3 steps are shared",
    ],
    "code_fixer.py": [
        "edit: Execution denied by policy for tool: edit. The manifest rule fs.write '**/test_*'",
        "edit: done\n  bash: done\ntotal() took one off",
        "the tests pass; session ses_",
    ],
    "release_notes.py": ["A fix and a new kind of price.", "# 1.1\n\n- The till adds up."],
    "data_analyst.py": ["sold-by-month.svg", "report.md", "June was best: 180 sold."],
    "web_researcher.py": [
        "read_page: read\n  read_page: read\n",
        "No granted host pattern admits 'evil.example'",
        "Since 3.11 <https://docs.example/news>",
        "never read: https://docs.example/history",
    ],
    "service_operator.py": [
        "service_state: done\n  service_log: done\nmay it? restart_service",
        "--allow\n",
    ],
    "due_sessions.py": ["runs: 1", "and now: idle"],
    "blocking_use.py": ["{'square': 144}", "{'square': 16}]"],
}

WITHOUT_TOOLS = {
    *("flow_agents.py", "managed_agent.py"),
    *("code_fixer.py", "data_analyst.py", "web_researcher.py"),
}
WITH_A_MODEL = (
    *("code_fixer.py", "release_notes.py", "data_analyst.py", "web_researcher.py"),
    "service_operator.py",
)
"""Agents to copy: short, with a script for a model until one is named."""


def test_every_example_is_known_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", sorted(SAID))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        cwd=tmp_path,
        check=False,
        timeout=15,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for part in SAID[name]:
        assert part in result.stdout


@pytest.mark.parametrize("name", sorted(SAID.keys() - WITHOUT_TOOLS))
def test_an_example_is_a_tool_file(name: str, tmp_path: Path) -> None:
    result = subprocess.run(
        [str(Path(sys.executable).with_name("holdfast")), "tools", "--from", str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        check=False,
        timeout=15,
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", WITH_A_MODEL)
def test_an_agent_to_copy_is_short_and_says_how_to_run_it(name: str) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    assert len(text.splitlines()) < 120
    assert f"python examples/{name}" in text
    assert f"python examples/{name} --model " in text


@pytest.mark.parametrize("name", WITH_A_MODEL)
def test_a_named_model_is_asked_instead_of_the_script(name: str, tmp_path: Path) -> None:
    (tmp_path / "turns.toml").write_text('[[turn]]\ntext = "I was asked."\n', "utf-8")
    said = _played(name, tmp_path, "--model", "scripted:turns.toml")
    assert "I was asked." in said


def test_what_the_operator_asks_can_be_answered_when_its_program_has_ended(tmp_path: Path) -> None:
    asked = _played("service_operator.py", tmp_path).splitlines()[-1]
    program, *words = asked.split()
    _ran([str(Path(sys.executable).with_name(program)), *words], tmp_path)
    said = _played("service_operator.py", tmp_path, "--session", words[2])
    assert "restart_service: done" in said
    assert "It was restarted." in said


def test_the_operator_goes_on_at_once_with_yes(tmp_path: Path) -> None:
    assert "It was restarted." in _played("service_operator.py", tmp_path, "--yes")


def _played(name: str, home: Path, *words: str) -> str:
    return _ran([sys.executable, str(EXAMPLES / name), *words], home, may_fail=True)


def _ran(words: list[str], home: Path, *, may_fail: bool = False) -> str:
    result = subprocess.run(
        words,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        cwd=home,
        check=False,
        timeout=15,
    )
    assert result.stderr == ""
    assert may_fail or result.returncode == 0
    return result.stdout
