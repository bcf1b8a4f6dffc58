"""Instructions that lie in a project: found from its root down to the workspace, nearest last.

They are the project's words, and a project may be anybody's: each file stands under a line that
names it, and no line of a file can look like such a line. Files are read by a function that is
handed in, which also decides whether a link is followed.
"""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from holdfast.agent.one_line import one_line
from holdfast.contract.paths import is_within

NAMES = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
MOST_TOKENS = 8_000
_HEADER = "=== Project instructions: "
_END = "=== End of the project's instructions ==="
_CUT = "\n[cut here: all instructions together are too long]"
_LEFT_OUT = "=== Left out, as all instructions together are too long: "
_LONGEST_NAMES = 400
_BETWEEN = "\n\n"
_CHARACTERS_A_TOKEN = 4
_LEAST_WORTH_IT = 200
"""In characters: less of a file is not worth beginning it."""


class NotRead(msgspec.Struct, frozen=True):
    """A file that is there and was not read: a link, no text, not allowed."""

    reason: str


ReadFile = Callable[[str], str | NotRead | None]
"""From an absolute path: what the file says; None: it is not there."""

Places = Sequence[tuple[str, str]]
"""Files that may hold some: each path, and as people are shown it; the nearest last."""


class InstructionFile(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file."""

    path: str
    """Relative to the project's root."""
    fate: Literal["whole", "cut", "left_out", "unreadable", "repeated"]
    """``repeated``: a nearer file says exactly the same."""
    text: str = ""
    """What is told of it."""
    reason: str | None = None
    """Where it could not be read."""


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """All that a project instructs."""

    text: str
    """For the prompt; empty without instructions."""
    files: tuple[InstructionFile, ...]
    """In the order they stand in, with those that do not."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """A line for each file that is not told as it is, for people."""
        return tuple(_remark(file) for file in self.files if file.fate not in ("whole", "repeated"))


def instruction_places(workspace: str, root: str) -> Places:
    """Where to look, by absolute paths; without a root above it, in the workspace alone."""
    start, above = posixpath.normpath(workspace), posixpath.normpath(root)
    top = above if is_within(start, above) else start
    folders = [start]
    while folders[-1] != top:
        folders.append(posixpath.dirname(folders[-1]))
    paths = [posixpath.join(folder, name) for folder in reversed(folders) for name in NAMES]
    return tuple((path, posixpath.relpath(path, top)) for path in paths)


def project_instructions(
    places: Places, read: ReadFile, most_tokens: int = MOST_TOKENS
) -> Instructions:
    """Read them. Where all are too long the nearest count most: the farthest are left out by name,
    and one in between is cut."""
    contents = [(shown, read(path)) for path, shown in reversed(places)]
    found = [(shown, content) for shown, content in contents if content is not None]
    room = most_tokens * _CHARACTERS_A_TOKEN - len(_END)
    files, line = _files(found, room), ""
    while (now := _left_out(files)) != line:
        # Naming them takes room, too: that leaves no more of them than there are files.
        line = now
        files = _files(found, room - len(line) - len(_BETWEEN))
    texts = [file.text for file in files if file.text]
    ends = filter(None, (line, _END))
    return Instructions(text=_BETWEEN.join((*texts, *ends)) if texts else "", files=files)


def _files(found: Sequence[tuple[str, str | NotRead]], left: int) -> tuple[InstructionFile, ...]:
    """What becomes of each, the farthest first; ``found``: the nearest first."""
    files: list[InstructionFile] = []
    told: set[str] = set()
    for shown, content in found:
        file = _file(shown, content, left, told)
        left = 0 if file.fate in ("cut", "left_out") else left - len(file.text) - len(_BETWEEN)
        told.add(file.text.partition("\n")[2])
        files.insert(0, file)
    return tuple(files)


def _left_out(files: Iterable[InstructionFile]) -> str:
    """Which files are not told, so that whoever needs one can read it; empty: all are."""
    names = ", ".join(file.path for file in files if file.fate == "left_out")
    return f"{_LEFT_OUT}{one_line(names, _LONGEST_NAMES)} ===" if names else ""


def _file(shown: str, content: str | NotRead, left: int, told: set[str]) -> InstructionFile:
    path = one_line(shown)
    if isinstance(content, NotRead):
        return InstructionFile(path=path, fate="unreadable", reason=one_line(content.reason))
    body = _body(content)
    if not body or body in told:
        return InstructionFile(path=path, fate="repeated" if body else "whole")
    text = f"{_HEADER}{path} ===\n{body}"
    room = left - len(_BETWEEN)
    if len(text) <= room:
        return InstructionFile(path=path, fate="whole", text=text)
    if room < len(_HEADER) + len(path) + len(_CUT) + _LEAST_WORTH_IT:
        return InstructionFile(path=path, fate="left_out")
    return InstructionFile(path=path, fate="cut", text=text[: room - len(_CUT)] + _CUT)


def _body(content: str) -> str:
    """The text of a file, in which no line begins as our own do."""
    lines = content.removeprefix("\ufeff").strip().splitlines()
    return "\n".join(f"> {line}" if _looks_like_ours(line) else line for line in lines)


def _looks_like_ours(line: str) -> bool:
    """Whether it begins as our lines do; a line under a heading of Markdown does not."""
    bare = line.strip()
    return bare.startswith("===") and bool(bare.strip("="))


def _remark(file: InstructionFile) -> str:
    if file.fate == "unreadable":
        return f"{file.path} was not read: {file.reason}"
    what = "cut" if file.fate == "cut" else "left out"
    return f"{file.path} was {what}: all project instructions together are too long"
