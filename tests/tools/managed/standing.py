"""A world in which every managed tool has something to tell: files, versions, other sessions."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
from outcomes_at_work import asks
from tool_kit import result
from tools.managed.shared_kit import managed

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.settings import Settings, SkillSettings, VaultSettings
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import UserMessage
from holdfast.contract.json_value import encode_json

STRANGER = Agent(id="stranger", description="Does else.", instructions="Do else.")
SECRET = "The-strangers-affairs"
"""What the other agent's session is about, and nobody else is told."""
STEP_KEYS = {"tool", "args", "rationale"}


class Standing(msgspec.Struct, frozen=True):
    """An opened session in that world, and what everything in it is called."""

    holdfast: Holdfast
    facts: Mapping[str, str]

    def filled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with what their names stand for."""
        return {name: self._filled(value) for name, value in arguments.items()}

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            return self.facts[value[1:]]
        return value

    async def settled(self, tool: str, arguments: Mapping[str, Any]) -> Envelope:
        return await self.holdfast.settle(tool, self.filled(arguments))

    def schema(self, tool: str) -> dict[str, Any]:
        found = next(one for one in self.holdfast.tools if one.name == tool)
        return cast("dict[str, Any]", found.input_schema)


def _laid_out(workspace: Path) -> Settings:
    (workspace / "src").mkdir()
    (workspace / "src" / "a.py").write_text("print('till')\n", "utf-8")
    (workspace / "guide.md").write_text("# The till\n\nCount it.\n", "utf-8")
    skills, vault = workspace.parent / "skills", workspace.parent / "vault"
    (skills / "build").mkdir(parents=True)
    (skills / "build" / "SKILL.md").write_text(
        "---\nname: build\ndescription: How to build.\n---\n\nRun make.\n", "utf-8"
    )
    vault.mkdir()
    (vault / "key").write_text("K", "utf-8")
    return Settings(
        skills=SkillSettings(paths=(str(skills),)),
        vault={"keys": VaultSettings(path=str(vault), prompt="Keys.")},
    )


_RUN = (
    asks("outcome_define", title="The till adds up", success_criteria=["the till is counted"]),
    asks("read", path="guide.md"),
    "I counted the till.",
)


@asynccontextmanager
async def standing(workspace: Path) -> AsyncGenerator[Standing]:
    """Everything there is, and an agent with a session of its own beside it."""
    settings = _laid_out(workspace)
    async with (
        managed(workspace, settings=settings, agent=STRANGER) as theirs,
        managed(workspace, settings=settings, model=ScriptedModel([*_RUN, *["Fine."] * 40])) as hf,
    ):
        await result(theirs, "outcome_define", title=SECRET)
        await result(theirs, "memory_write", target="session_state", content=SECRET)
        yield Standing(hf, await _facts(hf, theirs.session_id))


async def _facts(hf: Holdfast, stranger: str) -> dict[str, str]:
    second = await hf.new_session(agent="writer", session=None)
    async for _ in second.run("Count the till."):
        pass
    assert hf.parts.log is not None
    happened = await (await hf.parts.log.journal()).events(second.id)
    child = await result(hf, "session_delegate", message="Look at the till.", title="A look")
    note = await result(hf, "memory_write", target="session_state", content="About the till.")
    shared = await result(hf, "resources_promote_to_substrate", source_path="guide.md")
    command = await result(hf, "shell_run", command="echo till")
    return {
        "here": hf.session_id,
        "second": second.id,
        "stranger": stranger,
        "child": child["child_session"]["session_id"],
        "version": note["version_id"],
        "shared_version": shared["version_id"],
        "command": command["output"]["command_id"],
        "wake": next(one.wake_id for one in happened if one.wake_id is not None),
        "event": next(one.id for one in happened if isinstance(one.payload, UserMessage)),
    }


def steps_in(value: Any) -> list[dict[str, Any]]:
    """All steps anywhere in an answer."""
    if isinstance(value, list):
        return [step for one in cast("list[Any]", value) for step in steps_in(one)]
    if not isinstance(value, dict):
        return []
    told = cast("dict[str, Any]", value)
    inside = [step for one in told.values() for step in steps_in(one)]
    return [told, *inside] if told.keys() >= STEP_KEYS else inside


def told_by(envelope: Envelope) -> Any:
    """The result, or what a failure says beside its words."""
    if envelope.failure is None:
        return envelope.result
    return dict(envelope.failure.extras)


def whole(envelope: Envelope) -> str:
    """All that an envelope says."""
    words = encode_json(msgspec.to_builtins(envelope.failure)).decode()
    return f"{envelope.result_json.decode()} {words} {envelope.warnings}"
