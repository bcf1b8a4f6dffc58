"""What may be answered to a question: a wider yes for all files of the workspace, and no more."""

import msgspec
import pytest
from policy.judge_kit import EDITOR, WRITER, action, judged
from policy.rules_kit import rule
from support import make_judge, make_tool

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Remember, Rule, Use
from holdfast.contract.tool import ArgumentUse
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.powers import AgentRules
from holdfast.policy.prefixes import ANY_FILE, wider_patterns

ASKS = rule("fs.write", "*", "ask", "project")
BY_NAME = rule("writer", "**", "ask", "manifest")
FETCHER = msgspec.structs.replace(
    make_tool(name="fetcher"), uses=(ArgumentUse(argument="url", capability="net.fetch"),)
)


def wider(remember: Remember = "session") -> Answer:
    return Answer(allowed=True, by="ada", remember=remember, wider=True)


def asked(*rules: Rule, path: str = "src/a.py") -> Ask:
    found = judged(make_judge(*rules), WRITER, {"path": path})
    assert isinstance(found, Ask)
    return found


@pytest.mark.parametrize("remember", ["session", "project"])
@pytest.mark.parametrize("asking", [ASKS, BY_NAME, rule("*", "*", "ask", "project")])
async def test_one_yes_is_enough_for_every_file_of_the_workspace(
    asking: Rule, remember: Remember
) -> None:
    judge = make_judge(asking)
    found = judged(judge, WRITER, {"path": "src/a.py"})
    assert isinstance(found, Ask)
    assert found.wider == (ANY_FILE,)
    await judge.answered(found, wider(remember))
    for path in ("src/a.py", "b.py", "deep/er/c.py", ".hidden/d"):
        assert action(judged(judge, WRITER, {"path": path})) == "allow", path
    assert action(judged(judge, WRITER, {"path": "/srv/elsewhere.txt"})) == "ask"


async def test_without_the_star_it_is_this_file_alone() -> None:
    judge = make_judge(ASKS)
    found = judged(judge, WRITER, {"path": "a.py"})
    assert isinstance(found, Ask)
    await judge.answered(found, msgspec.structs.replace(wider(), wider=False))
    assert action(judged(judge, WRITER, {"path": "a.py"})) == "allow"
    assert action(judged(judge, WRITER, {"path": "b.py"})) == "ask"


async def test_it_counts_for_the_tool_that_was_asked_about_and_what_it_did() -> None:
    judge = make_judge(ASKS, rule("fs.read", "*", "ask", "project"))
    found = judged(judge, EDITOR, {"path": "a.py"})
    assert isinstance(found, Ask)
    await judge.answered(found, wider())
    assert action(judged(judge, EDITOR, {"path": "b.py"})) == "allow"
    assert action(judged(judge, WRITER, {"path": "b.py"})) == "ask"
    capabilities = {one.capability for one in judge.session_rules if one.pattern == ANY_FILE}
    assert capabilities == {"fs.read", "fs.write"}


async def test_a_deny_and_a_closer_ask_stand_above_it() -> None:
    judge = make_judge(
        ASKS,
        rule("fs.write", "secrets/", "deny", "project"),
        rule("fs.write", "notes/archive/", "ask", "project"),
    )
    found = judged(judge, WRITER, {"path": "a.py"})
    assert isinstance(found, Ask)
    await judge.answered(found, wider())
    assert action(judged(judge, WRITER, {"path": "b.py"})) == "allow"
    assert action(judged(judge, WRITER, {"path": "secrets/key"})) == "deny"
    assert action(judged(judge, WRITER, {"path": "notes/archive/2024.md"})) == "ask"


@pytest.mark.parametrize(
    "rules",
    [
        (rule("fs.write", "src/*.py", "ask", "project"),),
        (ASKS, rule("fs.write", "src/", "ask", "project")),
    ],
)
def test_where_a_closer_rule_would_ask_again_it_is_not_offered(rules: tuple[Rule, ...]) -> None:
    found = asked(*rules)
    assert (found.offers, found.wider) == (("once", "session", "project"), ())


def test_where_nothing_can_be_remembered_it_is_not_offered() -> None:
    pinned = msgspec.structs.replace(BY_NAME, pinned=True)
    found = asked(pinned)
    assert (found.offers, found.wider) == (("once",), ())
    above = AgentRules(rules=(rule("fs.write", "*", "ask", "project"),))
    found = judged(make_judge(parents=(above,)), WRITER, {"path": "a.py"})
    assert isinstance(found, Ask)
    assert (found.offers, found.wider) == (("once",), ())


def test_a_file_elsewhere_and_a_host_stay_exact() -> None:
    assert asked(ASKS, path="/srv/a.py").wider == ()
    found = judged(make_judge(), FETCHER, {"url": "https://example.com"})
    assert isinstance(found, Ask)
    assert found.wider == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"doubt": "a link"},
        {"declared": True},
        {"within": "echo > a"},
        {"spellings": ("/srv/a",)},
        {"capability": "fs.read"},
    ],
)
def test_what_must_stay_exact_is_not_widened(changed: dict[str, object]) -> None:
    use = Use(capability="fs.write", kind="path", target="a")
    assert wider_patterns([use]) == (ANY_FILE,)
    assert wider_patterns([msgspec.structs.replace(use, **changed)]) == ()


def _asks_about_keys(inspection: Inspection, /) -> Opinion:
    keys = any("key" in use.target for use in inspection.uses)
    return Opinion("ask", "It may be a key.") if keys else Opinion()


async def test_what_the_watchdog_asks_about_is_asked_about_each_time() -> None:
    judge = make_judge(ASKS, hooks=[_asks_about_keys])
    found = judged(judge, WRITER, {"path": "a.py"})
    assert isinstance(found, Ask)
    await judge.answered(found, wider())
    watched = judged(judge, WRITER, {"path": "key.pem"})
    assert isinstance(watched, Ask)
    assert (watched.reason, watched.wider) == ("It may be a key.", ())
