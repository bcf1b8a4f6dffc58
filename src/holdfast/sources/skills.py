"""Skills in folders: found once, in the order of the folders; read when they are asked for.

`<folder>/<name>/SKILL.md` or `<folder>/<name>.md`. No link is followed inside of a folder, and what
cannot be one is passed over with a remark. Whose folders these are is not known here.
"""

import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.skills import Skill
from holdfast.contract.truncate import cut_text
from holdfast.sources.frontmatter import Fronted, Malformed, parted

SKILL_FILE = "SKILL.md"
LONGEST_FILE = 256 * 1024
LONGEST_DESCRIPTION = 1024
MOST_ENTRIES = 1000
"""How many entries of one folder are looked at."""
_NAME = late_pattern(r"[a-z][a-z0-9-]*")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class _Found(msgspec.Struct, frozen=True):
    skill: Skill
    root: Path
    """The folder of skills as it really is, captured when it was found."""
    parts: tuple[str, ...]
    """The way from there to the file."""


class SkillFolders:
    """The skills of some folders: the first of a name wins. Safe to use from any thread."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._found: dict[str, _Found] = {}
        self._bodies: dict[str, str] = {}
        self._lock = threading.Lock()
        remarks: list[str] = []
        for folder in folders:
            for found in _in_folder(folder, remarks):
                first = self._found.setdefault(found.skill.name, found)
                if first is not found:
                    remarks.append(
                        f"{found.skill.origin}: a skill {found.skill.name!r} was found before, in"
                        f" {first.skill.origin}, and that one counts"
                    )
        self.remarks = tuple(remarks)

    def all(self) -> tuple[Skill, ...]:
        """Those that can be loaded, by name."""
        return tuple(self._found[name].skill for name in sorted(self._found))

    def body(self, name: str, /) -> str | None:
        """The instructions of a skill, the same each time; None: there is no such skill."""
        found = self._found.get(name)
        if found is None:
            return None
        with self._lock:
            if name not in self._bodies:
                self._bodies[name] = _loaded(found)
            return self._bodies[name]


def _loaded(found: _Found) -> str:
    try:
        return _read(found.root, found.parts).body
    except (OSError, Malformed) as problem:
        raise Unavailable(
            f"The skill {found.skill.name!r} cannot be loaded any more: {_why(problem)}. Go on"
            " without it, and say so."
        ) from None


def _in_folder(folder: Path, remarks: list[str]) -> Iterator[_Found]:
    try:
        root = folder.resolve(strict=True)
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries)
    except FileNotFoundError:
        return
    except (OSError, RuntimeError) as problem:
        remarks.append(f"{folder}: its skills are passed over: {_why(problem)}")
        return
    if len(names) > MOST_ENTRIES:
        remarks.append(f"{folder}: only {MOST_ENTRIES} of {len(names)} entries are looked at")
    for name in names[:MOST_ENTRIES]:
        parts = _candidate(root, name)
        if parts is None:
            continue
        origin = str(folder.joinpath(*parts))
        try:
            yield _Found(_skill(_read(root, parts), origin), root, parts)
        except FileNotFoundError:
            continue  # a folder of something else
        except (OSError, Malformed) as problem:
            remarks.append(f"{origin}: it is passed over: {_why(problem)}")


def _candidate(root: Path, name: str) -> tuple[str, ...] | None:
    """The way to the file that an entry stands for; None: it stands for none."""
    if name.startswith("."):
        return None
    if name.endswith(".md"):
        return (name,)
    with suppress(OSError):
        kind = (root / name).lstat().st_mode
        if stat.S_ISDIR(kind) or stat.S_ISLNK(kind):
            return (name, SKILL_FILE)
    return None


def _skill(file: Fronted, origin: str) -> Skill:
    name, description = file.fields.get("name", ""), file.fields.get("description", "")
    if _NAME.fullmatch(name) is None:
        raise Malformed(
            f"its name is {name!r}; it takes small letters, digits and dashes, a letter first"
        )
    line = " ".join(description.split())
    if not line:
        raise Malformed("its frontmatter has no description")
    return Skill(name=name, description=cut_text(line, LONGEST_DESCRIPTION), origin=origin)


def _read(root: Path, parts: tuple[str, ...]) -> Fronted:
    """The file below the folder, without following any link on the way there."""
    above = os.open(root, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
            above = below
        handle = os.open(parts[-1], _FILE, dir_fd=above)
    finally:
        os.close(above)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Malformed("it is no file")
        content = file.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise Malformed(f"it is larger than {LONGEST_FILE:,} bytes")
    try:
        return parted(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed("it is not UTF-8 text") from None


def _why(problem: Exception) -> str:
    if isinstance(problem, OSError):
        # Where a link stands, an open that follows none says one of these.
        links = {"Too many levels of symbolic links", "Not a directory"}
        said = problem.strerror or type(problem).__name__
        return "a link is in the way, and none is followed" if said in links else said
    return str(problem)
