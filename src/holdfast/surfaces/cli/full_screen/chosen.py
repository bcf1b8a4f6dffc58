"""Whether a run is shown on the whole screen: who wants it, and whether this terminal can."""

import os
import sys
from collections.abc import Mapping

from holdfast.surfaces.cli.screen import Screen

LEAST_COLUMNS = 20


def why_not(screen: Screen, variables: Mapping[str, str] | None = None) -> str | None:
    """Why the whole screen cannot be had here; None: it can."""
    around = os.environ if variables is None else variables
    if sys.stdin is None or not sys.stdin.isatty():
        return "standard input is no terminal"
    if not screen.is_terminal:
        return "standard output is no terminal"
    if around.get("TERM", "dumb") == "dumb":
        return "this terminal (TERM) is a plain one"
    if around.get("NO_COLOR"):
        return "NO_COLOR is set"
    return None
