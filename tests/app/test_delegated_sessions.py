"""Sessions that an agent delegated, run by whoever finds them due: the one above is told.

Both play from one script: which of them asks is seen by what they were told.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import calls, home_of

from holdfast import Agent, Answer, Holdfast, ScriptedModel, answer_question, tool
from holdfast.agent.models.scripted import Played
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings
from holdfast.contract.chunks import UserChunk
from holdfast.contract.delegation import CHILD_RESTS
from holdfast.contract.events import ChildCreated, ChildIdle
from holdfast.contract.journal import Journal
from holdfast.contract.model import ModelError, ModelRequest
from holdfast.contract.session_state import SessionState, due_micros
from holdfast.contract.wake_events import WakeQueued

pytestmark = pytest.mark.anyio

DELEGATES = calls(("session_delegate", '{"message": "Child.", "title": "Work"}'))
RAN: list[str] = []


@tool(permission_policy="always_ask")
def deploy() -> str:
    """Deploy."""
    RAN.append("deployed")
    return "deployed"


def is_child(request: ModelRequest) -> bool:
    return UserChunk("Child.") in request.rows


def by_whom(parent: list[Played], child: list[Played]) -> ScriptedModel:
    def turn(request: ModelRequest) -> Played:
        return (child if is_child(request) else parent).pop(0)

    return ScriptedModel([turn] * (len(parent) + len(child)))


def options(folder: Path, model: ScriptedModel) -> dict[str, Any]:
    return {
        "settings": Settings(),
        "surroundings": home_of(folder),
        "profile": "managed",
        "workspace": folder,
        "agent": Agent(id="lead", description="Leads."),
        "tools": [deploy],
        "approver": "elsewhere",
        "person": "elsewhere",
        "model": model,
    }


async def begun(hf: Holdfast) -> str:
    """A session that has delegated, and rests; its id."""
    session = await hf.new_session()
    async for _ in session.run("Go."):
        pass
    await session.close()
    return session.id


async def test_what_a_session_delegates_is_run_where_its_files_are(tmp_path: Path) -> None:
    model = by_whom([DELEGATES, "Delegated."], ["Done."])
    given: dict[str, Any] = {
        **options(tmp_path, model),
        "agent": Agent(id="lead", runs_on="region-north"),
    }
    async with Holdfast(**given) as hf:
        (made,) = await said(hf, await begun(hf), ChildCreated)
        child = await state(hf, made.child_session_id)
    assert child.metadata["runs_on"] == "region-north"


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


async def said(hf: Holdfast, session: str, kind: type) -> list[Any]:
    found = await (await journal_of(hf)).events(session)
    return [one.payload for one in found if isinstance(one.payload, kind)]


async def state(hf: Holdfast, session: str) -> SessionState:
    return (await (await journal_of(hf)).session(session)).state


async def comes_out_again(hf: Holdfast, *sessions: str) -> None:
    for session in sessions:
        found = await replay_run(await (await journal_of(hf)).events(session))
        assert found.divergence is None, found.divergence


async def test_the_one_above_is_woken_and_told_once_a_child_rests(tmp_path: Path) -> None:
    model = by_whom([DELEGATES, "Handed on.", "It is done."], ["Found two."])
    async with Holdfast(**options(tmp_path, model)) as hf:
        parent = await begun(hf)
        (made,) = await said(hf, parent, ChildCreated)
        child = made.child_session_id
        assert due_micros(await state(hf, child)) == 0
        assert due_micros(await state(hf, parent)) is None
        assert await hf.run_due() == 2
        told = f"[wake due] {CHILD_RESTS}\n{child} (idle): Found two."
        assert model.requests[-1].rows[-1] == UserChunk(told)
        (rested,) = await said(hf, parent, ChildIdle)
        assert (rested.child_stop_reason, rested.summary) == ("idle", "Found two.")
        assert await hf.run_due() == 0
        await comes_out_again(hf, parent, child)


async def test_a_child_that_waits_for_a_person_is_told_of_and_goes_on_with_the_answer(
    tmp_path: Path,
) -> None:
    RAN.clear()
    model = by_whom(
        [DELEGATES, "Handed on.", "So it waits.", "It is done."],
        [calls(("deploy", "{}")), "Deployed it."],
    )
    async with Holdfast(**options(tmp_path, model)) as hf:
        parent = await begun(hf)
        (made,) = await said(hf, parent, ChildCreated)
        child = made.child_session_id
        assert await hf.run_due() == 2
        assert RAN == []
        assert "(requires_action): Awaiting" in str(model.requests[-1].rows[-1].content)
        (call,) = (await state(hf, child)).calls.values()
        assert call.approval_id is not None
        store: dict[str, Any] = {"settings": Settings(), "surroundings": home_of(tmp_path)}
        await answer_question(child, call.approval_id, Answer(allowed=True, by="ada"), **store)
        assert await hf.run_due() == 2
        assert RAN == ["deployed"]
        assert "(idle): Deployed it." in str(model.requests[-1].rows[-1].content)
        await comes_out_again(hf, parent, child)


async def test_a_run_that_is_tried_again_is_no_rest(tmp_path: Path) -> None:
    model = by_whom([DELEGATES, "Handed on."], [ModelError("authentication", "who are you?")])
    async with Holdfast(**options(tmp_path, model)) as hf:
        parent = await begun(hf)
        assert await hf.run_due() == 1
        assert await said(hf, parent, ChildIdle) == []
        assert due_micros(await state(hf, parent)) is None


async def test_who_runs_a_child_in_place_hears_of_it_by_the_call_alone(tmp_path: Path) -> None:
    def runs(request: ModelRequest) -> Played:
        answer = str(request.rows[-1].content)
        child = answer.partition('"session_id":"')[2].partition('"')[0]
        return calls(("session_run_child", f'{{"session_id": "{child}"}}'))

    turns: list[Any] = [DELEGATES, runs, "Found two.", "It is done."]
    model = ScriptedModel(turns)
    async with Holdfast(**options(tmp_path, model)) as hf:
        parent = await begun(hf)
        assert '"response":"Found two."' in str(model.requests[-1].rows[-1].content)
        assert len(await said(hf, parent, ChildIdle)) == 1
        assert await said(hf, parent, WakeQueued) == []
        assert await hf.run_due() == 0
        (made,) = await said(hf, parent, ChildCreated)
        await comes_out_again(hf, parent, made.child_session_id)


CHILD = Path(__file__).with_name("delegating_child.py")


def killed_at(folder: Path, moment: str) -> None:
    """Run what is due in a process, and kill it at this moment."""
    argv = [sys.executable, str(CHILD), str(folder), moment]
    at_tests = {**os.environ, "PYTHONPATH": str(CHILD.parent.parent)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=at_tests) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "there\n"
        one.kill()


@pytest.mark.parametrize("moment", ["handed on", "child asks", "parent told"])
async def test_work_that_was_delegated_survives_whoever_ran_it(tmp_path: Path, moment: str) -> None:
    killed_at(tmp_path, moment)
    model = by_whom(["Handed on.", "It is done.", "Again."], ["Found two.", "Found two."])
    async with Holdfast(**options(tmp_path, model)) as hf:
        assert await hf.run_due() >= 1
        told = [one for one in model.requests if not is_child(one)]
        assert "(idle): Found two." in str(told[-1].rows)
        assert await hf.run_due() == 0
