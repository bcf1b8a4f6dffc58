"""Of several voices the strictest counts: spellings, rule books, agents above, answers, caches."""

from collections.abc import Sequence
from typing import cast

import msgspec
import pytest
from policy.judge_kit import ASKS, EDITOR, EVERYTHING, PURE, SHELL, WRITER, action, judged, prepared
from policy.rules_kit import rule
from support import make_judge

from holdfast.contract.call import Ask, Deny, Permit
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Action, Remember, Rule, RuleScope, Use
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.policy import words
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Look, Looked
from holdfast.policy.watchdog import Specialist
from holdfast.testing.fakes import FakeGrants

ALWAYS = Answer(allowed=True, by="ada", remember="session")
NEVER = Answer(allowed=False, by="ada", remember="session")


def also_spelled(*spellings: str) -> Look:
    """Every target is found under these names, too."""

    def look(_tool: Tool, use: Use) -> Looked:
        return Looked(msgspec.structs.replace(use, spellings=spellings))

    return look


async def answer_with(judge: PolicyJudge, ask: Ask, answer: Answer | None) -> Permit | Deny:
    return await judge.answered(ask, answer)


def asked(judge: PolicyJudge, tool: Tool, **arguments: str) -> Ask:
    verdict = judged(judge, tool, dict(arguments))
    assert isinstance(verdict, Ask)
    return verdict


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("link", "ask"),
        ("{link,one}", "ask"),
        ("{link,two}", "ask"),
        ("{one,two}", "ask"),
        ("{link,one,two}", "allow"),
    ],
)
def test_an_allow_has_to_fit_every_spelling_of_a_path(pattern: str, wanted: Action) -> None:
    judge = make_judge(rule("writer", pattern), look=also_spelled("one", "two"))
    assert action(judged(judge, WRITER, {"path": "link"})) == wanted


@pytest.mark.parametrize("stricter", ["deny", "ask"])
@pytest.mark.parametrize("spelling", ["link", "one", "two"])
def test_anything_stricter_counts_for_each_spelling_alone(spelling: str, stricter: Action) -> None:
    rules = (EVERYTHING, rule("writer", spelling, stricter))
    judge = make_judge(*rules, look=also_spelled("one", "two"))
    assert action(judged(judge, WRITER, {"path": "link"})) == stricter


async def test_a_remembered_path_is_remembered_in_every_spelling_and_holds_for_no_other() -> None:
    grants = FakeGrants()
    judge = make_judge(look=also_spelled("one", "two"), grants=grants)
    for_good = Answer(allowed=True, by="ada", remember="project")
    await answer_with(judge, asked(judge, WRITER, path="link"), for_good)
    assert action(judged(judge, WRITER, {"path": "link"})) == "allow"
    moved = make_judge(look=also_spelled("one", "elsewhere"), grants=grants)
    assert action(judged(moved, WRITER, {"path": "link"})) == "ask"


async def test_a_command_is_allowed_and_remembered_as_it_was_written() -> None:
    judge = make_judge(rule("shell", "git -C . log"))
    assert action(judged(judge, SHELL, {"command": "git -C . log"})) == "allow"
    await answer_with(judge, asked(judge, SHELL, command="/usr/bin/git log"), ALWAYS)
    assert action(judged(judge, SHELL, {"command": "/usr/bin/git log"})) == "allow"
    for other in ("git log", "git log ::", "git -C .. log", "/bin/git log"):
        assert action(judged(judge, SHELL, {"command": other})) == "ask"


@pytest.mark.parametrize("stricter", ["deny", "ask"])
@pytest.mark.parametrize("pattern", ["git push -f *", "git push --force *"])
def test_anything_stricter_counts_for_every_spelling_of_a_command(
    pattern: str, stricter: Action
) -> None:
    judge = make_judge(EVERYTHING, rule("shell", pattern, stricter))
    for command in ("git push -f a", "git -C . push --force a", "/usr/bin/git push a -qf"):
        assert action(judged(judge, SHELL, {"command": command})) == stricter
    assert action(judged(judge, SHELL, {"command": "git push a"})) == "allow"


@pytest.mark.parametrize("scope", ["session", "project"])
@pytest.mark.parametrize("pinned", [0, 1, 2])
def test_one_pinned_ask_among_several_keeps_asking(scope: RuleScope, pinned: int) -> None:
    patterns = ("**", "out/**", "out/a*")
    asks = [
        rule("writer", pattern, "ask", "manifest", pinned=place == pinned)
        for place, pattern in enumerate(patterns)
    ]
    allowed = rule("writer", "out/a", "allow", scope)
    assert action(judged(make_judge(*asks, allowed), WRITER, {"path": "out/a"})) == "ask"
    loose = [msgspec.structs.replace(one, pinned=False) for one in asks]
    assert action(judged(make_judge(*loose, allowed), WRITER, {"path": "out/a"})) == "allow"


@pytest.mark.parametrize("stricter", ["deny", "ask"])
@pytest.mark.parametrize("place", range(5))
def test_each_book_decides_alone_while_the_others_allow(place: int, stricter: Action) -> None:
    loose: list[tuple[Rule, ...]] = [(EVERYTHING,)] * 5
    loose[place] = (EVERYTHING, rule("writer", "a", stricter, "project"))
    own, first, second, above, top = loose
    judge = make_judge(
        *own,
        narrowing=(first, second),
        parents=(AgentRules(rules=above), AgentRules(rules=top)),
    )
    assert action(judged(judge, WRITER, {"path": "a"})) == stricter
    assert action(judged(judge, WRITER, {"path": "b"})) == "allow"


@pytest.mark.parametrize(
    ("own", "narrowing", "above"),
    [("deny", "ask", "allow"), ("ask", "deny", "allow"), ("allow", "ask", "deny")],
)
def test_a_deny_counts_beside_an_ask_wherever_they_stand(
    own: Action, narrowing: Action, above: Action
) -> None:
    judge = make_judge(
        rule("writer", "a", own, "project"),
        narrowing=((rule("writer", "a", narrowing, "project"),),),
        parents=(AgentRules(rules=(rule("writer", "a", above, "project"),)),),
    )
    assert action(judged(judge, WRITER, {"path": "a"})) == "deny"


ANYTHING = AgentRules(rules=(EVERYTHING,))
VOUCHED = {"writer": "handed over in code"}


@pytest.mark.parametrize(
    ("own", "above", "top", "wanted"),
    [
        (VOUCHED, VOUCHED, VOUCHED, "allow"),
        (VOUCHED, VOUCHED, {}, "ask"),
        (VOUCHED, {}, VOUCHED, "ask"),
        ({}, VOUCHED, VOUCHED, "ask"),
    ],
)
def test_a_child_has_no_more_standing_than_those_above(
    own: dict[str, str], above: dict[str, str], top: dict[str, str], wanted: Action
) -> None:
    parents = (AgentRules(standing=above), AgentRules(standing=top))
    judge = make_judge(standing=own, parents=parents)
    assert action(judged(judge, WRITER, {"path": "a"})) == wanted


def test_standing_of_one_tool_is_no_other_tools() -> None:
    for name, wanted in (("writer", "allow"), ("editor", "ask")):
        judge = make_judge(standing={name: "handed over in code"}, parents=(ANYTHING,))
        assert action(judged(judge, WRITER, {"path": "a"})) == wanted
        below = make_judge(EVERYTHING, parents=(AgentRules(standing={name: "handed over"}),))
        assert action(judged(below, WRITER, {"path": "a"})) == wanted


def test_a_rule_may_call_a_tool_by_its_servers_name_for_it() -> None:
    foreign = msgspec.structs.replace(WRITER, alias="mcp:files:write")
    rules = (EVERYTHING, rule("mcp:files:write", "**", "deny"))
    assert action(judged(make_judge(*rules), foreign, {"path": "a"})) == "deny"
    assert action(judged(make_judge(*rules), WRITER, {"path": "a"})) == "allow"


def test_what_is_the_sessions_own_needs_nobodys_standing() -> None:
    def own(_tool: Tool, use: Use) -> Looked:
        return Looked(use, free=True)

    judge = make_judge(look=own, parents=(AgentRules(),))
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"


VOUCHED_SHELL = {"shell": "handed over in code"}


@pytest.mark.parametrize("command", ["git $x", "git log > $x", "eval $x", "'open"])
def test_standing_covers_no_doubt(command: str) -> None:
    own = make_judge(standing=VOUCHED_SHELL)
    assert action(judged(own, SHELL, {"command": "git log"})) == "allow"
    assert action(judged(own, SHELL, {"command": command})) == "ask"
    below = make_judge(
        rule("shell", "**"), standing=VOUCHED_SHELL, parents=(AgentRules(standing=VOUCHED_SHELL),)
    )
    assert action(judged(below, SHELL, {"command": command})) == "ask"


def test_where_a_redirection_leads_is_a_doubt_of_its_own() -> None:
    ask = asked(make_judge(EVERYTHING), SHELL, command="git log > $x < $y")
    told = {(use.capability, use.doubt is not None) for use in ask.uses}
    assert told == {("fs.write", True), ("fs.read", True), ("shell.run", True)}
    assert ask.offers == ("once",)


def test_one_doubt_among_several_uses_is_enough_not_to_remember() -> None:
    ask = asked(make_judge(), SHELL, command="make; git $x")
    assert [use.doubt is None for use in ask.uses] == [True, True, False]
    assert ask.offers == ("once",)


def test_a_spelling_that_is_too_long_is_not_remembered() -> None:
    for length, offers in ((1_000, ("once", "session", "project")), (1_001, ("once",))):
        for judge, path in (
            (make_judge(look=also_spelled("x" * length)), "a"),
            (make_judge(), "x" * length),
        ):
            assert asked(judge, WRITER, path=path).offers == offers


@pytest.mark.parametrize("remember", ["session", "project"])
@pytest.mark.parametrize("allowed", [True, False])
async def test_an_answer_that_was_not_offered_is_not_remembered(
    *, remember: Remember, allowed: bool
) -> None:
    grants = FakeGrants()
    judge = make_judge(grants=grants)
    answer = Answer(allowed=allowed, by="ada", remember=remember)
    for ask in (
        asked(judge, WRITER, path="x" * 2_000),
        asked(judge, SHELL, command="git $x"),
        asked(judge, ASKS),
    ):
        assert ask.offers == ("once",)
        await answer_with(judge, ask, answer)
    assert (judge.session_rules, grants.load()) == ((), ())


async def test_only_what_was_asked_is_remembered() -> None:
    judge = make_judge(rule("fs.read", "**", "allow", "project"))
    ask = asked(judge, EDITOR, path="a")
    assert [use.capability for use in ask.uses] == ["fs.write"]
    await answer_with(judge, ask, ALWAYS)
    assert [kept.capability for kept in judge.session_rules] == ["fs.write"]


def please(_inspection: Inspection, /) -> Opinion:
    return Opinion("ask", "Please look.")


def deny(_inspection: Inspection, /) -> Opinion:
    return Opinion("deny", "No.")


async def please_later(_inspection: Inspection, /) -> Opinion:
    return Opinion("ask", "Please look.")


async def test_where_only_the_watchdog_asks_all_uses_are_in_question() -> None:
    judge = make_judge(rule("editor", "**", "allow", "manifest"), hooks=[please])
    ask = asked(judge, EDITOR, path="a")
    assert [use.capability for use in ask.uses] == ["fs.read", "fs.write"]
    await answer_with(judge, ask, ALWAYS)
    assert action(judged(judge, EDITOR, {"path": "a"})) == "allow"


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        (rule("fs.write", "a", "allow", "session"), "allow"),
        (rule("fs.write", "a", "allow", "manifest"), "ask"),
        (None, "ask"),
    ],
)
def test_a_person_answers_the_watchdog_only_for_every_use(
    other: Rule | None, wanted: Action
) -> None:
    rules = [rule("fs.read", "a", "allow", "session"), *([] if other is None else [other])]
    judge = make_judge(*rules, hooks=[please], standing={"editor": "handed over in code"})
    assert action(judged(judge, EDITOR, {"path": "a"})) == wanted


def test_a_persons_own_ask_does_not_answer_the_watchdog() -> None:
    judge = make_judge(rule("writer", "a", "ask", "session"), hooks=[please])
    ask = asked(judge, WRITER, path="a")
    assert "rule writer 'a'" in ask.reason
    assert ask.reason.endswith("Please look.")


@pytest.mark.parametrize("hook", [please, please_later])
async def test_whoever_asks_nobody_is_refused_at_once(hook: Hook) -> None:
    verdict = make_judge(hooks=[hook], headless=True)(prepared(PURE))
    if not isinstance(verdict, (Permit, Ask, Deny)):
        verdict = await verdict
    assert isinstance(verdict, Deny)
    assert verdict.reason == words.NOBODY_TO_ASK


@pytest.mark.parametrize("first", [WRITER, SHELL])
def test_a_hook_is_asked_about_its_capabilities_whatever_was_called_before(first: Tool) -> None:
    judge = make_judge(EVERYTHING, hooks=[Specialist(deny, "shell.run")])
    judged(judge, first, {"path": "a", "command": "make"})
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"
    assert action(judged(judge, SHELL, {"command": "make"})) == "deny"
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"


@pytest.mark.parametrize(("answer", "wanted"), [(ALWAYS, "allow"), (NEVER, "deny")])
async def test_an_answer_counts_at_once_for_a_tool_without_arguments(
    answer: Answer, wanted: Action
) -> None:
    judge = make_judge(rule("pure", "*", "ask", "project"))
    await answer_with(judge, asked(judge, PURE), answer)
    assert action(judged(judge, PURE)) == wanted


async def test_a_later_refusal_counts_after_calls_that_were_allowed() -> None:
    judge = make_judge(rule("pure", "*", "ask", "project"))
    first, second = asked(judge, PURE), asked(judge, PURE)
    await answer_with(judge, first, ALWAYS)
    assert [action(judged(judge, PURE)) for _ in range(2)] == ["allow", "allow"]
    await answer_with(judge, second, NEVER)
    assert action(judged(judge, PURE)) == "deny"


@pytest.mark.parametrize("word", ["no", "yes", 1])
async def test_only_yes_itself_is_a_yes(word: object) -> None:
    judge = make_judge()
    answer = Answer(allowed=cast("bool", word), by="ada")
    denied = await answer_with(judge, asked(judge, WRITER, path="a"), answer)
    assert isinstance(denied, Deny)
    assert denied.kind is FailureKind.USER_DENIED


class Unreadable(FakeGrants):
    """Somebody spoilt what was kept, after the session began."""

    broken = False

    def load(self) -> tuple[Rule, ...]:
        if self.broken:
            raise ValueError("spoilt")
        return super().load()

    def add(self, grants: Sequence[Rule], /) -> None:
        if self.broken:
            raise ValueError("spoilt")
        super().add(grants)


@pytest.mark.parametrize("remember", ["session", "project"])
async def test_spoilt_grants_take_no_rule_and_no_answer_away(remember: Remember) -> None:
    grants = Unreadable()
    grants.add([rule("writer", "known", "allow", "project", remembered=True)])
    judge = make_judge(rule("writer", "secret", "deny", "project"), grants=grants)
    grants.broken = True
    answer = Answer(allowed=True, by="ada", remember=remember)
    await answer_with(judge, asked(judge, WRITER, path="a"), answer)
    for path, wanted in (("a", "allow"), ("known", "allow"), ("secret", "deny"), ("b", "ask")):
        assert action(judged(judge, WRITER, {"path": path})) == wanted
