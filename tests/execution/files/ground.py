"""A workspace on the disk, a gate for it, and what it takes to change and undo."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

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
        if not inside or any(is_within(seen.physical, f"{workspace}/{one}") for one in closed):
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
            Recorder(self.changes, call_id, "probe"),
            self.locks,
            largest_read=largest_read,
        )

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


Attempt = Callable[[], object]
