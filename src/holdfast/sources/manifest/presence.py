"""Whether the programs of a manifest are there and can be executed; asked before they are called.

Nothing is opened or started here.
"""

import os
import stat
from collections.abc import Iterable

import msgspec

from holdfast.sources.manifest.entries import ManifestEntry
from holdfast.sources.manifest.quoting import quoted


class MissingProgram(msgspec.Struct, frozen=True, kw_only=True):
    """An entry whose program cannot be run as things are."""

    name: str
    program: str
    why: str

    @property
    def text(self) -> str:
        """As an error of a start says it."""
        return (
            f"configured tool {quoted(self.name)} is unavailable: {self.why}"
            f" (program {quoted(self.program)})"
        )


def missing_programs(entries: Iterable[ManifestEntry]) -> tuple[MissingProgram, ...]:
    """Those that cannot be run, in order."""
    looked = ((entry, _why_not(entry.command[0])) for entry in entries)
    return tuple(
        MissingProgram(name=entry.name, program=entry.command[0], why=why)
        for entry, why in looked
        if why is not None
    )


def _why_not(program: str) -> str | None:
    try:
        mode = os.stat(program).st_mode  # noqa: PTH116 - the path is taken as it is written
    except OSError as problem:
        return (problem.strerror or str(problem)).lower()
    if not stat.S_ISREG(mode):
        return "it is no file"
    if not os.access(program, os.X_OK):
        return "it may not be executed; run: chmod +x"
    return None
