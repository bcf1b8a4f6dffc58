"""Completion scripts, written from the parsers; bash's is tried in a real bash."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Cli

from holdfast.surfaces.cli.catalogue import parsers
from holdfast.surfaces.cli.verbs import VERBS
from holdfast.testing.conformance.runner import SUITES

OF_SHOW = ("-h", "--help", "--full", "--json", "--workspace", "--set")
BASH = shutil.which("bash") or "bash"


def _complete(script: str, words: list[str], folder: Path) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in words)
    lines = [
        script,
        f"COMP_WORDS=(holdfast {quoted})",
        f"COMP_CWORD={len(words)}",
        "_holdfast",
        "printf '%s\\n' \"${COMPREPLY[@]}\"",
    ]
    result = subprocess.run(
        [BASH, "--norc", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        timeout=10,
    )
    assert result.stderr == ""
    return result.stdout.split("\n")[:-1]


@pytest.mark.system("bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["t"], ["tools", "trust", "tour"]),
        (["co"], ["conformance", "completion"]),
        (["--v"], ["--version"]),
        (["call", "--d"], ["--dialect"]),
        (["call", "--dialect", ""], ["ok", "typed", "program", "flow"]),
        (["call", "x", "--dialect", "t"], ["typed"]),
        (["completion", ""], ["bash", "zsh", "fish", "-h", "--help"]),
        (["conformance", "e"], ["envelope", "extra"]),
        (["conformance", "envelope", "e"], [""]),
        (["conformance", "envelope", ""], [""]),
        (["conformance", "envelope", "--j"], ["--json"]),
        (["policy", "r"], ["revoke"]),
        (["ses"], ["sessions"]),
        (["sessions", "e"], ["events", "event", "export"]),
        (["sessions", "show", "la"], ["last"]),
        (["sessions", "la"], [""]),
        (["sessions", "show", "s"], [""]),
        (["sessions", "show", "last", "la"], [""]),
        (["sessions", "list", "la"], [""]),
        (["sessions", "list", "--a"], ["--agent"]),
        (["sessions", "--limit", "3", "sh"], ["show"]),
        (["sessions", "--json", "events", "--limit", "3", "l"], ["last"]),
        (["sessions", "show", ""], ["last", *OF_SHOW]),
        (["sessions", "import", "my"], [""]),
        (["sessions", "import", "--as"], ["--as-new"]),
        (["sessions", "events", "last", "--type", "call.se"], ["call.settled"]),
        (["audit", "verify", "--"], ["--help", "--session", "--json"]),
        (["audit", "lo"], ["log"]),
        (["audit", "log", "lo"], [""]),
        (["undo", "a"], [""]),
        (["undo", "last", "a"], ["all"]),
        (["policy", "check", "my"], [""]),
        (["trust", ""], [""]),
        (["sessions", "--form", ""], ["events", "chat", "folder"]),
        (["sessions", "--status", "w"], ["waiting_on_approval", "waiting_on_user_input"]),
        (["sessions", "--to", "my"], ["my tools.py"]),
        (["policy", "l"], ["list"]),
        (["policy", "--a"], ["--arguments", "--all", "--agent"]),
        (["tools", "--from", "my"], ["my tools.py"]),
        (["tools", "--profile", ""], [""]),
        (["nonsense", "x"], [""]),
    ],
)
def test_bash_completes(cli: Cli, tmp_path: Path, words: list[str], expected: list[str]) -> None:
    (tmp_path / "my tools.py").write_text("", "utf-8")
    script = cli("completion", "bash").out
    assert _complete(script, words, tmp_path) == expected


def _first_words(script: str, shell: str, folder: Path) -> list[str]:
    """The verbs that a shell offers where a verb is wanted."""
    match shell:
        case "bash":
            return [word for word in _complete(script, [""], folder) if not word.startswith("-")]
        case "zsh":
            (line,) = re.findall(r"local -a verbs=\((.*)\)", script)
            return re.findall(r"'(\w+):", line)
        case _:
            return re.findall(r"__fish_use_subcommand -a (\w+) ", script)


@pytest.mark.system("bash")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_offers_every_verb(cli: Cli, tmp_path: Path, shell: str) -> None:
    script = cli("completion", shell).out
    assert _first_words(script, shell, tmp_path) == [verb.name for verb in VERBS]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_every_option(cli: Cli, shell: str) -> None:
    script = cli("completion", shell).out
    for verb, parser in parsers():
        case = re.compile(rf"^ +{verb.name}\) .*|^.*subcommand_from {verb.name}'.*", re.MULTILINE)
        here = "\n".join(case.findall(script))
        for spelling in parser.spellings:
            shown = spelling if shell != "fish" else spelling.replace("--", "-l ")
            shown = shown if len(shown) > 2 or shell != "fish" else f"-s {spelling[1:]}"
            assert shown in here, (verb.name, spelling)
    said = "explain check list grants revoke"
    for word in ("typed program flow", " ".join(sorted(SUITES)), said):
        assert word in script.replace("\\n", " ")


@pytest.mark.system("zsh")
def test_zsh_can_read_its_script(cli: Cli) -> None:
    script = cli("completion", "zsh").out
    subprocess.run(["zsh", "-n"], input=script, text=True, check=True, timeout=10)


def test_zsh_offers_words_where_they_can_stand(cli: Cli) -> None:
    script = cli("completion", "zsh").out
    (line,) = re.findall(r"^ +sessions\) .*", script, re.MULTILINE)
    assert "'1:argument:(list show events " in line
    assert line.endswith("'*:argument:(last)' ;;")


@pytest.mark.system("fish")
def test_fish_can_read_its_script(cli: Cli) -> None:
    script = cli("completion", "fish").out
    subprocess.run(["fish", "--no-execute"], input=script, text=True, check=True, timeout=10)


@pytest.mark.system("fish")
def test_fish_really_completes_verbs_and_flags(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "holdfast.fish"
    script.write_text(cli("completion", "fish").out, "utf-8")

    def offered(line: str) -> list[str]:
        asked = f"source {script}; complete -C '{line}'"
        answer = subprocess.run(
            ["fish", "--no-config", "-c", asked],
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
        return [found.split("\t")[0] for found in answer.stdout.splitlines()]

    assert offered("holdfast to") == ["tools", "tour"]
    assert "--dialect" in offered("holdfast call --d")
    assert set(offered("holdfast completion ")) >= {"bash", "zsh", "fish"}
    assert offered("holdfast conformance coer") == ["coercion"]
    assert offered("holdfast sessions sh") == ["show"]
    assert offered("holdfast sessions show la") == ["last"]
    assert "show" not in offered("holdfast sessions show ")
    assert "last" not in offered("holdfast sessions list ")
    assert "call.settled" in offered("holdfast sessions events last --type call.se")
    (tmp_path / "cases.jsonl").write_text("", "utf-8")
    assert f"{tmp_path}/cases.jsonl" in offered(f"holdfast conformance coercion {tmp_path}/ca")
