"""A tree of directories as text: bounded, and with the number of what is not shown."""

from collections.abc import Iterator

import msgspec

from holdfast.contract.truncate import cut_text

MOST_LINES = 300
MOST_PER_FOLDER = 40
_LONGEST_NAME = 120


class Folder:
    """A directory, and what was counted in it."""

    def __init__(self, name: str, above: "Folder | None" = None) -> None:
        self.name = name
        self._above = above
        self.folders: list[Folder] = []
        self.names: list[str] = []
        self.files = 0
        """Below it, at every depth."""
        self.directories = 0

    def add(self, name: str) -> "Folder":
        """A directory in it."""
        below = Folder(name, self)
        self.folders.append(below)
        for one in self._upwards():
            one.directories += 1
        return below

    def file(self, name: str) -> None:
        """A file in it."""
        self.names.append(name)
        for one in self._upwards():
            one.files += 1

    def _upwards(self) -> "Iterator[Folder]":
        one: Folder | None = self
        while one is not None:
            yield one
            one = one._above


class Tree(msgspec.Struct, frozen=True):
    """The text, and how much lies too deep for it."""

    text: str
    too_deep: int


def tree_of(top: Folder, depth: int) -> Tree:
    """The tree down to a depth: directories first, each sorted by name."""
    lines: list[str] = []
    too_deep = 0
    waiting: list[tuple[int, str | Folder]] = list(reversed(_entries(top, 0)))
    while waiting:
        level, one = waiting.pop()
        if isinstance(one, str):
            lines.append("  " * level + one)
            continue
        inside = one.files + one.directories
        deepest = level + 1 >= depth
        lines.append("  " * level + _named(one, counted=deepest and inside > 0))
        if deepest:
            too_deep += inside
        else:
            waiting += reversed(_entries(one, level + 1))
    left = len(lines) - MOST_LINES
    if left > 0:
        more = f"... {left:,} more lines: ask with a path or a smaller depth"
        lines = [*lines[:MOST_LINES], more]
    return Tree("\n".join(lines), too_deep)


def _entries(folder: Folder, level: int) -> list[tuple[int, str | Folder]]:
    folders = sorted(folder.folders, key=lambda one: one.name)
    inside: list[str | Folder] = [*folders, *map(_shown, sorted(folder.names))]
    left = len(inside) - MOST_PER_FOLDER
    if left > 0:
        inside = [*inside[:MOST_PER_FOLDER], f"... {left:,} more"]
    return [(level, one) for one in inside]


def _named(folder: Folder, *, counted: bool) -> str:
    said = f" ({folder.files:,} files)" if counted else ""
    return f"{_shown(folder.name)}/{said}"


def _shown(name: str) -> str:
    """A name on one line, whatever is in it."""
    plain = name if name.isprintable() else ascii(name)[1:-1]
    return cut_text(plain, _LONGEST_NAME)
