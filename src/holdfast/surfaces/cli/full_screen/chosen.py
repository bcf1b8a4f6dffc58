"""Whether a run can have the whole screen of this terminal, and what stands above it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from holdfast.surfaces.cli.colours import unwanted
from holdfast.surfaces.cli.screen import Screen


def why_not(screen: Screen, variables: Mapping[str, str] | None = None) -> str | None:
    """Why the whole screen cannot be had here; None: it can."""
    around = os.environ if variables is None else variables
    if sys.stdin is None or not sys.stdin.isatty():
        return "standard input is no terminal"
    if not screen.is_terminal:
        return "standard output is no terminal"
    if around.get("TERM", "dumb") == "dumb":
        return "this terminal (TERM) is a plain one"
    return unwanted(around)


def place_shown(workspace: str) -> str:
    """Where the agent works, as people write it."""
    place, home = Path(workspace).resolve(), os.environ.get("HOME")
    if not home or Path(home) not in place.parents:
        return str(place)
    return f"~/{place.relative_to(home)}"
