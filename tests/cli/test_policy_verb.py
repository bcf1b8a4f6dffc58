"""`holdfast policy`: why, and whether the rules say what they mean to."""

import json
from pathlib import Path

import pytest
from command import Cli

RULES = """
[[rule]]
permission = "sh"
pattern = "git *"
action = "allow"
reason = "Reading is fine."
match = ["git status"]

[[rule]]
permission = "sh"
pattern = "git push *"
action = "deny"
no_match = ["git pull"]
"""

TOOLS = '''
from holdfast import tool

@tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
def sh(command: str) -> str:
    """Run a command (not really)."""
    return command
'''


@pytest.fixture
def shell(tmp_path: Path, home: Path) -> str:
    (home / "policy.toml").write_text(RULES, "utf-8")
    path = tmp_path / "shell.py"
    path.write_text(TOOLS, "utf-8")
    return str(path)


def test_the_deciding_rule_is_shown_with_file_and_line(cli: Cli, shell: str, home: Path) -> None:
    answered = cli("policy", "explain", "sh", "command=git log", "--from", shell)
    assert answered.status == 0
    assert "sh: allow" in answered.out
    assert f"{home}/policy.toml:2" in answered.out
    assert "Reading is fine." in answered.out


def test_a_denied_part_is_shown_and_is_status_3(cli: Cli, shell: str) -> None:
    answered = cli("policy", "explain", "sh", "command=git log; git push -f", "--from", shell)
    assert answered.status == 3
    assert "sh: deny" in answered.out
    assert "git push -f" in answered.out


def test_an_explanation_for_programs_is_json(cli: Cli, shell: str) -> None:
    words = ("policy", "explain", "sh", "--arguments", '{"command": "rm $x"}')
    answered = cli(*words, "--from", shell, "--json")
    found = json.loads(answered.out)
    assert (answered.status, found["verdict"], found["stage"]) == (3, "ask", "rules")
    assert [use["target"] for use in found["uses"]] == ["rm $x", "rm $x"]
    assert found["uses"][1]["doubt"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explain",), "which call?"),
        (("explain", "nope"), "no tool named 'nope'"),
        (("explain", "sh", "command=1", "--arguments", "{}"), "given twice"),
        (("explain", "sh"), "refused before it is judged"),
        (("check",), "which file?"),
        (("check", "nowhere.toml"), "there is no such file"),
        (("decide",), "invalid choice"),
    ],
)
def test_a_wrong_command_line_says_what_to_do(
    cli: Cli, shell: str, words: tuple[str, ...], said: str
) -> None:
    answered = cli("policy", *words, "--from", shell)
    assert answered.status == 2
    assert said in answered.err


def test_a_good_file_is_checked(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULES, "utf-8")
    answered = cli("policy", "check", str(path))
    assert (answered.status, answered.out) == (0, "2 rules, 2 of 2 examples hold, no problems\n")
    found = json.loads(cli("policy", "check", str(path), "--json").out)
    assert (len(found["rules"]), found["problems"]) == (2, [])


def test_a_deny_that_does_not_bind_commands_is_noted(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    denies = ("fs.read", "**/.env"), ("fs.*", "keys/*.pem"), ("fs.write", "out/"), ("read", "**/x")
    rule = '[[rule]]\npermission = "{}"\npattern = "{}"\naction = "deny"\n'
    path.write_text("".join(rule.format(*one) for one in denies), "utf-8")
    answered = cli("policy", "check", str(path))
    *notes, summed_up = answered.out.splitlines()
    assert (answered.status, summed_up) == (0, "4 rules, no examples, no problems")
    assert [note.partition(" binds ")[0] for note in notes] == [
        f"{path}:1: note: fs.read '**/.env'",
        f"{path}:5: note: fs.* 'keys/*.pem'",
    ]
    assert len(json.loads(cli("policy", "check", str(path), "--json").out)["notes"]) == 2


def test_a_file_with_mistakes_is_status_1_and_tells_their_lines(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULES.replace('["git status"]', '["ls"]'), "utf-8")
    answered = cli("policy", "check", str(path))
    assert answered.status == 1
    assert f"{path}:7: the pattern 'git *' does not fit 'ls'" in answered.out
    found = json.loads(cli("policy", "check", str(path), "--json").out)
    assert [one["line"] for one in found["problems"]] == [7]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rules, no examples, no problems"),
        (RULES.partition("\n\n")[0] + "\n", "1 rule, 1 of 1 example holds, no problems"),
        (RULES.replace("git status", "ls"), "2 rules, 1 of 2 examples hold, 1 problem"),
        ("[[rule]]\n", "no rules, no examples, 1 problem"),
    ],
)
def test_what_was_found_is_counted_in_words(cli: Cli, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text, "utf-8")
    assert cli("policy", "check", str(path)).out.splitlines()[-1] == said


def test_a_file_that_begins_with_a_byte_order_mark_is_read(
    cli: Cli, shell: str, home: Path, tmp_path: Path
) -> None:
    (home / "policy.toml").write_text(RULES.lstrip(), "utf-8-sig")
    (home / "config.toml").write_text("[limits]\nargument_bytes = 999\n", "utf-8-sig")
    assert cli("policy", "check", str(home / "policy.toml")).status == 0
    answered = cli("policy", "explain", "sh", "command=git push", "--from", shell)
    assert f"({home}/policy.toml:8)" in answered.out


def test_a_call_is_judged_by_the_same_rules(cli: Cli, shell: str) -> None:
    assert cli("call", "sh", "command=git log", "--from", shell).status == 0
    denied = cli("call", "sh", "command=git push origin", "--from", shell)
    assert denied.status == 3
    assert json.loads(denied.out)["kind"] == "rejected"
