"""A process whose agent delegates, and that runs what is due until it is killed.

python delegating_child.py FOLDER MOMENT        says when it is there, and waits for its end
"""

import os
import sys
from pathlib import Path

import anyio
from app.test_delegated_sessions import DELEGATES, is_child, options

from holdfast import Holdfast, ScriptedModel
from holdfast.agent.models.scripted import Played, Turn
from holdfast.contract.model import ModelRequest


def at(moment: str) -> float:
    """How long to think there."""
    if moment != sys.argv[2]:
        return 0.0
    os.write(1, b"there\n")
    return 60.0


def turn(request: ModelRequest) -> Played:
    if is_child(request):
        return Turn(text="Found two.", seconds=at("child asks"))
    told = str(request.rows[-1].content)
    if told == "Go.":
        return DELEGATES
    return Turn(text="Seen.", seconds=at("parent told" if "wake due" in told else "handed on"))


async def main(folder: Path) -> None:
    async with Holdfast(**options(folder, ScriptedModel([turn] * 9))) as hf:
        session = await hf.new_session()
        async for _ in session.run("Go."):
            pass
        await session.close()
        await hf.run_due()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
