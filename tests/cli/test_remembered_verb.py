"""`holdfast policy list`, `grants` and `revoke`: what is in force, and taking an answer back."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.grants import GrantFile, grant_id
from holdfast.contract.rules import Rule

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
OWN = """
[[rule]]
permission = "sh"
pattern = "git push *"
action = "deny"
reason = "Publishing is for people."
"""
THEIRS = """
[[rule]]
permission = "sh"
pattern = "npm *"
action = "ask"

[[rule]]
permission = "sh"
pattern = "make *"
action = "allow"
"""
PROFILE = """
[[profile.bare.rules]]
permission = "fs.write"
pattern = "secrets/"
action = "ask"
pinned = true
"""


def grant(pattern: str, by: str = "ada") -> Rule:
    return Rule(
        permission="sh",
        pattern=pattern,
        action="allow",
        scope="project",
        remembered=True,
        capability="shell.run",
        source=f"answer of {by}",
        added_at=AT,
    )


@pytest.fixture
def kept(home: Path, tmp_path: Path) -> GrantFile:
    grants = GrantFile(home / "state", tmp_path, tmp_path)
    grants.add([grant("git log *"), grant("ls -l", "the person at the terminal")])
    return grants


def test_every_rule_in_force_is_listed_with_where_it_stands(
    cli: Cli, home: Path, tmp_path: Path, kept: GrantFile
) -> None:
    (home / "policy.toml").write_text(OWN, "utf-8")
    (home / "config.toml").write_text(PROFILE, "utf-8")
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "policy.toml").write_text(THEIRS, "utf-8")
    answered = cli("policy", "list", "--profile", "bare")
    assert answered.status == 0
    headings, *rows = [line.split("  ") for line in answered.out.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    theirs = tmp_path / ".holdfast" / "policy.toml"
    terminal = "answer of the person at the terminal"
    assert headings[0] == "SCOPE"
    assert cells == [
        ["manifest, pinned", "fs.write", "secrets/", "ask", f"{home}/config.toml:2"],
        ["project", "sh", "git push *", "deny", OWN.split('"')[-2], f"{home}/policy.toml:2"],
        ["not trusted", "sh", "npm *", "ask", f"{theirs}:2"],
        ["remembered", "sh", "git log *", "allow", "answer of ada"],
        ["remembered", "sh", "ls -l", "allow", terminal],
    ]
    assert "make *" not in answered.out
    assert "an allow rule of a project that is not trusted is not taken" in answered.err


def test_the_list_for_programs_says_the_same(cli: Cli, home: Path, kept: GrantFile) -> None:
    (home / "policy.toml").write_text(OWN, "utf-8")
    found = json.loads(cli("policy", "list", "--profile", "bare", "--json").out)
    assert found[0] == {
        "scope": "project",
        "permission": "sh",
        "pattern": "git push *",
        "action": "deny",
        "source": f"{home}/policy.toml:2",
        "reason": "Publishing is for people.",
        "pinned": False,
        "remembered": False,
        "only_narrows": False,
    }
    assert [one["remembered"] for one in found] == [False, True, True]


def test_without_rules_the_list_says_where_they_would_stand(cli: Cli, home: Path) -> None:
    assert cli("policy", "list", "--profile", "bare").out == (
        f"There are no rules. Yours would stand in {home}/policy.toml.\n"
    )
    assert json.loads(cli("policy", "list", "--profile", "bare", "--json").out) == []


def test_rules_of_another_profile_are_listed_for_it_alone(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text(PROFILE.replace("bare", "reader"), "utf-8")
    assert json.loads(cli("policy", "list", "--profile", "bare", "--json").out) == []
    (found,) = json.loads(cli("policy", "list", "--json", "--profile", "reader").out)
    assert (found["scope"], found["pinned"]) == ("manifest", True)
    answered = cli("policy", "list", "--profile", "writer")
    assert (answered.status, "there is no profile" in answered.err) == (2, True)


def test_a_rule_that_cannot_be_weighed_is_said(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text(PROFILE.replace("secrets/", "{a,b}" * 9), "utf-8")
    answered = cli("policy", "list", "--profile", "bare")
    assert (answered.status, "alternatives" in answered.err) == (2, True)


def test_grants_are_shown_with_when_and_by_whom(cli: Cli, tmp_path: Path, kept: GrantFile) -> None:
    out = cli("policy", "grants").out.splitlines()
    assert out[0].split() == ["ID", "PERMISSION", "PATTERN", "ACTION", "WHEN", "BY"]
    first = [cell for cell in out[1].split("  ") if cell]
    assert [cell.strip() for cell in first] == [
        grant_id(grant("git log *")),
        "sh",
        "git log *",
        "allow",
        "2026-03-01 09:30 UTC",
        "ada",
    ]
    found = json.loads(cli("policy", "grants", "--json").out)
    assert found["project"] == str(tmp_path)
    assert found["grants"][1] == {
        "id": grant_id(grant("ls -l")),
        "permission": "sh",
        "capability": "shell.run",
        "pattern": "ls -l",
        "action": "allow",
        "at": "2026-03-01T09:30:00+00:00",
        "by": "the person at the terminal",
    }


def test_a_grant_is_taken_back_by_its_id(cli: Cli, kept: GrantFile) -> None:
    wanted = grant_id(grant("git log *"))
    answered = cli("policy", "revoke", wanted)
    assert (answered.status, answered.err) == (0, "")
    assert answered.out == f"{wanted} is forgotten: sh 'git log *' is not allowed by it any more\n"
    assert [one.pattern for one in kept.load()] == ["ls -l"]
    again = cli("policy", "revoke", wanted)
    assert (again.status, f"nothing is remembered under '{wanted}'" in again.err) == (2, True)


def test_an_id_that_is_none_changes_nothing(cli: Cli, kept: GrantFile) -> None:
    assert cli("policy", "revoke", grant_id(grant("ls -l")), "nope").status == 2
    assert len(kept.load()) == 2


def test_all_grants_are_taken_back_at_once(cli: Cli, kept: GrantFile) -> None:
    gone = json.loads(cli("policy", "revoke", "--all", "--json").out)["revoked"]
    assert [one["pattern"] for one in gone] == ["git log *", "ls -l"]
    assert kept.load() == ()
    assert cli("policy", "revoke", "--all").out == "Nothing was remembered.\n"
    assert "Nothing is remembered for " in cli("policy", "grants").out


def test_a_grant_of_another_project_is_not_seen(cli: Cli, tmp_path: Path, kept: GrantFile) -> None:
    (tmp_path / "other").mkdir()
    words = ("--workspace", str(tmp_path / "other"))
    assert "Nothing is remembered" in cli("policy", "grants", *words).out
    assert cli("policy", "revoke", "--all", *words).status == 0
    assert len(kept.load()) == 2


def test_the_same_answer_again_is_kept_once(kept: GrantFile) -> None:
    kept.add([grant("ls -l", "bob")])
    assert [(one.pattern, one.source) for one in kept.load()] == [
        ("git log *", "answer of ada"),
        ("ls -l", "answer of bob"),
    ]


def test_a_file_that_cannot_be_changed_is_said(
    cli: Cli, kept: GrantFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("holdfast.app.grants.replace", full)
    answered = cli("policy", "revoke", "--all")
    assert answered.status == 2
    assert f"{kept.path}: it cannot be changed (No space left on device)" in answered.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "holdfast policy explain, check, list, grants or revoke"),
        (("revoke",), "which answers?"),
        (("revoke", "--all", "abc"), "which answers?"),
        (("list", "--all"), "--all is for revoke"),
        (("list", "sh"), "policy list takes no 'sh'"),
        (("grants", "sh"), "policy grants takes no 'sh'"),
    ],
)
def test_a_wrong_command_line_says_what_to_do(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answered = cli("policy", *words)
    assert (answered.status, said in answered.err) == (2, True)
