"""A program that is killed while an agent below its own works in the background.

Started with a folder; says the id of its session before it is gone.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
from agents_at_work import at_work, calls

from holdfast import Agent, Holdfast, Subagent

CODER = Agent(id="coder")


async def works(_child: Holdfast, _prompt: str) -> str:
    """Never come to an end."""
    await anyio.sleep_forever()
    return "never"


REVIEWER = {"reviewer": Subagent(run=works, description="Looks at things.")}
TASK = ("task", '{"subagent_type": "reviewer", "prompt": "Look at it.", "background": true}')


async def main(folder: Path) -> None:
    turns = [calls(TASK), "It is being looked at."]
    options: dict[str, Any] = {"profile": "locked", "agent": CODER, "subagents": REVIEWER}
    async with at_work(folder, turns, workspace=folder / "work", **options) as desk:
        await desk.session.send("Have it looked at.")
        end = await desk.session.wake()
        assert end.response == "It is being looked at."
        sys.stdout.write(desk.session.id)
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
