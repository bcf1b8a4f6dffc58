"""Machines with data and folders of their own, for sessions whose workspaces are carried."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from agents_at_work import calls

from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.configuration import Configuration
from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import Payload, UserMessage
from holdfast.contract.model import ModelReply
from holdfast.contract.session_state import CarriedFiles
from holdfast.contract.wakes import WakeEnd
from holdfast.record.store import Store

DONE = ModelReply(text="Done.")


def runs(command: str) -> ModelReply:
    """A turn that runs a confined command in the workspace."""
    return calls(("bash", msgspec.json.encode({"command": command}).decode()))


class Machine:
    """One with files of its own; the key alone is the same."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.workspace = folder / "work"
        self.workspace.mkdir(parents=True, exist_ok=True)
        state = folder.parent / "state"  # the key is there, which is the same everywhere
        (folder / "home").mkdir(exist_ok=True)
        self.around = Surroundings(data_home=folder / "home" / "data", state_home=state)
        self.model = ScriptedModel([])

    @asynccontextmanager
    async def opened(self, *turns: ModelReply) -> AsyncGenerator[Holdfast]:
        self.model = ScriptedModel(turns)
        async with Holdfast(
            profile="code",
            workspace=str(self.workspace),
            configuration=Configuration(settings=self.settings),
            surroundings=self.around,
            model=self.model,
        ) as hf:
            yield hf

    async def begun(self, *turns: ModelReply) -> str:
        """A session that was run here once."""
        async with self.opened(*turns) as hf:
            session = await hf.new_session()
            async for _ in session.run("Begin."):
                pass
            await session.close()
            return session.id

    async def wakes(self, session_id: str, *turns: ModelReply) -> WakeEnd:
        async with self.opened(*turns) as hf:
            return await hf.agents.wake(session_id)

    async def goes_on(self, session_id: str, *turns: ModelReply) -> WakeEnd:
        """Somebody says something, and it is run here."""
        async with self.opened(*turns) as hf:
            await say(hf, session_id)
            return await hf.agents.wake(session_id)

    def home(self, session_id: str) -> Path:
        return self.folder / "home" / "data-workspaces" / "default" / session_id

    def copy(self, session_id: str) -> Path:
        return self.home(session_id) / "files"


def printed(model: ScriptedModel) -> str:
    """What the last command said, as the model was told."""
    row = model.requests[-1].rows[-1]
    assert isinstance(row, ToolResultChunk)
    answer = msgspec.json.decode(row.content)
    return str(answer["result"]["stdout"])


async def say(hf: Holdfast, session_id: str) -> None:
    store = await hf.agents.all_sessions()
    await store.journal.append(session_id, [UserMessage(message="Go on.")])


def bounded(settings: Settings, **cluster: Any) -> Settings:
    changed = msgspec.structs.replace(settings.cluster, **cluster)
    return msgspec.structs.replace(settings, cluster=changed)


@asynccontextmanager
async def looked(machine: Machine) -> AsyncGenerator[Store]:
    async with machine.opened() as hf:
        yield await hf.agents.all_sessions()


async def told(machine: Machine, session_id: str, kind: type[Payload]) -> list[Any]:
    async with looked(machine) as store:
        events = await store.journal.events(session_id)
        return [event.payload for event in events if isinstance(event.payload, kind)]


async def files_of(machine: Machine, session_id: str) -> CarriedFiles:
    async with looked(machine) as store:
        files = (await store.journal.session(session_id)).state.files
        assert files is not None
        return files


async def pieces(machine: Machine, session_id: str) -> int:
    """How many of it are in the store."""
    async with looked(machine) as store:
        weight = (await store.upkeep.weights())[session_id]
        return weight.bytes
