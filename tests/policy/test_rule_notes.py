"""What `policy check` says of rules that programs are not bound by."""

import pytest
from policy.rules_kit import rule

from holdfast.contract.rules import Rule
from holdfast.policy.rule_notes import notes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (rule("fs.write", "*", "ask"), "'bash x.sh' writes there unasked"),
        (rule("fs.read", "secrets/", "ask"), "'bash x.sh' reads there unasked"),
        (rule("fs.*", "notes/", "ask"), "'bash x.sh' reads and writes there unasked"),
        (rule("fs.read", "**/.env", "deny"), "it names no fixed place"),
        (rule("fs.write", "*", "deny"), None),
        (rule("fs.write", "*", "allow"), None),
        (rule("edit", "*", "ask"), None),
        (rule("*", "*", "ask"), None),
        (rule("shell.run", "rm *", "ask"), None),
    ],
)
def test_a_rule_that_binds_no_programs_is_named(given: Rule, said: str | None) -> None:
    found = notes([given])
    if said is None:
        assert found == []
        return
    (line,) = found
    assert said in line
    assert line.startswith(f"{given.source}: note: {given.permission} {given.pattern!r} ")


@pytest.mark.parametrize("action", ["ask", "deny"])
def test_where_commands_are_asked_about_there_is_nothing_to_say(action: str) -> None:
    commands = rule("shell.run", "*", "ask" if action == "ask" else "deny")
    assert notes([rule("fs.write", "*", "ask"), commands]) == []
