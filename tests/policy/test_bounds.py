"""How much one call may bring: more is refused in words, never judged in part."""

import msgspec
import pytest
from policy.judge_kit import EVERYTHING, WRITER, action, judged
from policy.rules_kit import rule
from support import make_judge, make_tool

from holdfast.contract.call import Ask, Deny
from holdfast.contract.json_value import JsonValue
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Action
from holdfast.contract.tool import ArgumentUse
from holdfast.policy.grants import MOST_REMEMBERED
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.shell.characters import LONGEST_TEXT
from holdfast.policy.uses import MOST_USES

SHELL = msgspec.structs.replace(
    make_tool(name="shell"), uses=(ArgumentUse(argument="command", capability="shell.run"),)
)
NO_PUSH = rule("shell", "git push *", "deny")


def many(count: int) -> list[JsonValue]:
    return [f"f{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("paths", "wanted"),
    [
        (many(MOST_USES), "allow"),
        (many(MOST_USES + 1), "deny"),
        (many(100_000), "deny"),
        ([many(MOST_USES), many(1)], "deny"),
    ],
    ids=["at most", "one more", "very many", "nested"],
)
def test_a_call_that_names_too_much_is_refused(paths: list[JsonValue], wanted: Action) -> None:
    verdict = judged(make_judge(EVERYTHING), WRITER, {"path": paths})
    assert action(verdict) == wanted
    if isinstance(verdict, Deny):
        assert f"more than {MOST_USES}" in verdict.reason
        assert "split it into several calls" in verdict.reason


def test_a_command_with_too_many_parts_is_refused() -> None:
    verdict = judged(make_judge(EVERYTHING), SHELL, {"command": "a;" * (MOST_USES + 1)})
    assert isinstance(verdict, Deny)
    assert "split it" in verdict.reason


@pytest.mark.parametrize(
    "command",
    [
        "true; git push " + "x" * LONGEST_TEXT,
        "true # " + "x" * LONGEST_TEXT + "\ngit push",
        ["git", "push", *many(5_000)],
        "git push \0",
        "git push \udcff",
        "git push | cat " + "| cat " * 300,
    ],
    ids=["long", "comment", "words", "nul", "no text", "pipes"],
)
@pytest.mark.parametrize("judge", [make_judge(EVERYTHING, NO_PUSH), make_judge(EVERYTHING)])
def test_a_command_text_that_is_not_read_is_refused(judge: PolicyJudge, command: JsonValue) -> None:
    verdict = judged(judge, SHELL, {"command": command})
    assert isinstance(verdict, Deny), "a deny must not become a question by padding"
    assert "It is not read: the text " in verdict.reason
    assert "put it into a script" in verdict.reason


async def test_what_is_not_judged_is_explained() -> None:
    prepared = judged(make_judge(), SHELL, {"command": "x" * 9_000}).prepared
    told = await make_judge().explain(prepared)
    assert (told.verdict, told.stage) == ("deny", "capabilities")
    (use,) = told.uses
    assert use.doubt == f"the text is longer than {LONGEST_TEXT} bytes"
    assert use.otherwise is not None
    assert "put it into a script" in use.otherwise


@pytest.mark.parametrize(
    ("count", "offered"), [(MOST_REMEMBERED, True), (MOST_REMEMBERED + 1, False)]
)
async def test_one_answer_makes_a_bounded_number_of_grants(count: int, offered: bool) -> None:
    judge = make_judge()
    ask = judged(judge, WRITER, {"path": many(count)})
    assert isinstance(ask, Ask)
    assert ("session" in ask.offers) is offered
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    assert len(judge.session_rules) == (count if offered else 0)


def test_a_question_about_many_names_a_few_and_counts_the_rest() -> None:
    ask = judged(make_judge(), WRITER, {"path": many(500)})
    assert isinstance(ask, Ask)
    assert "'f0'" in ask.reason
    assert "'f499'" not in ask.reason
    assert ask.reason.endswith("490 more are in question.")
