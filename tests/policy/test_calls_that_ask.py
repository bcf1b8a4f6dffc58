"""Tools that say of each call what it uses and whether it asks; commands left to a person."""

from collections.abc import Iterable

import msgspec
import pytest
from policy.judge_kit import PURE, action, judged, prepared
from policy.rules_kit import rule
from policy.test_command_policies import HERE
from support import make_judge

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.call import Ask, Deny, Permit
from holdfast.contract.commanding import CommandDone, CommandPolicy
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.contract.requirements import requirement_set
from holdfast.contract.tool import NamedUse, Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.approval import ApprovalLedger
from holdfast.policy.command_policies import form_of
from holdfast.policy.hooks.profile_commands import ProfileCommands
from holdfast.policy.uses import MOST_USES
from holdfast.runtime.turn import runs_commands
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio


def uses_of(arguments: JsonObject) -> Iterable[NamedUse]:
    given = arguments.get("use")
    count = arguments.get("count", 1)
    assert isinstance(count, int)
    if not isinstance(given, list):
        return []
    capability, target, *place = map(str, given)
    one = NamedUse(capability=capability, target=target, directory=place[0] if place else None)
    return [one] * count


def asks_for(arguments: JsonObject) -> bool:
    return arguments.get("name") == "writes"


HAND = msgspec.structs.replace(
    PURE,
    name="hand",
    uses_of=uses_of,
    asks_for=asks_for,
    person_decides=True,
    requires=requirement_set({"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}),
)
WRITES: JsonObject = {"name": "writes", "use": ["shell.run", "rm x"]}
READS: JsonObject = {"name": "reads", "use": ["fs.read", "a"]}
ALLOWED = (rule("hand", "**", "allow", "project"), rule("*", "**", "allow", "project"))


async def test_whether_a_call_asks_hangs_on_its_arguments_in_whatever_order_they_come() -> None:
    judge = make_judge(*ALLOWED)
    for arguments, wanted in ((READS, "allow"), (WRITES, "ask"), (READS, "allow"), (WRITES, "ask")):
        assert action(judged(judge, HAND, arguments)) == wanted
    idle = msgspec.structs.replace(HAND, uses_of=None, requires=requirement_set({}))
    quick = make_judge()
    for arguments, wanted in ((READS, "allow"), (WRITES, "ask")):
        assert action(judged(quick, idle, arguments)) == wanted


async def test_no_answer_of_before_answers_a_call_that_always_asks() -> None:
    judge = make_judge(*ALLOWED)
    ask = judged(judge, HAND, WRITES)
    assert isinstance(ask, Ask)
    assert ask.offers == ("once",)
    assert ask.reason == "Tool 'hand' always asks before it does this."
    yes = Answer(allowed=True, by="a person", remember="project", wider=True)
    assert isinstance(await judge.answered(ask, yes), Permit)
    assert action(judged(judge, HAND, WRITES)) == "ask"
    no = await judge.answered(ask, Answer(allowed=False, by="a person"))
    assert isinstance(no, Deny)
    assert no.reason == "The user denied confirmation for hand."
    told = await judge.explain(prepared(HAND, WRITES))
    assert (told.verdict, told.unattended, told.stage) == ("ask", "deny", "tool")
    assert (await judge.explain(prepared(HAND, READS))).verdict == "allow"
    ledger = ApprovalLedger()
    assert ledger.request(ask, "apr_1", FakeClock().now()).permission_policy == "always_ask"


async def test_where_nobody_is_there_it_is_refused() -> None:
    judge = make_judge(*ALLOWED, headless=True)
    assert action(judged(judge, HAND, WRITES)) == "deny"
    assert action(judged(judge, HAND, READS)) == "allow"


async def test_what_a_call_uses_is_judged_and_what_it_does_not_use_is_not() -> None:
    allowed = rule("fs.read", "**", "allow", "project")
    denied = rule("fs.write", "b", "deny", "project")
    judge = make_judge(allowed, denied, rule("shell.run", "*", "deny", "project"))
    assert action(judged(judge, HAND, READS)) == "allow"
    assert action(judged(judge, HAND, {"use": ["fs.write", "b"]})) == "deny"
    assert action(judged(judge, HAND, {"use": ["shell.run", "ls"]})) == "deny"
    assert action(judged(judge, HAND, {})) == "allow"


async def test_what_cannot_be_judged_is_refused() -> None:
    judge = make_judge(*ALLOWED)
    refused: tuple[JsonObject, ...] = (
        {"use": ["fs.read", "a"], "count": MOST_USES + 1},
        {"use": ["shell.run", "a\0b"]},
    )
    for arguments in refused:
        assert action(judged(judge, HAND, arguments)) == "deny"


def hook(policy: CommandPolicy = "managed", *, left: bool = True) -> ProfileCommands:
    return ProfileCommands(policy, HERE, None, lambda _tool: left)


def looked(of: ProfileCommands, tool: Tool, arguments: JsonObject) -> Opinion:
    inspection = Inspection(prepared=prepared(tool, arguments), manifest=NO_AGENT, uses=())
    found = of(inspection)
    assert isinstance(found, Opinion)
    return found


async def test_a_list_of_commands_holds_whatever_asks_nobody() -> None:
    quiet: JsonObject = {**WRITES, "name": "reads"}
    assert looked(hook(), HAND, WRITES) is NOTHING_AGAINST_IT
    assert looked(hook(), HAND, quiet).verdict == "deny"
    # A profile that only reads does so whoever is asked.
    assert looked(hook("read_only"), HAND, WRITES).verdict == "deny"
    # Nor is it enough to ask: the tool has to be one whose commands are left to a person.
    listed = msgspec.structs.replace(HAND, person_decides=False)
    assert looked(hook(), listed, WRITES).verdict == "deny"
    always = msgspec.structs.replace(HAND, asks_for=None, permission_policy="always_ask")
    assert looked(hook(), always, quiet) is NOTHING_AGAINST_IT
    # And those above it have to leave them to a person, too.
    assert looked(hook(left=False), HAND, WRITES).verdict == "deny"


async def test_a_command_is_judged_where_it_begins() -> None:
    begins: list[str | None] = ["sub", None]

    async def place() -> str | None:
        return begins.pop(0)

    held = ProfileCommands("managed", HERE, place)
    inspection = Inspection(
        prepared=prepared(HAND, {"use": ["shell.run", "cat ../a"]}), manifest=NO_AGENT, uses=()
    )
    for wanted in ("allow", "deny"):
        found = held(inspection)
        assert not isinstance(found, Opinion)
        assert (await found).verdict == wanted
    there: JsonObject = {"use": ["shell.run", "cat ../a", "sub"]}
    assert looked(held, HAND, there) is NOTHING_AGAINST_IT


async def test_a_session_that_keeps_nothing_begins_in_its_workspace() -> None:
    form = form_of("any")
    assert (await form.ground()).cwd is None
    await form.ran(CommandDone(call_id="call_1", command="ls", cwd="/"))
    assert (await form.ground()).environment == {}


def test_a_tool_counts_as_one_that_runs_commands_where_any_call_of_it_may() -> None:
    assert runs_commands(HAND)
    assert not runs_commands(msgspec.structs.replace(HAND, requires=requirement_set({})))
    assert not HAND.is_pure
