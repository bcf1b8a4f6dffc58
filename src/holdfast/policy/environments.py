"""What a place where agents run can offer at all, whatever a tool requires."""

from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

EnvironmentKind: TypeAlias = Literal["web", "cloud", "computer"]

CAPABILITIES_OF: dict[str, frozenset[str]] = {
    "read": frozenset({"fs.read"}),
    "glob": frozenset({"fs.read"}),
    "grep": frozenset({"fs.read"}),
    "write": frozenset({"fs.write"}),
    "edit": frozenset({"fs.read", "fs.write"}),
    "bash": frozenset({"shell.run"}),
    "web_search": frozenset({"net.fetch"}),
    "web_fetch": frozenset({"net.fetch"}),
}
"""What the locked tools exercise. The others stay inside the session and exercise nothing."""

_FILES = frozenset({"fs.read", "fs.write"})


class Environment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an agent runs."""

    kind: EnvironmentKind
    virtual_files: bool = False
    """In a browser: whether the host offers a file system of its own."""
    confined: bool = True
    """Whether what is run can be held inside its scope. A container always does that."""


def withheld(environment: Environment, exercised: Collection[str]) -> str | None:
    """Why the environment cannot offer a tool that exercises these capabilities; None if it can."""
    if environment.kind == "web":
        if "shell.run" in exercised:
            return "A web environment has no shell."
        if not environment.virtual_files and not _FILES.isdisjoint(exercised):
            return "A web environment has no file system."
    if environment.kind == "computer" and not environment.confined and "shell.run" in exercised:
        return "Commands are not run where they cannot be confined."
    return None
