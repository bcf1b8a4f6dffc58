"""`holdfast doctor` about policy: trust, remembered answers, programs of the watchdog."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.grants import GrantFile
from holdfast.app.trust import TrustFile
from holdfast.contract.rules import Rule
from holdfast.surfaces.cli.policy_checks import check_program

GRANT = Rule(permission="sh", pattern="ls", action="allow", scope="project", source="answer of a")


Found = list[tuple[str, str, str | None]]
"""Status, detail and next step of every check of one name."""


def all_found(cli: Cli) -> dict[str, Found]:
    """What one run of the doctor says, by the names of its checks."""
    told: dict[str, Found] = defaultdict(list)
    for one in json.loads(cli("doctor", "--json").out)["checks"]:
        told[one["name"]].append((one["status"], one["detail"], one["next_step"]))
    return told


def found(cli: Cli, name: str) -> Found:
    return all_found(cli)[name]


def test_whose_files_count_is_said(cli: Cli, tmp_path: Path) -> None:
    told = all_found(cli)
    assert told["project"] == []
    assert told["trust"] == [("OK", "no projects trusted", None)]
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "policy.toml").touch()
    ((status, detail, step),) = found(cli, "project")
    assert (status, detail) == ("OK", f"{tmp_path} is not trusted; its files can only narrow")
    assert step == "run holdfast trust to see its files and let them count"
    assert cli("trust", "--yes").status == 0
    told = all_found(cli)
    assert told["project"] == [("OK", f"{tmp_path} is trusted as it is now", None)]
    assert told["trust"] == [("OK", "1 project trusted", None)]
    (tmp_path / ".holdfast" / "policy.toml").write_text("# more\n", "utf-8")
    assert found(cli, "trust") == [("OK", f"1 project trusted; changed since: {tmp_path}", None)]


def test_remembered_answers_are_counted_and_have_to_be_private(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    said = "{} remembered for this project"
    assert found(cli, "grants") == [("OK", said.format("no answers"), None)]
    grants = GrantFile(home / "state", tmp_path, tmp_path)
    grants.add([GRANT])
    assert found(cli, "grants") == [("OK", said.format("1 answer"), None)]
    grants.path.chmod(0o640)
    ((status, detail, step),) = found(cli, "grants")
    assert (status, detail) == ("WARN", f"{grants.path} is open to others")
    assert step == f"run: chmod 600 {grants.path}"
    grants.path.chmod(0o666)
    ((status, detail, _step),) = found(cli, "grants")
    assert (status, "everybody can write" in detail) == ("FAIL", True)
    assert cli("doctor").status == 1


def test_state_that_cannot_be_read_fails(cli: Cli, home: Path, tmp_path: Path) -> None:
    grants = GrantFile(home / "state", tmp_path, tmp_path)
    grants.add([GRANT])
    grants.path.write_text("{", "utf-8")
    ((status, detail, step),) = found(cli, "grants")
    assert status == "FAIL"
    assert "the remembered answers cannot be read" in detail
    assert step == "repair the file, or remove it to forget them"
    TrustFile(home / "state").path.write_text("[", "utf-8")
    ((status, detail, _step),) = found(cli, "configuration")
    assert (status, "trust.json: it cannot be read" in detail) == ("FAIL", True)


def test_a_program_of_the_watchdog_has_to_be_there_and_executable(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    program = tmp_path / "ask-the-office"
    program.write_text("#!/bin/sh\n", "utf-8")
    commands = [["sh", "-c", "true"], ["no-such-program"], [str(program)]]
    text = f"[watchdog]\ncommands = {json.dumps(commands)}\n"
    (home / "config.toml").write_text(text, "utf-8")
    shell, missing, locked = found(cli, "watchdog")
    refused = "until then every call is refused"
    assert (shell[0], Path(shell[1]).name) == ("OK", "sh")
    assert missing == (
        "FAIL",
        "no-such-program: there is no such program",
        f"install it, or correct watchdog.commands; {refused}",
    )
    assert locked == (
        "FAIL",
        f"{program}: it is not executable",
        f"run: chmod +x {program}; {refused}",
    )
    program.chmod(0o700)
    assert check_program((str(program),), "/usr/bin").status == "OK"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[watchdog]\ncommands = [[]]\n", "watchdog.commands: an entry names no program"),
        ('[watchdog]\noff = ["nope"]\n', "watchdog.off: there is no hook 'nope'"),
        (
            '[[profile.code.rules]]\npermission = "x"\npattern = "' + "{a,b}" * 9 + '"\n',
            "alternatives",
        ),
    ],
)
def test_settings_that_would_stop_every_call_fail(
    cli: Cli, home: Path, text: str, said: str
) -> None:
    (home / "config.toml").write_text(text, "utf-8")
    answered = cli("doctor")
    assert (answered.status, answered.err) == (1, "")
    line = next(line for line in answered.out.splitlines() if line.startswith("FAIL"))
    assert line.startswith("FAIL  configuration: ")
    assert said in line


def test_the_state_directory_is_looked_at(cli: Cli, home: Path) -> None:
    assert found(cli, "state directory") == [("OK", f"{home}/state (made when needed)", None)]
    (home / "state").touch()
    assert found(cli, "state directory")[0][0] == "FAIL"


@pytest.mark.parametrize("words", [("trust", "--yes"), ("trust", "--revoke")])
def test_trust_that_cannot_be_kept_is_said_in_words(
    cli: Cli, home: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "policy.toml").touch()
    (home / "state").touch()
    answered = cli(*words)
    assert answered.status == 2
    assert "trust.json: it cannot be written (" in answered.err
    assert "or set HOLDFAST_HOME" in answered.err
    assert "unexpected" not in answered.err


def test_a_home_that_is_none_stops_every_verb_with_what_to_do(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home / "nowhere"))
    for words in (("policy", "list"), ("tools",), ("trust", "--list")):
        answered = cli(*words)
        assert answered.status == 2
        assert f"run: mkdir -p -m 700 {home}/nowhere" in answered.err
    assert cli("doctor").status == 1
