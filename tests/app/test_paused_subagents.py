"""A subagent that needs a person pauses, and so does the call above it: nothing waits in memory."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls, home_of

from holdfast import Agent, Answer, Holdfast, ScriptedModel, answer_question, open_questions, tool
from holdfast.agent.models.scripted import Played
from holdfast.app.ingress import interrupt
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings
from holdfast.contract.chunks import UserChunk
from holdfast.contract.journal import Journal, NotFitting
from holdfast.contract.model import ModelRequest
from holdfast.contract.question import Question
from holdfast.contract.session_state import reported
from holdfast.envelope.redact import Redactor

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    RAN.append(place)
    with Path(os.environ.get("DEPLOYED", os.devnull)).open("a", encoding="utf-8") as file:
        file.write(f"{place}\n")
    return "deployed"


def hands_on(agent: str, prompt: str, **more: Any) -> tuple[str, str]:
    words = f'"subagent_type": "{agent}", "prompt": "{prompt}"'
    return "task", "{" + words + (', "background": true' if more else "") + "}"


TO_WORKER = hands_on("worker", "Child.")
DEPLOYS = calls(("deploy", '{"place": "north"}'))


def by_prompt(turns: dict[str, list[Played]]) -> ScriptedModel:
    """Turns for several who ask in any order, by the first thing that they were told."""

    def turn(request: ModelRequest) -> Played:
        told = [row.content for row in request.rows if isinstance(row, UserChunk)]
        return turns[str(told[0])].pop(0)

    return ScriptedModel([turn] * 20)


def options(folder: Path, model: ScriptedModel) -> dict[str, Any]:
    return {
        "settings": Settings(),
        "surroundings": home_of(folder),
        "profile": "locked",
        "workspace": folder,
        "agent": Agent(id="boss", description="Leads."),
        "agents": [
            Agent(id="worker", description="Works.", mode="subagent"),
            Agent(id="middle", description="Hands on.", mode="subagent"),
        ],
        "tools": [deploy],
        "approver": "elsewhere",
        "person": "elsewhere",
        "model": model,
    }


async def asked_to(hf: Holdfast, words: str = "Go.") -> str:
    session = await hf.new_session()
    await session.send(words)
    await session.close()
    return session.id


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


async def waiting(folder: Path, session: str | None = None) -> tuple[Question, ...]:
    return await open_questions(session, settings=Settings(), surroundings=home_of(folder))


async def answered(folder: Path, question: Question, *, allowed: bool = True) -> None:
    await answer_question(
        *(question.session_id, question.approval_id, Answer(allowed=allowed, by="ada")),
        settings=Settings(),
        surroundings=home_of(folder),
    )


async def comes_out_again(hf: Holdfast, *sessions: str) -> None:
    for session in sessions:
        found = await replay_run(await (await journal_of(hf)).events(session))
        assert found.divergence is None, (session, found.divergence)


@pytest.mark.parametrize("allowed", [True, False])
async def test_the_call_above_waits_and_goes_on_with_the_answer(
    tmp_path: Path, allowed: bool
) -> None:
    RAN.clear()
    turns: dict[str, list[Played]] = {
        "Go.": [calls(TO_WORKER), "It is done."],
        "Child.": [DEPLOYS, "So it is."],
    }
    model = by_prompt(turns)
    async with Holdfast(**options(tmp_path, model)) as hf:
        parent = await asked_to(hf)
        with anyio.fail_after(10):
            assert await hf.run_due() == 1
        journal = await journal_of(hf)
        state = (await journal.session(parent)).state
        assert (state.status, reported(state)) == ("requires_action", "waiting_on_user_input")
        assert RAN == []
        assert await hf.run_due() == 0
    (question,) = await waiting(tmp_path)
    assert question.session_id != parent
    assert await waiting(tmp_path, parent) == (question,)
    await answered(tmp_path, question, allowed=allowed)
    async with Holdfast(**options(tmp_path, model)) as hf:
        assert await hf.run_due() >= 1
        assert (["north"] if allowed else []) == RAN
        assert '"output":"So it is."' in str(model.requests[-1].rows[-1].content)
        journal = await journal_of(hf)
        assert (await journal.session(parent)).state.status == "idle"
        assert (await journal.session(question.session_id)).state.status == "terminated"
        assert await hf.run_due() == 0
        await comes_out_again(hf, parent, question.session_id)


async def test_whoever_has_the_session_open_answers_and_goes_on_there(tmp_path: Path) -> None:
    RAN.clear()
    turns: dict[str, list[Played]] = {
        "Go.": [calls(TO_WORKER), "It is done."],
        "Child.": [DEPLOYS, DEPLOYS, "So it is."],
    }
    async with Holdfast(**options(tmp_path, by_prompt(turns))) as hf:
        session = await hf.new_session()
        async for _ in session.run("Go."):
            pass
        for _ in range(2):  # it pauses again where it needs leave again
            assert session.last is not None
            assert session.last.ended == "requires_action"
            (question,) = await session.questions()
            await session.answer(question, Answer(allowed=True, by="ada"))
            async for _ in session.run():
                pass
        assert session.last is not None
        assert (session.last.response, RAN) == ("It is done.", ["north", "north"])
        await comes_out_again(hf, session.id)


async def test_a_pause_two_levels_below_is_a_pause_of_all_above(tmp_path: Path) -> None:
    RAN.clear()
    turns: dict[str, list[Played]] = {
        "Go.": [calls(hands_on("middle", "Middle.")), "It is done."],
        "Middle.": [calls(TO_WORKER), "They did it."],
        "Child.": [DEPLOYS, "So it is."],
    }
    async with Holdfast(**options(tmp_path, by_prompt(turns))) as hf:
        parent = await asked_to(hf)
        assert await hf.run_due() == 1
        (question,) = await waiting(tmp_path)
        assert await waiting(tmp_path, parent) == (question,)
        await answered(tmp_path, question)
        assert await hf.run_due() >= 1
        assert RAN == ["north"]
        journal = await journal_of(hf)
        assert (await journal.session(parent)).state.status == "idle"
        middle = (await journal.session(question.session_id)).state.parent_id
        assert middle is not None
        await comes_out_again(hf, parent, middle, question.session_id)


async def test_two_that_wait_go_on_once_both_are_answered(tmp_path: Path) -> None:
    RAN.clear()
    other = hands_on("worker", "Other.")
    turns: dict[str, list[Played]] = {
        "Go.": [calls(TO_WORKER, other), "Both did it."],
        "Child.": [DEPLOYS, "So it is."],
        "Other.": [calls(("deploy", '{"place": "south"}')), "So it is, too."],
    }
    async with Holdfast(**options(tmp_path, by_prompt(turns))) as hf:
        parent = await asked_to(hf)
        assert await hf.run_due() == 1
        first, second = await waiting(tmp_path)
        await answered(tmp_path, first)
        assert await hf.run_due() == 0
        await answered(tmp_path, second)
        assert await hf.run_due() >= 1
        assert sorted(RAN) == ["north", "south"]
        assert (await (await journal_of(hf)).session(parent)).state.status == "idle"
        await comes_out_again(hf, parent)


async def test_whoever_stops_the_one_above_makes_the_question_void(tmp_path: Path) -> None:
    RAN.clear()
    turns: dict[str, list[Played]] = {"Go.": [calls(TO_WORKER)], "Child.": [DEPLOYS]}
    async with Holdfast(**options(tmp_path, by_prompt(turns))) as hf:
        parent = await asked_to(hf)
        assert await hf.run_due() == 1
        (question,) = await waiting(tmp_path)
        await interrupt(await journal_of(hf), parent, Redactor(()))
        assert await hf.run_due() == 1
        assert await waiting(tmp_path) == ()
        with pytest.raises(NotFitting, match="has its answer already"):
            await answered(tmp_path, question)
        assert await hf.run_due() == 0
        assert RAN == []
        await comes_out_again(hf, parent)


async def test_work_in_the_background_that_needs_a_person_is_ended_and_told(
    tmp_path: Path,
) -> None:
    RAN.clear()
    turns: dict[str, list[Played]] = {
        "Go.": [calls(hands_on("worker", "Child.", background=True)), "It works.", "I see."],
        "Child.": [DEPLOYS],
    }
    model = by_prompt(turns)
    async with Holdfast(**options(tmp_path, model)) as hf:
        await asked_to(hf)
        with anyio.fail_after(10):
            await hf.run_due()
        told = str([one.rows[-1] for one in model.requests])
        assert "needs leave to run deploy, and nobody waits for that" in told
        assert (await waiting(tmp_path), RAN) == ((), [])


PROGRAM = Path(__file__).with_name("pausing_child.py")


def killed(folder: Path, *words: str) -> None:
    """Run the program, and kill it once it is there."""
    argv = [sys.executable, str(PROGRAM), str(folder), *words]
    paths = {**os.environ, "PYTHONPATH": str(PROGRAM.parent.parent)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=paths) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == "there\n"
        one.kill()


@pytest.mark.parametrize("moment", ["paused", "goes on"])
async def test_a_pause_outlives_its_program(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed = tmp_path / "deployed.txt"
    monkeypatch.setenv("DEPLOYED", str(deployed))
    killed(tmp_path)
    (question,) = await waiting(tmp_path)
    await answered(tmp_path, question)
    if moment == "goes on":
        killed(tmp_path)
        assert deployed.read_text("utf-8") == "north\n"
    turns: dict[str, list[Played]] = {"Go.": ["It is done."], "Child.": ["So it is."]}
    model = by_prompt(turns)
    async with Holdfast(**options(tmp_path, model)) as hf:
        assert await hf.run_due() >= 1
        assert deployed.read_text("utf-8") == "north\n"
        assert '"output":"So it is."' in str(model.requests[-1].rows[-1].content)
        assert await hf.run_due() == 0


async def test_the_question_of_a_subagent_whose_program_is_gone_is_void(tmp_path: Path) -> None:
    """It waited for whoever was there, in the middle of a call: that call is broken off."""
    killed(tmp_path, "asks here")
    (question,) = await waiting(tmp_path)
    model = by_prompt({"Go.": ["I see."]})
    async with Holdfast(**options(tmp_path, model)) as hf:
        assert await hf.run_due() == 1
        assert "aborted by host restart" in str(model.requests[-1].rows)
        assert await waiting(tmp_path) == ()
        with pytest.raises(NotFitting, match="has its answer already"):
            await answered(tmp_path, question)


async def test_an_answer_that_is_quicker_than_the_pause_is_heard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever reads the log answers while the run below is still coming to rest."""
    RAN.clear()
    told = anyio.Event()

    def heard(_record: logging.LogRecord) -> bool:
        told.set()
        return True

    caplog.handler.addFilter(heard)
    turns: dict[str, list[Played]] = {
        "Go.": [calls(TO_WORKER), "It is done."],
        "Child.": [DEPLOYS, "So it is."],
    }
    async with Holdfast(**options(tmp_path, by_prompt(turns))) as hf:
        parent = await asked_to(hf)
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                await told.wait()
                (question,) = await waiting(tmp_path)
                await answered(tmp_path, question)

            group.start_soon(answer)
            await hf.run_due()
        await hf.run_due()  # where it was answered behind the pause
        assert RAN == ["north"]
        assert (await (await journal_of(hf)).session(parent)).state.status == "idle"
        await comes_out_again(hf, parent)
