"""Which ripgrep is run: the one installed beside this Python, or the system's when it is newer."""

import re
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

from holdfast.contract.errors import Unavailable

OLDEST = (13, 0, 0)
_VERSION = re.compile(r"ripgrep (\d+)\.(\d+)\.(\d+)")
_SECONDS = 10.0


@cache
def ripgrep() -> str:
    """Its path, without links; Unavailable says what to install. Looked for once."""
    found = {
        version: path
        for path in reversed(_candidates())
        if (version := _version_of(path)) is not None
    }
    newest = max(found, default=OLDEST)
    if not found or newest < OLDEST:
        raise Unavailable(
            "Searching needs ripgrep 13 or newer, and there is none: run `pip install ripgrep`, or"
            " install the system's package `ripgrep`."
        )
    return found[newest]


def _candidates() -> list[str]:
    """What could be it; of equal versions the first is taken."""
    beside = str(Path(sysconfig.get_path("scripts")) / "rg")
    return [
        str(Path(path).resolve()) for path in (shutil.which(beside), shutil.which("rg")) if path
    ]


def _version_of(path: str) -> tuple[int, ...] | None:
    try:
        done = subprocess.run(
            [path, "--no-config", "--version"],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    told = _VERSION.match(done.stdout)
    return tuple(map(int, told.groups())) if told else None
