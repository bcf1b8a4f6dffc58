"""What a patch says, whatever notation it is written in. Texts are bytes, lines keep their end."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.errors import InvalidArguments

Kind = Literal["change", "add", "delete", "rename", "copy"]


class Hunk(msgspec.Struct, frozen=True):
    """Lines that are to be replaced by others."""

    number: int
    """In its file, from 1."""
    at: int
    """The line of the patch it begins at."""
    header: str
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


class NumberedHunk(msgspec.Struct, frozen=True):
    """A hunk of a unified diff."""

    hunk: Hunk
    old_start: int
    new_start: int
    trailing: int
    """Unchanged lines at its end."""


class SoughtHunk(msgspec.Struct, frozen=True):
    """A hunk that is found by its lines alone."""

    hunk: Hunk
    below: tuple[bytes, ...]
    """Lines that stand somewhere above it, in this order."""
    at_end: bool
    """It reaches the end of the file."""
    kept: tuple[int, ...]
    """Of its new lines, which ones are unchanged old ones; -1 for the others."""


class FilePatch(NamedTuple):
    """What is to happen to one file."""

    kind: Kind
    at: int
    """The line of the patch it begins at."""
    old: str | None = None
    new: str | None = None
    numbered: tuple[NumberedHunk, ...] = ()
    sought: tuple[SoughtHunk, ...] = ()
    content: bytes = b""
    """Of a file that is added without hunks."""
    whole: bool = False
    """A file is deleted whatever is in it."""
    executable: bool | None = None
    """None: as it is."""
    may_be_new: bool = False
    """A change that adds the file where it is not there."""

    @property
    def name(self) -> str:
        """To speak of it."""
        return self.new or self.old or ""


def lines_of(content: bytes) -> list[bytes]:
    """Lines with their ends; a line feed ends one, and nothing else does."""
    *lines, last = content.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])


def bad_patch(at: int, said: str) -> InvalidArguments:
    """The patch itself is at fault."""
    return InvalidArguments(
        f"Line {at} of the patch: {said} Nothing was changed.",
        field="patch",
        expected="a unified diff, or a text from *** Begin Patch to *** End Patch",
        extras={"reason": "bad_patch", "line": at},
    )


def does_not_apply(name: str, hunk: Hunk | None, said: str) -> InvalidArguments:
    """The patch does not fit the files."""
    place = "" if hunk is None else f", hunk {hunk.number} ({hunk.header}, line {hunk.at})"
    return InvalidArguments(
        f"{name}{place}: {said} Nothing was changed.",
        field="patch",
        extras={
            "reason": "does_not_apply",
            "path": name,
            **({} if hunk is None else {"hunk": hunk.number}),
        },
    )


def sources(patches: Iterable[FilePatch]) -> list[str]:
    """The paths that are read."""
    return list(dict.fromkeys(one.old for one in patches if one.old is not None))


def targets(patches: Iterable[FilePatch]) -> list[str]:
    """The paths that are written or removed."""
    named = (
        name
        for one in patches
        for name in ((one.old, one.new) if one.kind != "copy" else (one.new,))
    )
    return list(dict.fromkeys(name for name in named if name is not None))
