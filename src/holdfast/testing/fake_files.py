"""A fake of `rt.fs`: files in memory, with links, modes and a gate of one's own."""

import posixpath
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.errors import (
    DirectoryNotFound,
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
)
from holdfast.contract.files import FileFacts, FileText, Written
from holdfast.contract.gates import Access
from holdfast.contract.paths import is_within
from holdfast.contract.ports import PathProblem
from holdfast.execution.files.reach import refuse_no_name
from holdfast.execution.files.texts import editable, encoded, revision_of, text_of_file
from holdfast.testing.fakes import FakePaths


class _Open(NamedTuple):
    content: bytes

    @property
    def byte_count(self) -> int:
        return len(self.content)

    def read(self, start: int, limit: int, /) -> bytes:
        return self.content[start : start + limit]


class _Entry(msgspec.Struct):
    kind: Literal["file", "directory", "link"]
    content: bytes = b""
    target: str = ""
    mode: int = 0o644
    modified_ns: int = 0


class _Tree:
    """Entries by their absolute path."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.entries: dict[str, _Entry] = {root: _Entry("directory", mode=0o755)}
        self._clock = 0

    def put(self, physical: str, entry: _Entry) -> None:
        self._clock += 1
        entry.modified_ns = self._clock
        above = posixpath.dirname(physical)
        if above not in self.entries:
            self.put(above, _Entry("directory", mode=0o755))
        self.entries[physical] = entry

    def file(self, physical: str, path: str) -> _Entry:
        entry = self.entries.get(physical)
        if entry is None:
            raise FileNotFound(f"There is no {path}.")
        if entry.kind != "file":
            raise InvalidArguments(f"{path} is a directory, not a file.", field="path")
        return entry

    def listed(self, physical: str, path: str) -> list[FileFacts]:
        entry = self.entries.get(physical)
        if entry is None:
            raise DirectoryNotFound(f"There is no directory {path}.")
        if entry.kind != "directory":
            raise InvalidArguments(f"{path} is a file, not a directory.", field="path")
        found = [name for name in self.entries if posixpath.dirname(name) == physical]
        return [self.facts(name) for name in sorted(found)]

    def shown(self, physical: str) -> str:
        return posixpath.relpath(physical, self.root)

    def facts(self, physical: str) -> FileFacts:
        entry = self.entries[physical]
        return FileFacts(
            path=self.shown(physical),
            name=posixpath.basename(physical),
            kind=entry.kind,
            byte_count=len(entry.content),
            modified_ns=entry.modified_ns,
            mode=entry.mode,
        )

    def leads_to(self, path: str) -> str | None:
        links = {name: one.target for name, one in self.entries.items() if one.kind == "link"}
        files = [name for name, one in self.entries.items() if one.kind == "file"]
        seen = FakePaths(files, links).look(path, self.root)
        return None if isinstance(seen, PathProblem) else seen.physical


class FakeFiles:
    """A workspace in memory; everything else is out of reach, and what ``admits`` refuses."""

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        links: Mapping[str, str] | None = None,
        *,
        workspace: str = "/ws",
        admits: Callable[[Access, str], bool] = lambda _access, _path: True,
        largest_read: int = 1 << 26,
    ) -> None:
        """Paths are relative to the workspace, as are those that ``admits`` is asked about."""
        self._tree = _Tree(workspace)
        self._admits = admits
        self._largest = largest_read
        self._being_edited: set[str] = set()
        for name, content in (files or {}).items():
            self._tree.put(posixpath.join(workspace, name), _Entry("file", content))
        for name, target in (links or {}).items():
            self._tree.put(posixpath.join(workspace, name), _Entry("link", target=target))

    def stat(self, path: str, /) -> FileFacts:
        """What there is, at the end of links."""
        physical = self._judged("read", path)
        if physical not in self._tree.entries:
            raise FileNotFound(f"There is no {path}.")
        return self._tree.facts(physical)

    def exists(self, path: str, /) -> bool:
        """Whether something is there and may be seen."""
        try:
            return self._judged("read", path) in self._tree.entries
        except PolicyDenied:
            return False

    @contextmanager
    def opened(self, path: str, /) -> Generator[_Open]:
        """A file as it is now, to be read in parts."""
        yield _Open(self._tree.file(self._judged("read", path), path).content)

    def read_bytes(self, path: str, /, *, start: int = 0, limit: int | None = None) -> bytes:
        """A file, or a part of it."""
        for name, given in (("start", start), ("limit", limit)):
            if given is not None and given < 0:
                raise InvalidArguments(f"{name} is {given}.", field=name)
        content = self._tree.file(self._judged("read", path), path).content[start:]
        wanted = content if limit is None else content[:limit]
        if len(wanted) > self._largest:
            raise OperationFailed(f"{path} is too large.", extras={"reason": "too_large"})
        return wanted

    def read_text(self, path: str, /, *, encoding: str | None = None) -> FileText:
        """A text."""
        return text_of_file(self.read_bytes(path), path, encoding)

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
        """Put a whole file in place."""
        if mode is not None and not 0 <= mode <= 0o777:
            raise InvalidArguments(f"mode is {mode:#o}.", field="mode")
        given = encoded(content, path) if isinstance(content, str) else content
        physical = self._judged("write", path)
        refuse_no_name(path)
        self._refuse_edited(physical, path)
        there = self._tree.entries.get(physical)
        if there is not None:
            self._tree.file(physical, path)
        if new and there is not None:
            raise OperationFailed(f"{path} exists already.", extras={"reason": "exists"})
        if revision is not None and (there is None or revision_of(there.content) != revision):
            raise OperationFailed(f"{path} was changed.", extras={"reason": "stale"})
        kept = 0o644 if there is None else there.mode
        self._tree.put(physical, _Entry("file", given, mode=kept if mode is None else mode))
        return self._written(physical, given, created=there is None)

    def edit(self, path: str, change: Callable[[str], str], /) -> Written:
        """Change a text."""
        physical = self._judged("write", path)
        self._refuse_edited(physical, path)
        content = self._tree.file(physical, path).content
        found = text_of_file(content, path)
        seen = editable(found.text)
        self._being_edited.add(physical)
        try:
            text = seen.restored(change(seen.text))
        finally:
            self._being_edited.remove(physical)
        changed = encoded(text, path, found.encoding, found.mark)
        if changed != content:
            self._tree.put(
                physical, msgspec.structs.replace(self._tree.entries[physical], content=changed)
            )
        return self._written(physical, changed, created=False)

    def make_directory(self, path: str, /) -> None:
        """Make a directory and what is missing above it."""
        physical = self._judged("write", path)
        if physical not in self._tree.entries:
            self._tree.put(physical, _Entry("directory", mode=0o755))
        elif self._tree.entries[physical].kind != "directory":
            raise InvalidArguments(f"{path} is a file, not a directory.", field="path")

    def remove(self, path: str, /) -> None:
        """Remove a file, a link itself or an empty directory."""
        place = self._judged("write", path)
        named = posixpath.normpath(posixpath.join(self._tree.root, path))
        if named in self._tree.entries and self._tree.entries[named].kind == "link":
            place = named
        if place not in self._tree.entries:
            raise FileNotFound(f"There is no {path}.")
        if any(one.startswith(place + "/") for one in self._tree.entries):
            raise OperationFailed(f"{path} is not empty.", extras={"reason": "not_empty"})
        del self._tree.entries[place]

    def list(self, path: str = ".", /) -> tuple[FileFacts, ...]:
        """The entries of a directory, sorted."""
        return tuple(self._tree.listed(self._judged("read", path), path))

    def walk(self, path: str = ".", /) -> Iterator[FileFacts]:
        """Everything below a directory, parents first, sorted."""
        top = self._judged("read", path)
        waiting = self._tree.listed(top, path)[::-1]
        while waiting:
            entry = waiting.pop()
            closed = entry.kind == "directory" and not self._admits("read", entry.path)
            yield msgspec.structs.replace(entry, closed=closed)
            if entry.kind == "directory" and not closed:
                physical = posixpath.join(self._tree.root, entry.path)
                waiting += self._tree.listed(physical, entry.path)[::-1]

    def _judged(self, access: Access, path: str) -> str:
        physical = self._tree.leads_to(path)
        if (
            physical is None
            or not is_within(physical, self._tree.root)
            or not self._admits(access, self._tree.shown(physical))
        ):
            extras = {"target": path, "requirement": None}
            raise PolicyDenied(f"{path} is out of reach.", extras=extras)
        return physical

    def _refuse_edited(self, physical: str, path: str) -> None:
        if physical in self._being_edited:
            raise OperationFailed(f"{path} is being changed.", extras={"reason": "busy"})

    def _written(self, physical: str, content: bytes, *, created: bool) -> Written:
        return Written(
            path=self._tree.shown(physical),
            byte_count=len(content),
            created=created,
            revision=revision_of(content),
        )
