"""Sessions of agents that are due are run by whoever runs an engine, and by nobody else at once."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls, home_of
from app import losing_child

from holdfast import Answer, ConfigurationError, Holdfast, answer_question, tool
from holdfast.agent.beginning import MOST_ATTEMPTS
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.agent_opening import Models, agent_session
from holdfast.app.agent_sessions import OpenedAgents
from holdfast.app.agent_settings import USUAL_INSTRUCTIONS, AgentSettings, EngineSettings
from holdfast.app.configuration import load_configuration
from holdfast.app.model_settings import ModelSettings
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings, StoreSettings
from holdfast.contract.agents import Agent
from holdfast.contract.events import UserMessage
from holdfast.contract.model import ModelRequest
from holdfast.contract.wakes import WakeEnd

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    RAN.append(place)
    return "deployed"


def _options(folder: Path, model: ScriptedModel) -> dict[str, Any]:
    agent = Agent(id="worker", description="works", instructions="Work.")
    return {
        "settings": Settings(),
        "surroundings": home_of(folder),
        "agent": agent,
        "tools": [deploy],
        "approver": "elsewhere",
        "person": "elsewhere",
        "model": model,
    }


async def test_a_session_that_was_answered_is_run_by_the_engine_of_another_program(
    tmp_path: Path,
) -> None:
    RAN.clear()
    model = ScriptedModel([calls(("deploy", '{"place": "north"}')), "deployed it"])
    async with Holdfast(**_options(tmp_path, model)) as hf:
        session = await hf.new_session(model=model)
        async for _ in session.run("Deploy."):
            pass
        question = (await session.questions())[0]
        session_id = session.id
        assert await hf.run_due() == 0
    await answer_question(
        *(session_id, question.approval_id, Answer(allowed=True, by="ada")),
        settings=Settings(),
        surroundings=home_of(tmp_path),
    )
    async with Holdfast(**_options(tmp_path, model)) as hf:
        assert await hf.run_due() == 1
        assert RAN == ["north"]
        assert await hf.run_due() == 0


async def test_a_session_of_no_agent_is_not_taken_up_as_one(tmp_path: Path) -> None:
    model = ScriptedModel([])
    options = _options(tmp_path, model)
    del options["agent"]
    async with Holdfast(**options) as hf:
        await hf.settle("deploy", {"place": "x"})
        plain = hf.session_id
    async with Holdfast(**options) as hf:
        with pytest.raises(ConfigurationError, match="is no agent's"):
            await hf.new_session(model=model, session=plain)


async def test_a_word_from_elsewhere_is_answered_by_the_engine(tmp_path: Path) -> None:
    model = ScriptedModel(["first", "second"])
    async with Holdfast(**_options(tmp_path, model)) as hf:
        session = await hf.new_session()
        async for _ in session.run("One."):
            pass
        await session.send("Two.")
        await session.close()
        assert await hf.run_due() == 1
        assert model.requests[-1].rows[-1].content == "Two."


async def _spoken_to(hf: Holdfast, words: str = "Two.") -> str:
    """A session of an agent that has something to do, and that nobody has open; its id."""
    session = await hf.new_session()
    await session.send(words)
    await session.close()
    return session.id


async def _woken(hf: Holdfast, session: str) -> WakeEnd:
    """What an engine of this program is told of a session."""
    agents = OpenedAgents(hf.parts, Holdfast)
    try:
        return await agents.wake(session)
    finally:
        await agents.close()


async def test_an_engine_that_runs_forever_finds_what_becomes_due_until_it_is_cancelled(
    tmp_path: Path,
) -> None:
    asked = anyio.Event()

    def turn(request: ModelRequest) -> str:
        asked.set()
        return "answered"

    model = ScriptedModel([turn] * 3)
    options = _options(tmp_path, model)
    options["settings"] = Settings(engine=EngineSettings(look_seconds=0.02))
    async with Holdfast(**options) as hf:
        async with anyio.create_task_group() as group:
            group.start_soon(partial(hf.run_due, forever=True))
            for words in ("One.", "Two."):
                asked = anyio.Event()
                await _spoken_to(hf, words)
                with anyio.fail_after(8):
                    await asked.wait()
                assert model.requests[-1].rows[-1].content == words
            group.cancel_scope.cancel()
        await _spoken_to(hf, "Three.")
        await anyio.sleep(0.1)
        assert len(model.requests) == 2


async def test_a_session_that_another_program_runs_is_left_to_it(tmp_path: Path) -> None:
    model = ScriptedModel(["answered"])
    options = _options(tmp_path, model)
    async with Holdfast(**options) as hf, Holdfast(**options) as other:
        session = await hf.new_session()
        await session.send("One.")
        end = await _woken(other, session.id)
        assert (end.executed, end.reason) == (False, "lease_contended")
        assert await other.run_due() == 0
        assert model.requests == []
        await session.close()
        assert await other.run_due() == 1


async def test_a_session_whose_agent_is_not_known_here_is_left_to_who_knows_it(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(["answered"])
    options = _options(tmp_path, model)
    async with Holdfast(**options) as hf:
        session = await _spoken_to(hf)
    known = options.pop("agent")
    async with Holdfast(**options) as stranger:
        end = await _woken(stranger, session)
        assert (end.executed, end.reason) == (False, "not_ours")
        assert end.problem is not None
        assert "there is no agent 'worker'" in end.problem
        assert await stranger.run_due() == 0
    async with Holdfast(**options, agent=known) as hf:
        assert await hf.run_due() == 1


@pytest.mark.parametrize("declared", [True, False])
async def test_a_session_goes_on_under_the_agent_that_it_was_begun_with(
    tmp_path: Path, declared: bool
) -> None:
    table = AgentSettings(instructions="Be brief.")
    model = ScriptedModel(["first", "second"])
    options = _options(tmp_path, model)
    del options["agent"]
    options["settings"] = Settings(agent={"default": table} if declared else {})
    said = "Be brief." if declared else USUAL_INSTRUCTIONS
    async with Holdfast(**options) as hf:
        session = await _spoken_to(hf, "One.")
        assert await hf.run_due() == 1
    async with Holdfast(**options) as hf:
        taken_up = await hf.new_session(session=session)
        async for _ in taken_up.run("Two."):
            pass
    for asked in model.requests:
        assert str(asked.rows[0].content).startswith(said)
    assert [row.content for row in model.requests[-1].rows[1:]] == ["One.", "first", "Two."]


async def test_a_session_without_an_agent_is_no_place_for_one(tmp_path: Path) -> None:
    options: dict[str, Any] = {**_options(tmp_path, ScriptedModel([])), "agent": None}
    async with Holdfast(**options) as hf:
        models = Models(Settings(), home_of(tmp_path))
        with pytest.raises(ConfigurationError, match="opened without an agent; name one"):
            agent_session(hf, models, None, {})


async def test_without_a_journal_there_are_no_sessions_of_agents(tmp_path: Path) -> None:
    options = _options(tmp_path, ScriptedModel([]))
    del options["approver"], options["person"]
    options["settings"] = Settings(store=StoreSettings(kind="none"))
    async with Holdfast(**options) as hf:
        with pytest.raises(ConfigurationError, match="needs a journal to go on from"):
            await hf.new_session()


async def test_a_model_is_made_once_for_all_sessions_and_let_go_with_the_program(
    tmp_path: Path,
) -> None:
    table = ModelSettings(kind="openai", model="m", base_url="http://127.0.0.1:9/v1")
    options = _options(tmp_path, ScriptedModel([]))
    del options["model"]
    options["settings"] = Settings(model={"small": table})
    async with Holdfast(**options) as hf:
        first = await hf.new_session(model="small")
        second = await hf.new_session(model="small")
        assert first.model is second.model
    async with Holdfast(**options) as hf:
        assert (await hf.new_session(model="small")).model is not first.model


def program(name: str, *words: str) -> "subprocess.Popen[str]":
    """A program beside this file, once it has said that it is there."""
    here = Path(__file__).parent
    argv = [sys.executable, str(here / name), *words]
    paths = {**os.environ, "PYTHONPATH": str(here.parent)}
    one = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=paths)
    assert one.stdout is not None
    assert one.stdout.readline() == "there\n"
    return one


@pytest.mark.req("SPEC-TASK-11")
async def test_work_in_the_background_that_was_lost_while_its_session_rested_is_told(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(["So it is lost."])
    with program("losing_child.py", str(tmp_path)) as one:
        try:
            async with Holdfast(**losing_child.options(tmp_path, model)) as hf:
                assert await hf.run_due() == 0  # it is at work, as far as anybody can tell
        finally:
            one.kill()
    async with Holdfast(**losing_child.options(tmp_path, model)) as hf:
        assert await hf.run_due() == 1
        assert "failed] lost: the program that ran it is gone" in str(model.requests[-1].rows[-1])
        assert await hf.run_due() == 0


async def test_a_session_that_ends_its_program_again_and_again_is_not_taken_up_for_ever(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(["answered"])
    options = _options(tmp_path, model)
    async with Holdfast(**options) as hf:
        session = await _spoken_to(hf)
    for number in range(MOST_ATTEMPTS + 1):
        with program("dying_child.py", str(tmp_path)) as one:
            assert one.stdout is not None
            ran = one.stdout.read()
        assert ran == ("" if number <= MOST_ATTEMPTS - 1 else "nothing is due\n"), number
    async with Holdfast(**options) as hf:
        assert await hf.run_due() == 0
        assert model.requests == []
        assert hf.parts.log is not None
        journal = await hf.parts.log.journal()
        await journal.append(session, [UserMessage(message="It is put right.")])
        assert await hf.run_due() == 1
        assert (await journal.session(session)).state.attempts == 0
        found = await replay_run(await journal.events(session))
        assert found.divergence is None, found.divergence


async def test_a_session_that_this_program_has_open_is_run_where_it_is(tmp_path: Path) -> None:
    model = ScriptedModel(["heard", "and again"])
    async with Holdfast(**_options(tmp_path, model)) as hf:
        session = await hf.new_session(model=model)
        await session.send("Hello.")
        assert await hf.run_due() == 1
        assert session.last is not None
        assert session.last.response == "heard"
        async for _ in session.run("Once more."):
            pass
        assert session.last.response == "and again"


async def test_a_session_of_another_project_is_left_to_who_read_its_rules(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for project in (ours, theirs):
        (project / ".git").mkdir(parents=True)
        (project / "part").mkdir()
    model = ScriptedModel(["answered"] * 2)
    options = _options(tmp_path, model)
    del options["settings"]

    def opened_in(place: Path) -> Holdfast:
        found = load_configuration(place, environment={"HOME": str(tmp_path)})
        return Holdfast(**options, configuration=found, workspace=place)

    async with opened_in(theirs) as hf:
        session = await _spoken_to(hf)
    async with opened_in(ours) as stranger:
        end = await _woken(stranger, session)
        assert (end.executed, end.reason) == (False, "not_ours")
        assert end.problem is not None
        assert f"holdfast worker --workspace {theirs}" in end.problem
        assert await stranger.run_due() == 0
        with pytest.raises(ConfigurationError, match="another project"):
            await stranger.new_session(session=session)
    assert model.requests == []
    async with opened_in(theirs / "part") as hf:  # the same project, from further below
        assert await hf.run_due() == 1
