"""A process that runs what is due, and dies of it.

python dying_child.py FOLDER        says that it is there, and what it did, if it came to that
"""

import os
import signal
import sys
from pathlib import Path

import anyio
from app.test_due_sessions import _options  # pyright: ignore[reportPrivateUsage] - of the test

from holdfast import Holdfast, ScriptedModel
from holdfast.contract.model import ModelRequest


def dies(_request: ModelRequest) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


async def main(folder: Path) -> None:
    os.write(1, b"there\n")
    async with Holdfast(**_options(folder, ScriptedModel([dies]))) as hf:
        assert await hf.run_due() == 0
        os.write(1, b"nothing is due\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
