"""A process that runs a session of an agent, in a window of its own: `owner.py FOLDER SCRIPT BUS`.

It says the session's id in its first line, and how the run ended in its last. What its model does
is written in the script, a JSON list of turns; it waits where it is told to until a file is there.
Without the address of a bus it is reached by its socket alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
from interrupts import until

from holdfast import Holdfast, Runtime, tool
from holdfast.agent.place import Equipment
from holdfast.app import run_watch
from holdfast.app.agent_session import AgentSession
from holdfast.app.settings import Settings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.who_answers import answered_elsewhere
from holdfast.contract.chunks import AskedCall
from holdfast.contract.model import Heard, ModelReply, ModelRequest, TextDelta
from holdfast.contract.person import Person, PersonQuestion
from holdfast.contract.runtime import Progress
from holdfast.engine.cluster.bus import bus_place
from holdfast.engine.cluster.door import NatsServers
from holdfast.runtime import hearing, people

FOLDER = Path(sys.argv[1])
EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}


@tool(permission_policy="always_ask")
async def launch(name: str) -> str:
    """Launch something."""
    return f"{name} is on its way"


@tool
async def inquire(person: Person, question: str) -> str:
    """Ask a person."""
    said = await person.ask([PersonQuestion(question=question)], lasting=True)
    return said.answers[0][0]


@tool(interrupt_behavior="cancel")
async def forever(rt: Runtime) -> str:
    """Wait for ever."""
    rt.progress(Progress(message="still here", done=1, total=2))
    await anyio.sleep_forever()
    raise AssertionError


@tool(requires=EVERYTHING)
async def shell(rt: Runtime, command: str) -> str | None:
    """Run a command."""
    return (await rt.shell.run(command)).killed_by


class Scripted:
    """A model that does what the script says."""

    name = provider = "scripted"
    window = 128_000
    max_output_tokens = 8_192

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self._turns = turns

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        turn = self._turns.pop(0)
        text = ""
        for piece in [*turn.get("pieces", []), *[f"{n} " for n in range(turn.get("flood", 0))]]:
            await self._until(turn.get("before"))
            text += piece
            if heard is not None:
                heard(TextDelta(piece))
        await self._until(turn.get("hold"))
        if turn.get("echo"):
            text = "I heard: " + " | ".join(
                row.content or "" for row in request.rows if type(row).__name__ == "UserChunk"
            )
        asked = tuple(
            AskedCall(f"c{number}", name, json.dumps(given))
            for number, (name, given) in enumerate(turn.get("calls", []))
        )
        return ModelReply(text=text or None, calls=asked, finish="tool_calls" if asked else "stop")

    async def _until(self, name: str | None) -> None:
        if name is not None:
            await until((FOLDER / name).exists)

    async def close(self) -> None:
        """Nothing is held."""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main() -> None:
    # It does not find by itself what is written down: it has to be told to look.
    run_watch.LOOK_SECONDS = hearing.LOOK_SECONDS = people.LOOK_SECONDS = 3600
    settings = Settings()
    around = surroundings_of_this_process(settings)
    if len(sys.argv) > 3:
        around = msgspec.structs.replace(around, bus=bus_place(NatsServers(servers=(sys.argv[3],))))
    workspace = FOLDER / "ws"
    workspace.mkdir(exist_ok=True)
    async with Holdfast(
        tools=[launch, inquire, forever, shell],
        settings=settings,
        surroundings=around,
        workspace=workspace,
        approver=answered_elsewhere,
        person="elsewhere",
    ) as hf:
        model = Scripted(json.loads(sys.argv[2]))
        session = AgentSession(hf.parts, Equipment(model=model, interactive=True), lambda: ("S",))
        await session.send("begin")
        say(session.id)
        async for _ in session.run():
            pass
        end = session.last
        assert end is not None
        say(json.dumps({"ended": end.ended, "response": end.response}))
        await anyio.to_thread.run_sync(sys.stdin.read)  # whoever watches is told the rest


if __name__ == "__main__":
    anyio.run(main)
