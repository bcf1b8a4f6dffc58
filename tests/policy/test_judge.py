"""Capabilities, rules, watchdog, approval: in this order, and each can refuse."""

import msgspec
import pytest
from policy.judge_kit import ASKS, EDITOR, EVERYTHING, PURE, WRITER, action, judged, prepared
from policy.rules_kit import rule
from support import in_reach, make_call, make_judge, make_pipeline, make_tool

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.call import Ask, Deny, Permit
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonValue
from holdfast.contract.requirements import requirement_set
from holdfast.contract.rules import Action, Rule, RuleScope, Use
from holdfast.contract.tool import ArgumentUse, Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy import words
from holdfast.policy.powers import AgentRules, Looked
from holdfast.runtime.abort import Abort
from holdfast.testing.fakes import FakeApprover


class Watching:
    """A hook that counts, and says what it is told to."""

    def __init__(self, opinion: Opinion = NOTHING_AGAINST_IT) -> None:
        self.seen: list[Inspection] = []
        self._opinion = opinion

    def __call__(self, inspection: Inspection, /) -> Opinion:
        self.seen.append(inspection)
        return self._opinion


def out_of_reach(_tool: Tool, use: Use) -> Looked:
    return Looked(use, "It is outside what was declared.")


def test_a_tool_that_needs_nothing_runs_where_no_rule_speaks() -> None:
    permit = judged(make_judge(), PURE)
    assert isinstance(permit, Permit)
    assert permit.grounds == "no rule speaks against it"
    denied = judged(make_judge(rule("pure", "*", "deny")), PURE)
    assert isinstance(denied, Deny)


@pytest.mark.req("SPEC-PERM-08", "SPEC-MCP-02")
def test_a_server_tool_that_declares_nothing_is_asked() -> None:
    foreign = msgspec.structs.replace(PURE, ownership="mcp")
    assert action(judged(make_judge(), foreign)) == "ask"


def test_a_source_that_vouches_for_a_tool_is_not_asked_where_no_rule_speaks() -> None:
    judge = make_judge(standing={"writer": "handed over in code"})
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"
    asking = make_judge(rule("*", "*", "ask"), standing={"writer": "handed over in code"})
    assert action(judged(asking, WRITER, {"path": "a"})) == "ask"


@pytest.mark.req("SPEC-PERM-11")
@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ([rule("fs.read", "**")], "ask"),
        ([rule("fs.read", "**"), rule("fs.write", "**")], "allow"),
        ([rule("fs.read", "**"), rule("fs.write", "**", "deny")], "deny"),
        ([rule("editor", "**")], "allow"),
    ],
)
def test_a_call_with_several_capabilities_is_judged_once_for_each(
    rules: list[Rule], wanted: Action
) -> None:
    assert action(judged(make_judge(*rules), EDITOR, {"path": "a"})) == wanted


@pytest.mark.req("SPEC-WATCH-08")
def test_what_is_out_of_reach_is_refused_before_anybody_else_is_asked() -> None:
    watching = Watching()
    judge = make_judge(EVERYTHING, hooks=[watching], look=out_of_reach)
    verdict = judged(judge, WRITER, {"path": "a"})
    assert isinstance(verdict, Deny)
    assert verdict.kind is FailureKind.REJECTED
    assert "outside what was declared" in verdict.reason
    assert watching.seen == []


@pytest.mark.req("SPEC-WATCH-13", "OSA-EXE-07")
def test_a_deny_of_the_rules_ends_it_before_the_watchdog() -> None:
    watching = Watching()
    judge = make_judge(rule("writer", "**", "deny", reason="Read only."), hooks=[watching])
    verdict = judged(judge, WRITER, {"path": "a"})
    assert isinstance(verdict, Deny)
    assert verdict.reason.startswith("Execution denied by policy for tool: writer")
    assert verdict.reason.endswith("Read only.")
    assert watching.seen == []


@pytest.mark.req("SPEC-WATCH-01", "SPEC-WATCH-03")
def test_the_watchdog_sees_every_call_with_what_it_is_about() -> None:
    watching = Watching()
    judge = make_judge(EVERYTHING, hooks=[watching])
    assert action(judged(judge, PURE)) == "allow"
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"
    pure, writer = watching.seen
    assert (pure.tool, pure.arguments, pure.session_id) == ("pure", {}, "ses_test")
    assert (writer.tool, writer.arguments) == ("writer", {"path": "a"})
    assert writer.manifest == NO_AGENT
    assert [one.target for one in writer.uses] == ["a"]


@pytest.mark.req("SPEC-WATCH-07", "SPEC-WATCH-09")
def test_nothing_overrides_a_deny_of_the_watchdog() -> None:
    remembered = rule("writer", "a", "allow", "project", remembered=True)
    judge = make_judge(
        EVERYTHING, remembered, hooks=[Watching(Opinion("deny", "Looks like theft."))]
    )
    verdict = judged(judge, WRITER, {"path": "a"})
    assert isinstance(verdict, Deny)
    assert verdict.kind is FailureKind.REJECTED
    assert "Looks like theft." in verdict.reason


@pytest.mark.req("SPEC-WATCH-05", "SPEC-HEAD-01")
def test_a_question_of_the_watchdog_is_a_refusal_where_nobody_is() -> None:
    asks = Watching(Opinion("ask", "Please look."))
    manifest = rule("*", "**", "allow", "manifest")
    verdict = judged(make_judge(manifest, hooks=[asks]), WRITER, {"path": "a"})
    assert isinstance(verdict, Ask)
    assert verdict.reason == "Please look."
    refused = judged(make_judge(manifest, hooks=[asks], headless=True), WRITER, {"path": "a"})
    assert isinstance(refused, Deny)
    assert (refused.kind, refused.reason) == (FailureKind.REJECTED, words.NOBODY_TO_ASK)


@pytest.mark.req("SPEC-WATCH-12")
@pytest.mark.parametrize(
    ("scope", "wanted"), [("session", "allow"), ("project", "allow"), ("manifest", "ask")]
)
def test_a_person_who_allowed_it_answers_the_watchdog_and_a_manifest_does_not(
    scope: RuleScope, wanted: Action
) -> None:
    allowed = rule("writer", "a", "allow", scope)
    judge = make_judge(allowed, hooks=[Watching(Opinion("ask", "Please look."))])
    assert action(judged(judge, WRITER, {"path": "a"})) == wanted


@pytest.mark.req("SPEC-WATCH-11")
def test_rules_and_watchdog_ask_in_one_question() -> None:
    verdict = judged(
        make_judge(hooks=[Watching(Opinion("ask", "Please look."))]), EDITOR, {"path": "a"}
    )
    assert isinstance(verdict, Ask)
    assert verdict.reason == (
        "Tool 'editor': no rule speaks of fs.read on 'a', fs.write on 'a'. Please look."
    )


@pytest.mark.req("BOA-POL-08")
def test_a_tool_that_always_asks_is_not_answered_by_what_is_remembered() -> None:
    remembered = rule("pure", "", "allow", "session", remembered=True)
    verdict = judged(make_judge(EVERYTHING, remembered), ASKS)
    assert isinstance(verdict, Ask)
    assert verdict.offers == ("once",)
    assert action(judged(make_judge(rule("pure", "*", "deny")), ASKS)) == "deny"
    denying = make_judge(hooks=[Watching(Opinion("deny", "no"))])
    assert action(judged(denying, ASKS)) == "deny"


@pytest.mark.req("SPEC-HEAD-01")
def test_a_tool_that_always_asks_is_refused_where_nobody_is() -> None:
    verdict = judged(make_judge(EVERYTHING, headless=True), ASKS)
    assert isinstance(verdict, Deny)
    assert verdict.reason == words.NOBODY_TO_ASK
    assert "no user" in verdict.reason


@pytest.mark.req("SPEC-QUES-08")
@pytest.mark.parametrize("scope", ["manifest", "session", "project"])
def test_nothing_makes_a_question_answerable_where_nobody_is(scope: RuleScope) -> None:
    question = make_tool(name="question")
    allowed = rule("question", "*", "allow", scope)
    verdict = judged(make_judge(allowed, headless=True, hooks=[Watching()]), question)
    assert isinstance(verdict, Deny)
    assert verdict.reason == words.NO_ANSWERS
    assert action(judged(make_judge(allowed), question)) == "allow"


@pytest.mark.req("SPEC-HEAD-04")
def test_a_host_without_a_person_still_has_its_rules() -> None:
    judge = make_judge(rule("writer", "a", "allow", "project"), headless=True)
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"
    assert action(judged(judge, WRITER, {"path": "b"})) == "deny"


@pytest.mark.req("SPEC-TASK-05", "SPEC-TASK-06")
@pytest.mark.parametrize(
    ("above", "wanted"),
    [
        (rule("fs.write", "**", "deny", "manifest"), "deny"),
        (rule("fs.write", "**", "ask", "manifest"), "ask"),
        (rule("fs.write", "**", "allow", "manifest"), "allow"),
        (rule("fs.read", "**", "allow", "manifest"), "ask"),
    ],
)
def test_a_child_is_never_looser_than_those_above(above: Rule, wanted: Action) -> None:
    grandparent = AgentRules(rules=(above,))
    parent = AgentRules(rules=(rule("writer", "**", "allow", "manifest"),))
    judge = make_judge(rule("writer", "a"), parents=(parent, grandparent))
    assert action(judged(judge, WRITER, {"path": "a"})) == wanted


@pytest.mark.parametrize(
    ("project", "wanted"),
    [
        (rule("writer", "a", "allow", "project"), "deny"),
        (rule("writer", "a", "ask", "project"), "deny"),
        (rule("other", "*", "deny", "project"), "deny"),
    ],
)
def test_a_projects_own_rules_cannot_loosen(project: Rule, wanted: Action) -> None:
    ours = rule("writer", "*", "deny", "project")
    judge = make_judge(ours, narrowing=((project,),))
    assert action(judged(judge, WRITER, {"path": "a"})) == wanted


def test_a_projects_own_rules_can_narrow() -> None:
    judge = make_judge(EVERYTHING, narrowing=((rule("writer", "a", "deny", "project"),),))
    assert action(judged(judge, WRITER, {"path": "a"})) == "deny"
    assert action(judged(judge, WRITER, {"path": "b"})) == "allow"


def test_what_a_tool_requires_without_naming_an_argument_is_used_as_declared() -> None:
    requires = requirement_set({"net": {"hosts": ["API.example"]}, "capabilities": ["secrets.has"]})
    tool = msgspec.structs.replace(make_tool(name="fetches"), requires=requires)
    assert action(judged(make_judge(), tool)) == "ask"
    both = (rule("net.fetch", "api.example"), rule("secrets.has", ""))
    assert action(judged(make_judge(*both), tool)) == "allow"
    assert action(judged(make_judge(both[0]), tool)) == "ask"


NOTHING: list[JsonValue] = [[], [[[]]], None]


@pytest.mark.parametrize("nothing", NOTHING)
def test_an_argument_that_names_nothing_escapes_no_rule(nothing: JsonValue) -> None:
    denied = make_judge(rule("fs.write", "*", "deny"))
    assert action(judged(denied, WRITER, {"path": nothing})) == "deny"
    assert action(judged(make_judge(), WRITER, {"path": nothing})) == "ask"
    assert action(judged(make_judge(EVERYTHING), WRITER, {"path": nothing})) == "allow"


def test_each_layer_refuses_on_its_own_while_the_others_permit_everything() -> None:
    permits_all = make_judge(EVERYTHING, hooks=[Watching()], look=in_reach)
    assert action(judged(permits_all, WRITER, {"path": "a"})) == "allow"
    capability = make_judge(EVERYTHING, hooks=[Watching()], look=out_of_reach)
    rules = make_judge(rule("*", "**", "deny"), hooks=[Watching()])
    watchdog = make_judge(EVERYTHING, hooks=[Watching(Opinion("deny", "no"))])
    for judge in (capability, rules, watchdog):
        assert action(judged(judge, WRITER, {"path": "a"})) == "deny"


def test_the_grounds_of_a_permit_name_the_rule() -> None:
    permit = judged(make_judge(EVERYTHING), WRITER, {"path": "a"})
    assert isinstance(permit, Permit)
    assert permit.grounds == "allowed by the project rule * '**' (test)"


async def _later(inspection: Inspection, /) -> Opinion:
    return Opinion("ask", f"Asked outside about {inspection.tool}.")


async def test_a_hook_that_has_to_be_awaited_is() -> None:
    approver = FakeApprover([None])
    judge = make_judge(hooks=[_later])
    pipeline = make_pipeline(PURE, judge=judge, approver=approver)
    envelope = await pipeline.settle(make_call("pure"), Abort())
    assert not envelope.ok
    assert [one.reason for one in approver.asked] == ["Asked outside about pure."]


async def test_a_call_that_an_awaited_hook_has_nothing_against_runs() -> None:
    async def content(_inspection: Inspection, /) -> Opinion:
        return NOTHING_AGAINST_IT

    pipeline = make_pipeline(PURE, judge=make_judge(hooks=[content]))
    assert (await pipeline.settle(make_call("pure"), Abort())).ok


def test_a_hook_cannot_change_the_call() -> None:
    def meddles(inspection: Inspection, /) -> Opinion:
        inspection.arguments["path"] = "elsewhere"
        return NOTHING_AGAINST_IT

    given = prepared(WRITER, {"path": "a"})
    verdict = make_judge(EVERYTHING, hooks=[meddles])(given)
    assert isinstance(verdict, Permit)
    assert verdict.prepared.values == {"path": "a"}


SHELL = msgspec.structs.replace(
    make_tool(name="shell"), uses=(ArgumentUse(argument="command", capability="shell.run"),)
)


@pytest.mark.req("SPEC-PERM-12")
@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git log", "allow"),
        ("git log && git diff", "allow"),
        ("git log > out.txt", "allow"),
        ("git log; rm x", "deny"),
        ("git log; make", "ask"),
        ("git log | sh", "ask"),
        ("git log > other.txt", "ask"),
        ("git log > $x", "ask"),
        ("git log 'open", "ask"),
        ("git $x", "ask"),
    ],
)
def test_each_command_of_a_text_is_judged_and_the_strictest_verdict_counts(
    command: str, wanted: Action
) -> None:
    rules = (
        rule("shell", "git *"),
        rule("fs.write", "out.txt"),
        rule("shell", "rm *", "deny"),
    )
    assert action(judged(make_judge(*rules), SHELL, {"command": command})) == wanted
