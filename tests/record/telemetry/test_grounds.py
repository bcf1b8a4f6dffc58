"""Who decided is told in few words; what a person wrote as a rule is, and nothing else."""

from datetime import UTC, datetime

from holdfast.contract.rules import Rule, Use
from holdfast.policy import words
from holdfast.policy.rules import Weighed
from holdfast.record.telemetry.grounds import Decided, allowed_by, asked_by, denied_by

WRITTEN = Rule(permission="bash", pattern="git *", scope="project", source="policy.toml:4")
REMEMBERED = Rule(
    permission="fs.write",
    pattern="diary.txt",
    scope="project",
    source="ada",
    added_at=datetime(2026, 1, 1, tzinfo=UTC),
    remembered=True,
)
USE = Use(capability="shell.run", kind="command", target="git push (secret)")
PLAIN = "project rule bash 'git *' (policy.toml:4)"


def test_the_words_of_policy_are_understood_as_they_are_said_today() -> None:
    assert allowed_by(words.grounds((WRITTEN,), ())) == Decided("project rule", PLAIN)
    assert allowed_by(words.grounds((), ("the host",))) == Decided(
        "standing", "no rule speaks against it: the host"
    )
    assert denied_by(
        "rejected", words.denied("bash", Weighed(use=USE, action="deny", rule=WRITTEN))
    ) == Decided("project rule", PLAIN)
    (asked,) = words.questions("bash", [Weighed(use=USE, action="ask", rule=WRITTEN)])
    assert asked_by(asked) == Decided("project rule", PLAIN)
    (unknown,) = words.questions("bash", [Weighed(use=USE, action="ask", rule=None)])
    assert asked_by(unknown) == Decided("no rule")


def test_what_a_remembered_answer_is_about_is_not_told() -> None:
    assert allowed_by(words.grounds((REMEMBERED,), ())) == Decided("remembered answer")
    assert allowed_by(words.grounds((WRITTEN, REMEMBERED), ())) == Decided("remembered answer")
    denied = words.denied("bash", Weighed(use=USE, action="deny", rule=REMEMBERED))
    assert denied_by("rejected", denied) == Decided("remembered answer")


def test_who_it_was_is_not_told_of_a_person() -> None:
    assert allowed_by("approved by ada") == Decided("person")
    assert denied_by("user_denied", words.user_denied("bash", "not secret.txt")) == Decided(
        "person"
    )


def test_everything_else_was_decided_by_the_policy() -> None:
    assert denied_by("rejected", words.refused("bash", "a hook said no")) == Decided("policy")
    assert asked_by("Tool 'bash' always asks before it runs.") == Decided("policy")
