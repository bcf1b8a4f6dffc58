"""What tests of shared files have in common: a managed session, and somebody who approves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tool_kit import opened, result

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.settings import Settings, VaultSettings
from holdfast.contract.call import Ask
from holdfast.contract.events import OutcomeDefined, WantedOutcome
from holdfast.contract.managed.spaces import substrate_space
from holdfast.contract.ports import Answer
from holdfast.contract.versions import VersionedStore

WRITER = Agent(id="writer", description="Writes.", instructions="Write.")


class Approves:
    """Says yes, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask, /) -> Answer:
        self.asked.append(ask)
        return Answer(allowed=True, by="a person")


@asynccontextmanager
async def managed(workspace: Path, **options: Any) -> AsyncGenerator[Holdfast]:
    """A session of the writer, whose calls a test makes itself."""
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": WRITER,
        "model": ScriptedModel([]),
        "approver": Approves(),
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


def home_of(workspace: Path) -> Path:
    return workspace.parent / f"{workspace.name}-home"


def substrate_of(workspace: Path, agent: str = "writer") -> Path:
    return home_of(workspace).resolve() / "data" / "agents" / agent / "substrate"


def vault_settings(path: Path, **more: Any) -> Settings:
    return Settings(vault={"keys": VaultSettings(path=str(path), prompt="Keys.")}, **more)


async def promoted(hf: Holdfast, path: str, text: str, **more: Any) -> dict[str, Any]:
    """Write a file and share it."""
    await result(hf, "write", path=path, content=text)
    return await result(hf, "resources_promote_to_substrate", source_path=path, **more)


async def store_of(hf: Holdfast) -> VersionedStore:
    managed_session = hf.parts.own.managed
    assert managed_session is not None
    return (await managed_session.stores()).versions


async def events_of(hf: Holdfast) -> list[Any]:
    assert hf.parts.log is not None
    found = await (await hf.parts.log.journal()).events(hf.session_id)
    return [one.payload for one in found]


async def wants(hf: Holdfast, title: str = "A guide") -> None:
    """An outcome is defined that nothing has been done for."""
    assert hf.parts.log is not None
    outcome = WantedOutcome(title=title, success_criteria=("the guide is written",))
    await hf.parts.log.append([OutcomeDefined(outcome=outcome)])


SPACE = substrate_space("writer")
