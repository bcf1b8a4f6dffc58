"""A hook that is a program: real processes."""

import sys

import msgspec
import pytest
from support import make_call, make_tool

from holdfast.contract.agents import AgentManifest
from holdfast.contract.call import Prepared
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.execution.hook_program import HookProgram
from holdfast.policy.uses import NO_CAPABILITY
from holdfast.policy.watchdog import Watchdog

CALL = Inspection(
    prepared=Prepared(
        call=make_call("probe", {"n": 1}), tool=make_tool(), values={}, checked={"n": 1}
    ),
    manifest=AgentManifest(agent="code", tools=()),
    uses=(NO_CAPABILITY,),
)


def program(code: str, seconds: float = 20.0) -> HookProgram:
    return HookProgram([sys.executable, "-c", code], {}, seconds)


async def asked(hook: HookProgram) -> Opinion:
    opinion = Watchdog([hook]).consult(CALL)
    return opinion if isinstance(opinion, Opinion) else await opinion


async def test_a_program_sees_the_call_and_gives_an_opinion() -> None:
    code = (
        "import json, os, sys; call = json.load(sys.stdin);"
        "shown = [call['tool'], call['arguments'], call['manifest'], call['session_id']];"
        "print(json.dumps({'verdict': 'ask', 'reason': json.dumps([shown, sorted(os.environ)])}))"
    )
    opinion = await asked(program(code))
    assert opinion.verdict == "ask"
    assert '["probe", {"n": 1}, {"agent": "code", "tools": []}, "ses_test"]' in opinion.reason
    assert "HOME" not in opinion.reason


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print('hm')", "JSON"),
        ("print('{}')", "verdict"),
        ("import sys; sys.exit('it broke')", "status 1: it broke"),
        ("import sys; sys.exit(3)", "status 3)."),
        ('print(\'{"verdict": "perhaps"}\')', "perhaps"),
        ("print(' ' * 100_000)", "too long"),
        ("while True: print(' ' * 100_000)", "too long"),
        ("import sys; sys.stderr.write('x' * 1_000_000 + 'end'); sys.exit(2)", "status 2: xxx"),
    ],
)
async def test_any_other_answer_is_a_refusal(code: str, said: str) -> None:
    opinion = await asked(program(code))
    assert opinion.verdict == "deny"
    assert said in opinion.reason


async def test_a_program_may_answer_without_reading_a_large_call() -> None:
    large = msgspec.structs.replace(
        CALL, prepared=msgspec.structs.replace(CALL.prepared, checked={"text": "x" * 1_000_000})
    )
    code = 'import os; os.close(0); print(\'{"verdict": "ask", "reason": "unread"}\')'
    opinion = Watchdog([program(code)]).consult(large)
    assert not isinstance(opinion, Opinion)
    assert (await opinion) == Opinion("ask", "unread")


async def test_a_program_that_takes_too_long_refuses() -> None:
    opinion = await asked(program("import time; time.sleep(60)", seconds=0.2))
    assert opinion.verdict == "deny"
    assert "TimeoutError: it took longer than 0.2 s; watchdog.seconds gives" in opinion.reason


async def test_a_program_that_is_not_there_refuses() -> None:
    opinion = await asked(HookProgram(["/nonexistent/hook"], {}))
    assert opinion.verdict == "deny"
    assert "/nonexistent/hook" in opinion.reason
