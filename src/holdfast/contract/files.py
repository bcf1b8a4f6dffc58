"""Files as a tool reaches them: `rt.fs`. Blocking calls, for tools that run in a thread.

Paths are written as a model writes them: relative to the workspace, or absolute. Trouble is raised
as the errors of `contract.errors`, so that it ends in the right kind of failure.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

FileKind = Literal["file", "directory", "link", "other"]


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one entry without opening it."""

    path: str
    """As the asking tool would write it: relative to the workspace where it lies in one."""
    name: str
    kind: FileKind
    byte_count: int
    modified_ns: int
    mode: int
    """The permission bits alone."""
    closed: bool = False
    """A walk came to this directory, and may not enter it."""


class FileText(msgspec.Struct, frozen=True, kw_only=True):
    """A text file, and what it takes to write it back the same way."""

    text: str
    encoding: str
    """``utf-8``, ``utf-8-sig``, ``utf-16-le`` ...; what it was decoded with."""
    mark: bytes = b""
    """The byte order mark it begins with; no part of the text."""
    newline: Literal["\n", "\r\n", "\r"]
    """The line ending it mostly has."""
    byte_count: int
    revision: str
    """Stands for exactly this content, to notice a change between reading and writing."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did."""

    path: str
    byte_count: int
    created: bool
    revision: str


class OpenFile(Protocol):
    """A file that stays the same one while it is read in parts, whatever its name leads to."""

    @property
    def byte_count(self) -> int:
        """Its size when it was opened."""
        ...

    def read(self, start: int, limit: int, /) -> bytes:
        """At most so many bytes from there; none past its end."""
        ...


class Files(Protocol):
    """The files within a call's reach. What is judged is what is opened; no link wins a race."""

    def stat(self, path: str, /) -> FileFacts:
        """What there is; FileNotFound when there is nothing."""
        ...

    def exists(self, path: str, /) -> bool:
        """Whether something is there; False also for what may not be seen."""
        ...

    def opened(self, path: str, /) -> AbstractContextManager[OpenFile]:
        """A file, to be read in parts: ``with rt.fs.opened("log") as log: log.read(0, 100)``."""
        ...

    def read_bytes(self, path: str, /, *, start: int = 0, limit: int | None = None) -> bytes:
        """Read a file, or a part of it."""
        ...

    def read_text(self, path: str, /, *, encoding: str | None = None) -> FileText:
        """Read a text; BinaryFile when it is none, unless an encoding says how to read it."""
        ...

    def write(
        self,
        path: str,
        content: bytes | str,
        /,
        *,
        mode: int | None = None,
        new: bool = False,
        revision: str | None = None,
    ) -> Written:
        """Put a whole file in place at once, keeping its mode; parents are made.

        ``new``: it must not exist yet. ``revision``: it must still be as it was read; otherwise
        nothing is written, for the reason ``stale``.
        """
        ...

    def edit(self, path: str, change: Callable[[str], str], /) -> Written:
        """Change a text: nobody else of this session changes it meanwhile; byte order mark,
        encoding and line endings stay, and an unchanged text is not written.

        ``change`` sees line feeds where the file has one kind of line ending alone. The reason
        ``stale``: somebody else changed the file meanwhile; it was not overwritten.
        """
        ...

    def make_directory(self, path: str, /) -> None:
        """Make a directory and what is missing above it."""
        ...

    def remove(self, path: str, /) -> None:
        """Remove a file, a link (itself, not what it leads to) or an empty directory."""
        ...

    def list(self, path: str = ".", /) -> tuple[FileFacts, ...]:
        """The entries of a directory, sorted by name.

        Leave to read a directory is leave to see what `ls -l` shows of it: links are named and
        not followed; to read an entry takes leave of its own.
        """
        ...

    def walk(self, path: str = ".", /) -> Iterator[FileFacts]:
        """Everything below a directory, parents first, sorted.

        Each directory is judged once, and one that may not be read is told as ``closed``.
        """
        ...
