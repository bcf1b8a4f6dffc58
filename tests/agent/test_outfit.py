"""What an agent is told to be and is offered: without secrets, and the same bytes each time, over
every wire and across a restart."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import pytest
from agents_at_work import home_of
from model_server import turn_server

from holdfast import Holdfast, tool
from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import ScriptedCall, ScriptedModel, Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings
from holdfast.contract.chunks import SystemChunk
from holdfast.contract.events import Event
from holdfast.contract.model import ChatModel, ModelReply
from holdfast.contract.wake_events import AgentEquipped

pytestmark = pytest.mark.anyio

SECRET = 'hunter2-of-the-"house"'
FORMS = {
    "chat": openai_chat.FORM,
    "responses": openai_responses.FORM,
    "messages": anthropic.FORM,
}


def _described() -> Any:
    def lookup(
        key: Annotated[str, msgspec.Meta(description=f"any but {SECRET}")], other: str = SECRET
    ) -> str:
        return key + other

    lookup.__doc__ = f"Look something up; {SECRET} is nothing to look for."
    return tool(lookup, read_only=True, inline=True)


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def _ran(
    folder: Path, model: ChatModel, *messages: str, session: str | None = None
) -> tuple[str, tuple[Event, ...]]:
    """Say something to an agent, in a program of its own; gives the session, and its events."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "AGENTS.md").write_text(f"The key is {SECRET}. Use tabs.", "utf-8")
    around = msgspec.structs.replace(home_of(folder), secrets=(SECRET,))
    async with Holdfast(
        tools=[_described(), add], workspace=workspace, settings=Settings(), surroundings=around
    ) as holdfast:
        made = await holdfast.new_session(model=model, session=session)
        for message in messages:
            async for _ in made.run(message):
                pass
        log = holdfast.parts.log
        assert log is not None
        return made.id, await (await log.journal()).events(made.id)


async def test_secrets_in_instructions_and_tools_reach_neither_the_model_nor_the_journal(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([ModelReply(text="Yes.")])
    _, events = await _ran(tmp_path, model, "Hello.")
    (request,) = model.requests
    told = msgspec.json.encode(request).decode()
    assert "hunter2" not in told
    assert told.count("***REDACTED***") == 4
    assert "Use tabs." in told
    (equipped,) = (one.payload for one in events if isinstance(one.payload, AgentEquipped))
    assert equipped.tools == request.tools
    assert request.rows[: len(equipped.system)] == tuple(map(SystemChunk, equipped.system))
    assert b"hunter2" not in b"".join(map(msgspec.json.encode, events))
    assert (await replay_run(events)).divergence is None


def _told(asked: dict[str, Any]) -> Iterator[bytes]:
    """What a request says one after the other, without the marks of what to cache: they move along,
    and are no part of what is cached."""
    for message in asked.get("messages") or asked["input"]:
        content = message.get("content")
        if not isinstance(content, list):
            yield json.dumps(message).encode()
            continue
        for block in cast("list[dict[str, Any]]", content):
            bare = {name: one for name, one in block.items() if name != "cache_control"}
            yield json.dumps([message.get("role"), bare]).encode()


def _frame(asked: dict[str, Any]) -> bytes:
    """All that stands around it."""
    return json.dumps({k: v for k, v in asked.items() if k not in ("messages", "input")}).encode()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_each_request_of_a_session_begins_with_the_bytes_of_the_one_before(
    tmp_path: Path, form: Form
) -> None:
    """A provider remembers what it was told as long as it is told the same, restart or not."""
    call = ScriptedCall(id="c1", name="add", arguments={"b": 2, "a": 1})
    answer = Turn(text="Wait.", reasoning="Hm.", calls=(call,)), Turn(text="It is 3.")
    async with turn_server([*answer * 3]) as (server, url):

        def model() -> HttpModel:
            return HttpModel(ModelSetup(model="m", url=url, key="k" * 20), form)

        first, second = model(), model()
        session, _ = await _ran(tmp_path, first, "1 + 2?", "Sure?")
        await first.close()
        _, events = await _ran(tmp_path, second, "Really?", session=session)
        await second.close()
    assert len(server.asked) == 6
    assert len({_frame(one) for one in server.asked}) == 1
    told = [list(_told(one)) for one in server.asked]
    for before, after in pairwise(told):
        assert len(after) > len(before)
        assert after[: len(before)] == before
    assert sum(isinstance(one.payload, AgentEquipped) for one in events) == 1
