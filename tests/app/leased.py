"""A process that runs an agent's session in a PostgreSQL: `leased.py FOLDER URL SECONDS MARK`.

It says the session's id, runs a command that leaves a process behind, of which MARK is a part, and
says at last how its run ended. SECONDS is how long its lease lasts.
"""

import json
import sys
from pathlib import Path

import anyio

from holdfast import Holdfast, Runtime, tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.agent.place import Equipment
from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_settings import EngineSettings
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.agents import Agent
from holdfast.contract.chunks import AskedCall
from holdfast.contract.journal import JournalError
from holdfast.contract.model import ModelReply

FOLDER, URL, SECONDS, MARK = sys.argv[1:]
EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}


@tool(requires=EVERYTHING)
async def shell(rt: Runtime, command: str) -> str | None:
    """Run a command."""
    return (await rt.shell.run(command)).killed_by


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main() -> None:
    folder, seconds = Path(FOLDER), float(SECONDS)
    command = f"setsid sleep {MARK} & sleep {MARK}"
    asked = AskedCall("c1", "shell", json.dumps({"command": command}))
    model = ScriptedModel([ModelReply(calls=(asked,), finish="tool_calls"), "never"])
    async with Holdfast(
        tools=[shell],
        settings=Settings(
            store=StoreSettings(kind="postgres", url=URL),
            engine=EngineSettings(lease_seconds=seconds, heartbeat_seconds=seconds / 10),
        ),
        surroundings=Surroundings(data_home=folder / "data", state_home=folder / "state"),
        workspace=folder,
        approver="elsewhere",
        agent=Agent(id="coder"),
    ) as hf:
        session = AgentSession(hf.parts, Equipment(model=model), lambda: ("S",))
        await session.send("begin")
        say(session.id)
        try:
            end = await session.wake()
        except JournalError as problem:
            say(f"{type(problem).__name__} after {len(model.requests)}")
        else:
            say(f"{end.ended} after {len(model.requests)}")


if __name__ == "__main__":
    anyio.run(main)
