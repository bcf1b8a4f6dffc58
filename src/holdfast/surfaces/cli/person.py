"""The person at this terminal: what they are called, and whether they agree."""

import os
import pwd
import sys

from holdfast.surfaces.cli.screen import Screen

_YES = frozenset({"y", "yes"})


def person_here() -> str:
    """The name of the user that this runs as, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


def agrees(question: str, screen: Screen, *, unasked: str, otherwise: str) -> bool:
    """Ask, and say what did not happen otherwise; without a terminal nobody agrees. Blocking."""
    if sys.stdin is None or not sys.stdin.isatty():
        screen.remark(f"{unasked}; {otherwise}")
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in _YES:
        return True
    screen.remark(otherwise)
    return False
