"""A worker as the product puts it together, whose agent's tool runs a confined process.

python tooled.py URL SERVERS NAMESPACE NAME FOLDER HOME

The process writes down, again and again, that it runs: a line for each beat in FOLDER/beats, with
what it was run for, the worker's name, a number and the moment. HOME is the worker's own; the key
of the journal is in FOLDER. It says when it has begun and which sessions it was refused, and is
gone when its input ends.
"""

import os
import sys
from pathlib import Path
from threading import Thread

import anyio

from holdfast import Holdfast, Runtime, ScriptedModel, tool
from holdfast.agent.models.scripted import Played
from holdfast.app.agent_settings import ClusterSettings, EngineSettings
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.agents import Agent
from holdfast.contract.chunks import AskedCall, ToolResultChunk
from holdfast.contract.journal import JournalError, StaleEpoch
from holdfast.contract.model import ModelReply, ModelRequest
from holdfast.contract.wakes import WakeEnd

LEASE_SECONDS = 3.0
EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}
BEATS = "beats"
TIMES = 150
LONG = 200_000
_AGAIN_SECONDS = 0.2
_BEAT = (
    "for i in $(seq {times}); do echo {mark} {name} $i $(date +%s%N) >> {file}; sleep 0.03; done"
)


def settings_of(url: str, servers: str, namespace: str) -> Settings:
    return Settings(
        store=StoreSettings(kind="postgres", url=url),
        engine=EngineSettings(
            kind="cluster", lease_seconds=LEASE_SECONDS, heartbeat_seconds=LEASE_SECONDS / 6
        ),
        cluster=ClusterSettings(servers=tuple(servers.split(",")), namespace=namespace, replicas=3),
    )


def opened(settings: Settings, folder: Path, home: Path, name: str) -> Holdfast:
    @tool(requires=EVERYTHING)
    async def beat(rt: Runtime, mark: str) -> str:
        """Beat for a while, and say so at a length that has to be kept in a file."""
        asked = _BEAT.format(times=TIMES, mark=mark, name=name, file=folder / "work" / BEATS)
        return f"{(await rt.shell.run(asked)).killed_by} {'x ' * LONG}"

    return Holdfast(
        tools=[beat],
        settings=settings,
        surroundings=Surroundings(data_home=home, state_home=folder / "state"),
        workspace=str(folder / "work"),
        approver="elsewhere",
        agent=Agent(id="beater"),
        model=ScriptedModel([_turn] * 100_000),
    )


def _turn(request: ModelRequest) -> Played:
    last = request.rows[-1]
    if isinstance(last, ToolResultChunk):
        return "Done."
    mark = str(last.content)
    asked = AskedCall(f"c{mark}", "beat", f'{{"mark": "{mark}"}}')
    return ModelReply(calls=(asked,), finish="tool_calls")


async def main(*words: str) -> None:
    url, servers, namespace, name, *places = words
    folder, home = map(Path, places)
    while True:
        try:
            await _work(opened(settings_of(url, servers, namespace), folder, home, name))
        except JournalError:
            await anyio.sleep(_AGAIN_SECONDS)  # as one that is started again until it can be


async def _work(opened: Holdfast) -> None:
    async with opened as hf:
        wake = hf.agents.wake

        async def told(session_id: str, /) -> WakeEnd:
            try:
                return await wake(session_id)
            except StaleEpoch:
                _say(f"refused {session_id}")
                raise

        hf.agents.wake = told
        _say("begun")
        await hf.run_due(forever=True)


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    Thread(target=_end_with_input, daemon=True).start()
    anyio.run(main, *sys.argv[1:])
