"""A process whose agent has work done in the background, and rests meanwhile, until it is killed.

python losing_child.py FOLDER        says when it is there, and waits for its end
"""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
from agents_at_work import calls, home_of

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.agent.models.scripted import Played, Turn
from holdfast.app.settings import Settings
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelRequest

BACKGROUND = ("task", '{"subagent_type": "worker", "prompt": "Child.", "background": true}')
BOSS = Agent(id="boss", description="Leads.", subagents=("worker",))
WORKER = Agent(id="worker", description="Works.", mode="subagent")


def options(folder: Path, model: ScriptedModel) -> dict[str, Any]:
    return {
        "settings": Settings(),
        "surroundings": home_of(folder),
        "profile": "locked",
        "workspace": folder,
        "agent": BOSS,
        "agents": [WORKER],
        "model": model,
    }


def turn(request: ModelRequest) -> Played:
    if UserChunk("Child.") in request.rows:
        return Turn(text="Never.", seconds=60)
    return calls(BACKGROUND) if request.rows[-1] == UserChunk("Go.") else "It works."


async def main(folder: Path) -> None:
    async with Holdfast(**options(folder, ScriptedModel([turn] * 9))) as hf:
        session = await hf.new_session()
        await session.send("Go.")
        await session.wake()
        os.write(1, b"there\n")
        await anyio.sleep(60)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
