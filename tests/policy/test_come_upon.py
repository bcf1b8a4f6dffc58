"""What the rules say of what a call comes upon, and what a person agreed to."""

import msgspec
import pytest
from policy.judge_kit import WRITER, prepared
from policy.rules_kit import rule, use
from support import make_judge

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Action
from holdfast.policy import bounds as bounding
from holdfast.policy.powers import AgentRules

pytestmark = pytest.mark.anyio

PATH = use("fs.write", "notes/a")
HOST = use("net.fetch", "evil.example")


def test_silence_and_an_allow_say_nothing() -> None:
    bounds = make_judge(rule("fs.write", "other/**", "deny")).bounds
    assert bounds.against(WRITER, "c", PATH) is None
    bounds = make_judge(rule("fs.write", "**", "deny"), rule("fs.write", "notes/**")).bounds
    assert bounds.against(WRITER, "c", PATH) is None


@pytest.mark.parametrize(("action", "said"), [("deny", "denies"), ("ask", "says to ask about")])
def test_a_rule_that_speaks_against_it_is_cited(action: Action, said: str) -> None:
    bounds = make_judge(rule("fs.write", "notes/**", action)).bounds
    told = bounds.against(WRITER, "c", PATH)
    assert told is not None
    assert f"session rule fs.write 'notes/**' (test) {said} fs.write on 'notes/a'" in told
    assert bounds.narrow(WRITER, "fs.write")
    assert not bounds.narrow(WRITER, "fs.read")


def test_the_strictest_book_counts() -> None:
    asks, denies = rule("fs.write", "**", "ask"), rule("fs.write", "**", "deny")
    above = AgentRules(rules=(denies,))
    for judge in (
        make_judge(asks, parents=(above,)),
        make_judge(asks, narrowing=((denies,),)),
        make_judge(rule("fs.write", "notes/a"), narrowing=((denies,),)),
    ):
        told = judge.bounds.against(WRITER, "c", PATH)
        assert told is not None
        assert "denies" in told


async def test_an_ask_is_lifted_for_the_call_a_person_agreed_to() -> None:
    judge = make_judge(rule("fs.write", "notes/**", "ask"))
    call = prepared(WRITER, {"path": "notes/b"})
    ask = judge(call)
    assert isinstance(ask, Ask)
    assert judge.bounds.against(WRITER, call.call.id, PATH) is not None
    await judge.answered(ask, Answer(allowed=True, by="ada"))
    assert judge.bounds.against(WRITER, call.call.id, PATH) is None
    assert judge.bounds.against(WRITER, "another", PATH) is not None


def test_a_deny_is_lifted_for_nobody() -> None:
    bounds = make_judge(rule("*", "**", "deny")).bounds
    bounds.agree(prepared(WRITER), [PATH])
    assert bounds.against(WRITER, prepared(WRITER).call.id, PATH) is not None


def test_of_hosts_only_the_one_that_was_shown_is_agreed_to() -> None:
    bounds = make_judge(rule("net.fetch", "*", "ask")).bounds
    call = prepared(WRITER)
    bounds.agree(call, [use("net.fetch", "good.example")])
    good = use("net.fetch", "good.example")
    assert bounds.against(WRITER, call.call.id, good) is None
    assert bounds.against(WRITER, call.call.id, HOST) is not None
    assert bounds.against(WRITER, "another", good) is not None
    # Processes are of no call.
    assert bounds.against(WRITER, None, good) is None
    assert bounds.against(WRITER, None, HOST) is not None


def test_only_so_many_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "_MOST_CALLS", 2)
    bounds = make_judge(rule("fs.write", "**", "ask")).bounds
    one = prepared(WRITER)
    calls = [
        msgspec.structs.replace(one, call=msgspec.structs.replace(one.call, id=f"c{number}"))
        for number in range(3)
    ]
    for call in calls:
        bounds.agree(call, [PATH])
    kept = [bounds.against(WRITER, call.call.id, PATH) is None for call in calls]
    assert kept == [False, True, True]
