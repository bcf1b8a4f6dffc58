"""Asks before a command writes where nothing in the kernel keeps protected places from it.

With a file system of its own a command cannot change a commit hook or a shell's rc file, although
they lie in a folder it may write. Without one it could: then a person is asked about every command
that does not surely read only. How commands are confined is told by a port.
"""

from collections.abc import Awaitable
from typing import Protocol

from holdfast.contract.rules import Use
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy import read_only

UNPROTECTED = (
    "It may write, and on this machine nothing keeps commands from protected places such as"
    " .git/hooks; with bubblewrap installed they would be kept, and nobody asked."
)
_ASK = Opinion("ask", UNPROTECTED)


class Protects(Protocol):
    """Says whether the commands of a tool are kept from protected places."""

    def __call__(self, tool: str, /) -> bool | Awaitable[bool]:
        """To be awaited only where nobody knows yet."""
        ...


class UnprotectedWrites:
    """The hook."""

    __name__ = "unprotected_writes"

    def __init__(self, protects: Protects) -> None:
        self._protects = protects

    def __call__(self, inspection: Inspection, /) -> Opinion | Awaitable[Opinion]:
        """Give an opinion."""
        if all(map(_only_reads, inspection.uses)):
            return NOTHING_AGAINST_IT
        protects = self._protects(inspection.tool)
        return _of(protects) if isinstance(protects, bool) else _told(protects)


def _only_reads(use: Use) -> bool:
    if use.capability == "fs.write":
        # Beside a command: one of its redirections. By itself: a file tool, which is kept anyway.
        return use.within is None
    return use.kind != "command" or (use.doubt is None and read_only.is_read_only(use.target))


def _of(protects: bool) -> Opinion:  # noqa: FBT001 - one fact, passed on
    return NOTHING_AGAINST_IT if protects else _ASK


async def _told(protects: Awaitable[bool]) -> Opinion:
    return _of(await protects)
