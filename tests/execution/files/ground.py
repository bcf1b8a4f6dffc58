"""A workspace on the disk, a gate for it, and what it takes to change and undo."""

import os
import random
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from holdfast.contract.errors import ToolError
from holdfast.contract.gates import Access, PathGate, PathLeave, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.ports import PathProblem
from holdfast.execution.files.changes import DEFAULT_QUOTA, Changes
from holdfast.execution.files.disk_files import DEFAULT_LARGEST_READ, DiskFiles
from holdfast.execution.files.locks import PathLocks
from holdfast.execution.files.recorder import Recorder
from holdfast.execution.files.undo import Undo
from holdfast.execution.path_facts import DiskPaths

PATHS = DiskPaths()


def gate_below(workspace: str, *closed: str) -> PathGate:
    """Admits what the text of a path says and where it leads, if both are in the workspace."""

    def judge(access: Access, path: str, /) -> PathLeave | Refusal:
        seen = PATHS.look(path, workspace)
        if isinstance(seen, PathProblem):
            return Refusal(reason=f"{path}: {seen.trouble}", target=path)
        inside = all(is_within(one, workspace) for one in (seen.lexical, seen.physical))
        shut = [f"{workspace}/{one}" for one in closed]
        seen_in = (seen.lexical, seen.physical)
        if not inside or any(is_within(one, place) for one in seen_in for place in shut):
            needed = f"requires.fs.{access} = ['{path}']"
            return Refusal(reason=f"{path} is out of reach", target=path, requirement=needed)
        return PathLeave(seen.physical)

    return judge


class Ground:
    """One session's workspace."""

    def __init__(self, folder: Path, *, quota: int = DEFAULT_QUOTA) -> None:
        self.root = folder.resolve()
        self.workspace = self.root / "ws"
        self.workspace.mkdir(exist_ok=True)
        self.changes = Changes(self.root / "state" / "changes", time.time_ns, quota=quota)
        self.locks = PathLocks()
        self._undos = 0

    def files(
        self,
        call_id: str = "cal_1",
        *,
        gate: PathGate | None = None,
        largest_read: int = DEFAULT_LARGEST_READ,
    ) -> DiskFiles:
        return DiskFiles(
            gate or gate_below(str(self.workspace), "closed"),
            str(self.workspace),
            self.recorder(call_id),
            self.locks,
            largest_read=largest_read,
        )

    def recorder(self, call_id: str = "cal_1") -> Recorder:
        return Recorder(self.changes, call_id, "probe")

    def undo(self) -> Undo:
        return Undo(self.changes, self._new_id)

    def _new_id(self) -> str:
        self._undos += 1
        return f"undo_{os.getpid()}_{self._undos}"

    def lay(self, files: Mapping[str, bytes], links: Mapping[str, str]) -> None:
        for name, content in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, target in links.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)


Tree = dict[str, tuple[str, int, bytes]]


def tree_of(folder: Path) -> Tree:
    """All there is below a folder: kind, mode, content."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        mode = path.lstat().st_mode & 0o7777
        if path.is_symlink():
            found[name] = ("link", 0, os.fsencode(path.readlink()))
        elif path.is_dir():
            found[name] = ("directory", mode, b"")
        else:
            found[name] = ("file", mode, path.read_bytes())
    return found


NAMES = ["a", "b", "d/x", "d/e/y", "d", "d/e"]


def some_changes(ground: Ground, dice: random.Random, count: int, call: int = 0) -> None:
    """Random changes, also such that fail."""
    for _ in range(count):
        call += dice.random() < 0.4
        files, name = ground.files(f"cal_{call:06}"), dice.choice(NAMES)
        try:
            match dice.randrange(5):
                case 0 | 1:
                    files.write(
                        name, dice.randbytes(dice.randrange(20)), mode=dice.choice([None, 0o600])
                    )
                case 2:
                    files.edit(name, lambda text: text + "!")
                case 3:
                    files.remove(name)
                case _:
                    files.make_directory(name)
        except ToolError:
            continue


def open_handles() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def no_opener(_flags: int) -> None:
    """In the place of `opening._opener`: a system that opens paths part by part."""


@contextmanager
def powerless() -> Generator[None]:
    """As somebody whom permissions bind, also where the tests run as the super-user."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
