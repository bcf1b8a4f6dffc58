"""A process whose subagent pauses, or goes on once it was answered, until it is killed.

python pausing_child.py FOLDER [asks here]      says when it is there, and waits for its end
"""

import os
import sys
from pathlib import Path

import anyio
from app.test_paused_subagents import DEPLOYS, TO_WORKER, asked_to, calls, options

from holdfast import Answer, Ask, Holdfast, ScriptedModel
from holdfast.agent.models.scripted import Played, Turn
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.model import ModelRequest


def turn(request: ModelRequest) -> Played:
    if not any(row.content == "Child." for row in request.rows):
        return calls(TO_WORKER)
    if not isinstance(request.rows[-1], ToolResultChunk):
        return DEPLOYS
    os.write(1, b"there\n")  # it was answered, and has run
    return Turn(text="Never.", seconds=60)


async def asked_here(_ask: Ask) -> Answer | None:
    os.write(1, b"there\n")
    await anyio.sleep(60)
    return None


async def main(folder: Path, *words: str) -> None:
    given = options(folder, ScriptedModel([turn] * 9))
    if words:
        given["approver"] = asked_here
    async with Holdfast(**given) as hf:
        if not await hf.run_due():
            await asked_to(hf)
            await hf.run_due()
        os.write(1, b"there\n")
        await anyio.sleep(60)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), *sys.argv[2:])
