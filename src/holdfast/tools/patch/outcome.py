"""What becomes of all files of a patch, worked out before anything is written.

Each file is read once. A later part of a patch sees what the earlier ones made of a file; a rename
or copy takes the file as it was before, as git does.
"""

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.contract.errors import FileNotFound
from holdfast.contract.files import Files
from holdfast.tools.files.writing import refuse_too_large
from holdfast.tools.patch import applying
from holdfast.tools.patch.links import Links
from holdfast.tools.patch.model import FilePatch, does_not_apply

_EXECUTABLE = 0o111
_READABLE = 0o444


class FileState(NamedTuple):
    """A file, as it is or is to be."""

    content: bytes
    mode: int | None
    """None: as new files are."""
    revision: str | None = None
    """Of what is on the disk."""


class Step(NamedTuple):
    """What is to happen at one path."""

    path: str
    before: FileState | None
    after: FileState | None


class Outcome:
    """The files of one patch, as they are and as they are to be."""

    def __init__(self, files: Files, bound: int, patches: Iterable[FilePatch]) -> None:
        self._files = files
        self._links = Links(files)
        self._bound = bound
        self._disk: dict[str, FileState | None] = {}
        self._made: dict[str, FileState | None] = {}
        patches = list(patches)
        self._leaving = {one.old for one in patches if one.kind in ("delete", "rename")}
        for one in patches:
            self._add(one)

    def steps(self) -> list[Step]:
        """What is to be done: removals first, so that a new file finds its place free."""
        found = [
            Step(path, self._on_disk(path), after)
            for path, after in self._made.items()
            if not _same(self._on_disk(path), after)
        ]
        return sorted(found, key=lambda step: step.after is not None)

    def _add(self, patch: FilePatch) -> None:
        before = None if patch.old is None else self._before(patch, patch.old)
        if patch.kind in ("add", "rename", "copy") and patch.new is not None:
            self._refuse_existing(patch.new)
        content = b"" if before is None else before.content
        content = patch.content or applying.applied(content, patch)
        if patch.kind == "delete" and content and not patch.whole:
            raise does_not_apply(patch.name, None, "it is to be deleted, but has other lines, too.")
        if patch.kind in ("delete", "rename") and patch.old is not None:
            self._made[patch.old] = None
        if patch.new is not None:
            refuse_too_large(len(content), self._bound, f"{patch.new}, patched,", field="patch")
            self._made[patch.new] = FileState(content, _mode(before, patch))

    def _before(self, patch: FilePatch, path: str) -> FileState | None:
        taken_from_disk = patch.kind in ("rename", "copy") or path not in self._made
        found = self._on_disk(path) if taken_from_disk else self._made[path]
        if found is not None or patch.may_be_new:
            return found
        if not taken_from_disk:
            raise does_not_apply(path, None, "an earlier part of the patch deletes or renames it.")
        raise FileNotFound(f"There is no {path} to patch. Nothing was changed.", field="patch")

    def _refuse_existing(self, path: str) -> None:
        there = self._made[path] if path in self._made else self._on_disk(path)
        if there is not None and path not in self._leaving:
            raise does_not_apply(path, None, "it exists already, and is to be made anew.")

    def _on_disk(self, path: str) -> FileState | None:
        if path not in self._disk:
            self._disk[path] = self._read(path)
        return self._disk[path]

    def _read(self, path: str) -> FileState | None:
        try:
            facts = self._files.stat(path)
        except FileNotFound:
            self._links.refuse_to_nothing(path)
            return None
        self._links.refuse(path, facts)
        refuse_too_large(facts.byte_count, self._bound, path, field="patch")
        # Every byte is a character of Latin-1: nothing is lost, and the revision is told.
        found = self._files.read_text(path, encoding="latin-1")
        return FileState(found.text.encode("latin-1"), facts.mode, found.revision)


def _mode(before: FileState | None, patch: FilePatch) -> int | None:
    mode = None if before is None else before.mode
    if patch.executable is None:
        return mode
    if mode is None:
        return 0o755 if patch.executable else None
    without = mode & ~_EXECUTABLE
    return without | (mode & _READABLE) >> 2 if patch.executable else without


def _same(before: FileState | None, after: FileState | None) -> bool:
    if before is None or after is None:
        return before is after
    return before.content == after.content and after.mode in (None, before.mode)
