"""What is remembered of a person's answer, where, and for how long."""

import threading
from collections.abc import Sequence

import msgspec
import pytest
from policy.judge_kit import ASKS, WRITER, action, judged
from policy.rules_kit import rule
from support import make_call, make_judge, make_pipeline, make_tool

from holdfast.contract.call import Ask, Deny
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.contract.tool import ArgumentUse
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules
from holdfast.runtime.abort import Abort
from holdfast.testing.fakes import FakeApprover, FakeGrants


async def answered(judge: PolicyJudge, *answers: Answer | None) -> tuple[int, list[str | None]]:
    """How often a person was asked over as many calls, and how each ended."""
    ran: list[str] = []
    tool = msgspec.structs.replace(
        make_tool(lambda _values, _runtime: ran.append("x"), name="writer"), uses=WRITER.uses
    )
    approver = FakeApprover(list(answers))
    pipeline = make_pipeline(tool, judge=judge, approver=approver)
    kinds: list[str | None] = []
    for _ in range(3):
        envelope = await pipeline.settle(make_call("writer", {"path": "a*"}), Abort())
        kinds.append(None if envelope.failure is None else envelope.failure.kind.value)
    return len(approver.asked), kinds


@pytest.mark.req("SPEC-REPLY-02")
async def test_once_stores_nothing() -> None:
    judge = make_judge()
    yes = Answer(allowed=True, by="ada")
    assert await answered(judge, yes, yes, yes) == (3, [None, None, None])
    assert judge.session_rules == ()


@pytest.mark.req("SPEC-REPLY-03")
async def test_for_the_project_holds_in_every_session_of_it() -> None:
    grants = FakeGrants()
    first = make_judge(grants=grants)
    assert (await answered(first, Answer(allowed=True, by="ada", remember="project")))[0] == 1
    assert first.session_rules == ()
    other_session = make_judge(grants=grants)
    assert await answered(other_session) == (0, [None, None, None])


@pytest.mark.req("SPEC-REPLY-04", "SPEC-SCOPE-07")
async def test_for_the_session_holds_for_it_alone() -> None:
    grants = FakeGrants()
    judge = make_judge(grants=grants)
    yes = Answer(allowed=True, by="ada", remember="session")
    assert await answered(judge, yes) == (1, [None, None, None])
    assert grants.load() == ()
    fork = make_judge(grants=grants)
    assert await answered(fork, None, None, None) == (3, ["rejected"] * 3)


@pytest.mark.req("SPEC-REPLY-05", "OSA-EXE-08")
async def test_a_refusal_stores_nothing() -> None:
    judge = make_judge()
    no = Answer(allowed=False, by="ada")
    assert await answered(judge, no, no, no) == (3, ["user_denied"] * 3)
    ask = judged(judge, WRITER, {"path": "a"})
    assert isinstance(ask, Ask)
    denied = await judge.answered(ask, no)
    assert isinstance(denied, Deny)
    assert denied.reason.startswith("User denied execution for tool: writer")


@pytest.mark.req("SPEC-REPLY-06")
async def test_a_lasting_refusal_is_a_deny_of_the_session() -> None:
    grants = FakeGrants()
    judge = make_judge(grants=grants)
    no = Answer(allowed=False, by="ada", remember="project")
    assert await answered(judge, no) == (1, ["user_denied", "rejected", "rejected"])
    assert [one.action for one in judge.session_rules] == ["deny"]
    assert grants.load() == ()


@pytest.mark.req("SPEC-REPLY-07", "SPEC-PERM-09")
async def test_what_is_remembered_is_the_exact_target() -> None:
    judge = make_judge()
    ask = judged(judge, WRITER, {"path": "a*"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    (kept,) = judge.session_rules
    assert (kept.permission, kept.pattern, kept.action) == ("writer", r"a\*", "allow")
    assert kept.source == "answer of ada"
    assert kept.added_at is not None
    assert kept.remembered
    assert action(judged(judge, WRITER, {"path": "a*"})) == "allow"
    assert action(judged(judge, WRITER, {"path": "ab"})) == "ask"


async def test_an_answer_is_remembered_no_longer_than_was_offered() -> None:
    judge = make_judge()
    ask = judged(judge, ASKS)
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="project"))
    assert judge.session_rules == ()
    assert action(judged(judge, ASKS)) == "ask"


def test_a_very_long_target_is_not_remembered() -> None:
    ask = judged(make_judge(), WRITER, {"path": "x" * 2_000})
    assert isinstance(ask, Ask)
    assert ask.offers == ("once",)


def offered(judge: PolicyJudge) -> tuple[str, ...]:
    ask = judged(judge, WRITER, {"path": "a"})
    assert isinstance(ask, Ask)
    return ask.offers


def _asks(_inspection: Inspection, /) -> Opinion:
    return Opinion("ask", "Please look.")


ASK = rule("writer", "a*", "ask", "project")
ALLOW = rule("writer", "**", "allow", "manifest")


@pytest.mark.parametrize(
    ("judge", "useful"),
    [
        (make_judge(), True),
        (make_judge(ASK), True),
        (make_judge(ALLOW, hooks=[_asks]), True),
        (make_judge(ASK, hooks=[_asks]), True),
        (make_judge(rule("writer", "a*", "ask", "manifest", pinned=True)), False),
        (make_judge(ALLOW, narrowing=((ASK,),)), False),
        (make_judge(rule("writer", "a", "allow"), narrowing=((ASK,),), hooks=[_asks]), False),
        (make_judge(ALLOW, parents=(AgentRules(rules=(ASK,)),)), False),
        (make_judge(ALLOW, parents=(AgentRules(),)), False),
        (make_judge(rule("writer", "a", "ask", "session")), False),
    ],
)
async def test_nothing_is_offered_that_would_not_hold(judge: PolicyJudge, useful: bool) -> None:
    everything = ("once", "session", "project")
    assert offered(judge) == (everything if useful else ("once",))
    ask = judged(judge, WRITER, {"path": "a"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    assert action(judged(judge, WRITER, {"path": "a"})) == ("allow" if useful else "ask")


async def test_what_a_hook_asks_is_remembered_for_the_whole_call() -> None:
    judge = make_judge(rule("fs.read", "in", "allow", "manifest"), hooks=[_asks])
    ask = judged(judge, COPIES, {"src": "in", "dst": "out"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    assert action(judged(judge, COPIES, {"src": "in", "dst": "out"})) == "allow"


class Full(FakeGrants):
    def add(self, grants: object, /) -> None:
        raise OSError("the disk is full")


async def test_an_answer_that_cannot_be_kept_holds_for_the_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    judge = make_judge(grants=Full())
    ask = judged(judge, WRITER, {"path": "a"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="project"))
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"
    assert [one.scope for one in judge.session_rules] == ["session"]
    (said,) = caplog.records
    assert "the disk is full" in said.getMessage()
    assert said.exc_info is None


async def test_a_refused_confirmation_says_so_with_the_note() -> None:
    judge = make_judge()
    ask = judged(judge, ASKS)
    assert isinstance(ask, Ask)
    for note, text in ((None, "pure."), ("not now", "pure: not now")):
        denied = await judge.answered(ask, Answer(allowed=False, by="ada", note=note))
        assert isinstance(denied, Deny)
        assert denied.kind is FailureKind.USER_DENIED
        assert denied.reason == f"The user denied confirmation for {text}"


COPIES = msgspec.structs.replace(
    make_tool(name="copies{a,b}"),
    uses=(
        ArgumentUse(argument="src", capability="fs.read"),
        ArgumentUse(argument="dst", capability="fs.write"),
    ),
)


async def test_an_answer_about_reading_says_nothing_of_writing() -> None:
    judge = make_judge(rule("fs.write", "out"), rule("fs.read", "in"))
    ask = judged(judge, COPIES, {"src": "conf", "dst": "out"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    assert action(judged(judge, COPIES, {"src": "conf", "dst": "out"})) == "allow"
    assert action(judged(judge, COPIES, {"src": "in", "dst": "conf"})) == "ask"


async def test_the_name_of_a_tool_is_no_pattern() -> None:
    judge = make_judge()
    ask = judged(judge, COPIES, {"src": "x", "dst": "x"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="session"))
    other = msgspec.structs.replace(COPIES, name="copiesa")
    assert action(judged(judge, other, {"src": "x", "dst": "x"})) == "ask"
    assert action(judged(judge, COPIES, {"src": "x", "dst": "x"})) == "allow"


class Elsewhere(FakeGrants):
    """Remembers in which thread it was asked to keep something."""

    thread: int | None = None

    def add(self, grants: Sequence[Rule], /) -> None:
        self.thread = threading.get_ident()
        super().add(grants)


async def test_a_file_is_written_off_the_event_loop() -> None:
    grants = Elsewhere()
    judge = make_judge(grants=grants)
    ask = judged(judge, WRITER, {"path": "a"})
    assert isinstance(ask, Ask)
    await judge.answered(ask, Answer(allowed=True, by="ada", remember="project"))
    assert grants.thread not in {None, threading.get_ident()}
    assert action(judged(judge, WRITER, {"path": "a"})) == "allow"


def test_a_name_that_is_no_text_is_not_remembered() -> None:
    ask = judged(make_judge(), WRITER, {"path": "a\udcff"})
    assert isinstance(ask, Ask)
    assert ask.offers == ("once",)
