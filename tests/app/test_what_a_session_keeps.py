"""What a session was begun with is what it goes on with: its model, its agent; and who may."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls, home_of

from holdfast import (
    Agent,
    Answer,
    ConfigurationError,
    Holdfast,
    ScriptedModel,
    answer_question,
    tool,
)
from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_settings import USUAL_INSTRUCTIONS, AgentSettings, agent_of
from holdfast.app.models import remembered
from holdfast.app.settings import Settings
from holdfast.contract.events import Event, SessionCreated, UserMessage
from holdfast.contract.journal import Journal, NotFitting


def here(folder: Path) -> dict[str, Any]:
    return {"settings": Settings(), "surroundings": home_of(folder), "workspace": folder}


def played(folder: Path, name: str, text: str) -> str:
    file = folder / f"{name}.toml"
    file.write_text(f'[[turn]]\ntext = "{text}"\n', encoding="utf-8")
    return f"scripted:{file}"


async def all_of(session: AgentSession, message: str | None = None) -> str:
    async for _ in session.run(message):
        pass
    assert session.last is not None
    return session.last.response


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something."""
    raise AssertionError(item)


async def test_a_session_goes_on_with_the_model_it_was_begun_with(tmp_path: Path) -> None:
    options = here(tmp_path)
    async with Holdfast(**options) as holdfast:
        session = await holdfast.new_session(model=played(tmp_path, "mine", "by mine"))
        await session.send("Hi")
    async with Holdfast(**options, model=played(tmp_path, "other", "by other")) as holdfast:
        assert await holdfast.run_due() == 1
        again = await holdfast.new_session(session=session.id)
        said = [one.payload for one in await events_of(holdfast, again.id)]
        assert "by mine" in str(said)
        assert "by other" not in str(said)


async def events_of(holdfast: Holdfast, session_id: str) -> tuple[Event, ...]:
    return await (await journal_of(holdfast)).events(session_id)


async def journal_of(holdfast: Holdfast) -> Journal:
    log = holdfast.parts.log
    assert log is not None
    return await log.journal()


def test_a_script_is_remembered_by_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert remembered("scripted:a.toml") == f"scripted:{tmp_path / 'a.toml'}"
    assert remembered("local:smollm2") == "local:smollm2"
    assert remembered("office") == "office"


def test_a_table_for_the_default_agent_leaves_it_its_words() -> None:
    table = AgentSettings(model="office")
    assert agent_of("default", table).instructions == USUAL_INSTRUCTIONS
    assert agent_of("other", table).instructions == ""
    assert agent_of("default", AgentSettings(instructions="Be brief.")).instructions == "Be brief."


async def test_the_agent_that_a_program_gives_is_known_by_its_name(tmp_path: Path) -> None:
    coder = Agent(id="coder", instructions="Be a coder.")
    options = here(tmp_path)
    async with Holdfast(agent=coder, **options) as holdfast:
        for name in (None, "coder"):
            model = ScriptedModel(["hi"])
            session = await holdfast.new_session(agent=name, model=model)
            await all_of(session, "Hi")
            assert "Be a coder." in str(model.requests[0].rows)
        with pytest.raises(ConfigurationError, match="there is no agent 'other'"):
            await holdfast.new_session(agent="other", model=ScriptedModel(["hi"]))


async def test_a_session_below_another_is_run_by_nobody_else(tmp_path: Path) -> None:
    options = here(tmp_path)
    async with Holdfast(**options) as holdfast:
        begun = SessionCreated(agent_id="default", parent_id="ses_0", workspace=str(tmp_path))
        journal = await journal_of(holdfast)
        await journal.create("ses_lost", [begun, UserMessage(message="Go on.")])
        assert await holdfast.run_due() == 0
        with pytest.raises(ConfigurationError, match="was begun by session ses_0"):
            await holdfast.new_session(session="ses_lost", model=ScriptedModel(["never"]))


async def test_the_application_gives_what_a_tool_of_its_own_was_asked_for(tmp_path: Path) -> None:
    options = here(tmp_path)
    model = ScriptedModel([calls(("order", '{"item": "tea"}')), "Ordered."])
    async with Holdfast(tools=[order], **options) as holdfast:
        session = await holdfast.new_session(model=model)
        assert await session.request() is None
        await all_of(session, "Order tea.")
        assert session.last is not None
        assert session.last.stop_reason == "requires_action"
        asked = await session.request()
        assert asked is not None
        assert (asked.name, asked.input) == ("order", {"item": "tea"})
        with pytest.raises(NotFitting, match="does not wait for cal_other"):
            await session.give("cal_other", "no")
        await session.give(asked, "a pot of tea")
        assert await all_of(session) == "Ordered."
        assert "a pot of tea" in str(model.requests[-1].rows)
        assert await session.request() is None


async def test_a_subagents_question_is_told_where_nobody_is_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(permission_policy="always_ask")
    def deploy() -> str:
        """Deploy."""
        return "deployed"

    helper = Agent(id="helper", description="Helps.", mode="subagent")
    handed = ("task", '{"prompt": "Go.", "subagent_type": "helper"}')
    model = ScriptedModel([calls(handed), calls(("deploy", "{}")), "done", "all done"])
    options = here(tmp_path)
    options |= {"agents": [helper], "profile": "code", "approver": "elsewhere"}
    async with Holdfast(tools=[deploy], **options) as holdfast:
        session = await holdfast.new_session(model=model)
        with anyio.fail_after(10):
            await all_of(session, "Have it deployed.")
        assert session.last is not None
        assert session.last.ended == "requires_action"
        (said,) = [one.getMessage() for one in caplog.records]
        assert said.startswith("the subagent helper asks for leave to run deploy;")
        child, approval = said.partition("sessions answer ")[2].split()[:2]
        place: dict[str, Any] = {"settings": Settings(), "surroundings": home_of(tmp_path)}
        await answer_question(child, approval, Answer(allowed=True, by="ada"), **place)
        assert await all_of(session) == "all done"
