"""An agent at work on a real journal, with a model whose turns a test has written."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from holdfast import Holdfast
from holdfast.agent.models.scripted import Choosing, Played, ScriptedModel
from holdfast.agent.place import Equipment
from holdfast.app.agent_session import AgentSession
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.chunks import AskedCall, Chunk
from holdfast.contract.events import Event, Payload
from holdfast.contract.model import ModelReply
from holdfast.contract.session_state import SessionState

SYSTEM = ("You are tested.",)


def calls(*asked: tuple[str, str], text: str | None = None) -> ModelReply:
    """A reply that asks for calls: names and arguments."""
    made = tuple(AskedCall(f"c{number}", *one) for number, one in enumerate(asked, 1))
    return ModelReply(text=text, calls=made, finish="tool_calls")


def home_of(folder: Path) -> Surroundings:
    return Surroundings(data_home=folder / "data", state_home=folder / "state")


class Desk(msgspec.Struct):
    """Everything a test looks at."""

    holdfast: Holdfast
    session: AgentSession
    model: ScriptedModel

    async def told(self, message: str | None = None) -> list[str]:
        """Run, and give the kinds of events that were told."""
        return [one.type async for one in self.session.run(message) if isinstance(one, Event)]

    async def events(self) -> tuple[Event, ...]:
        log = self.holdfast.parts.log
        assert log is not None
        journal = await log.journal()
        return await journal.events(self.session.id)

    async def payloads(self, kind: type[Payload]) -> list[Any]:
        return [one.payload for one in await self.events() if isinstance(one.payload, kind)]

    async def state(self) -> SessionState:
        log = self.holdfast.parts.log
        assert log is not None
        return (await (await log.journal()).session(self.session.id)).state

    def rows(self, number: int = -1) -> tuple[Chunk, ...]:
        """What the model was told when it was asked."""
        return self.model.requests[number].rows


@asynccontextmanager
async def at_work(
    folder: Path,
    turns: Iterable[Played | Choosing],
    *,
    equipment: dict[str, Any] | None = None,
    window: int = 128_000,
    max_output_tokens: int = 8_192,
    **options: Any,
) -> AsyncGenerator[Desk]:
    """An agent whose sessions are kept in the folder; questions wait unless somebody is given."""
    chosen = dict(equipment or {})
    model = chosen.pop("model", None) or ScriptedModel(
        turns, window=window, max_output_tokens=max_output_tokens
    )
    given: dict[str, Any] = {
        "settings": Settings(),
        "surroundings": home_of(folder),
        "approver": "elsewhere",
        "person": "elsewhere",
        "application": "elsewhere",
        **options,
    }
    async with Holdfast(**given) as holdfast:
        equipped = Equipment(model=model, **chosen)
        session = AgentSession(holdfast.parts, equipped, lambda: SYSTEM)
        desk = Desk(holdfast, session, model)
        yield desk
        await _comes_out_again(desk)


async def _comes_out_again(desk: Desk) -> None:
    """Whatever a test has recorded can be run once more."""
    events = await desk.events()
    if any(one.wake_id is not None for one in events):
        found = await replay_run(events)
        assert found.divergence is None, found.divergence
