"""`holdfast trust`: seen, agreed, and bound to what was seen."""

import io
import json
from pathlib import Path

import pytest
from command import Cli


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    (folder / ".holdfast").mkdir(parents=True)
    (folder / ".holdfast" / "policy.toml").write_text("", "utf-8")
    return folder


def state(cli: Cli, *words: str) -> tuple[int, str]:
    answered = cli("trust", *words, "--json")
    return answered.status, json.loads(answered.out)["state"]


def test_nobody_agrees_where_nobody_is(cli: Cli, project: Path) -> None:
    answered = cli("trust", str(project))
    assert answered.status == 3
    assert "its files can only narrow" in answered.out
    assert "give --yes" in answered.err


@pytest.mark.parametrize(("typed", "wanted"), [("y\n", (0, "trusted")), ("\n", (3, "not_trusted"))])
def test_a_person_is_shown_the_files_and_asked(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, typed: str, wanted: tuple[int, str]
) -> None:
    rule = '[[rule]]\npermission = "bash"\npattern = "make *"\naction = "allow"\n'
    (project / ".holdfast" / "policy.toml").write_text(rule, "utf-8")
    settings = '[tools]\nfiles = ["t.py"]\n[watchdog]\noff = ["destructive_commands"]\n'
    (project / ".holdfast" / "config.toml").write_text(settings, "utf-8")
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    answered = cli("trust", str(project), "--json")
    assert "it would allow: bash 'make *'" in answered.err
    assert "it would load and run: t.py" in answered.err
    assert "it would take: [watchdog]" in answered.err
    assert (answered.status, json.loads(answered.out)["state"]) == wanted
    assert str(project / ".holdfast" / "policy.toml") in answered.err


def test_a_person_is_shown_what_would_be_started(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / ".holdfast"
    tables = '[manifest.m]\nfile = "tools.json"\n[mcp.a]\ncommand = ["node", "a.js"]\n'
    tables += '[mcp.b]\nurl = "https://b.example"\n[plugins]\nload = ["p"]\n'
    (folder / "config.toml").write_text(tables, "utf-8")
    servers = {"mcpServers": {"c": {"command": "npx", "args": ["-y", "c"]}}}
    (folder / "mcp.json").write_text(json.dumps(servers), "utf-8")
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    told = cli("trust", str(project)).err
    assert "it would run the programs of: tools.json (manifest m)" in told
    assert "it would start or reach: node a.js (MCP server a)" in told
    assert "it would start or reach: https://b.example (MCP server b)" in told
    assert "it would start or reach: npx -y c (MCP server c)" in told
    assert "it would load and run: p" in told
    # What would be read with comments in it has to be shown with them.
    (folder / "mcp.json").write_text(f"\ufeff// mine\n{json.dumps(servers)}", "utf-8")
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    told = cli("trust", str(project)).err
    assert "it would start or reach: npx -y c (MCP server c)" in told
    (folder / "mcp.json").write_text("{", "utf-8")
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    assert "mcp.json is no JSON" in cli("trust", str(project)).err


def test_trust_is_given_listed_outlived_and_taken_back(cli: Cli, project: Path) -> None:
    assert cli("trust", "--list").out == "You trust no project.\n"
    assert state(cli, str(project), "--yes") == (0, "trusted")
    assert state(cli, str(project)) == (0, "trusted")
    (listed,) = json.loads(cli("trust", "--list", "--json").out)
    assert (listed["project"], listed["state"]) == (str(project), "trusted")
    (project / ".holdfast" / "policy.toml").write_text("# changed\n", "utf-8")
    assert "changed since" in cli("trust", "--list").out
    assert state(cli, str(project)) == (3, "not_trusted")
    assert state(cli, str(project), "--revoke") == (0, "revoked")
    assert state(cli, str(project), "--revoke") == (0, "not_trusted")


@pytest.mark.parametrize("words", [("--list", "--revoke"), ("--yes", "--revoke")])
def test_two_wishes_at_once_change_nothing(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    assert state(cli, str(project), "--yes") == (0, "trusted")
    answered = cli("trust", str(project), *words)
    assert answered.status == 2
    assert "give one of --yes, --revoke and --list" in answered.err
    assert state(cli, str(project)) == (0, "trusted")


def test_without_a_folder_there_is_nothing_to_trust(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert state(cli, str(tmp_path / "plain")) == (0, "nothing_to_trust")
    answered = cli("trust", str(tmp_path / "nowhere"))
    assert answered.status == 2
    assert "there is no such directory" in answered.err


@pytest.mark.parametrize("verb", [("tools",), ("doctor",)])
def test_a_mistake_in_trusted_code_is_named_where_it_can_be_corrected(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    folder = project / ".holdfast"
    (folder / "config.toml").write_text('[tools]\nfiles = ["mine.py"]\n', "utf-8")
    (folder / "mine.py").write_text("\nthis is no Python\n", "utf-8")
    cli("trust", str(project), "--yes")
    monkeypatch.chdir(project)
    answer = cli(*verb)
    said = answer.out + answer.err
    assert f"{folder / 'mine.py'}:2: " in said
    assert "trusted/" not in said


def test_skills_without_a_folder_to_trust_are_told_of(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain" / ".agents" / "skills").mkdir(parents=True)
    assert state(cli, str(tmp_path / "plain")) == (0, "skills_alone")
    said = cli("trust", str(tmp_path / "plain"), "--yes").out
    assert "set skills.project = 'always' in your own configuration" in said
