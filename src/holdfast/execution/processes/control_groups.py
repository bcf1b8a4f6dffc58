"""Control groups: limits that all processes of a sandbox share, where one can be made here.

A group of our own is made beside the process that asks, in the hierarchies that can limit what is
wanted: the unified one, or the separate ones of older systems. Others' groups are never touched.
"""

import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.sandbox import SandboxLimits

RESERVED_PROCESSES = 64
"""For the keeper, the warden and its spawners, which are counted, too."""

_DYING_SECONDS = 5.0

STALE_SECONDS = 30
"""A younger group may belong to a runtime that is just about to enter it."""

_NAME = late_pattern(r"holdfast-([1-9]\d{0,8})-[0-9a-f]{16}")

ENTER = (
    'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 71; shift; done; shift; exec "$@"'
)
"""A shell's words to enter groups and become the program behind ``--``."""


class Hierarchy(NamedTuple):
    """Where groups can be made that limit something."""

    parent: Path
    """The group that this process is in, or the nearest one above that lets us make another."""
    unified: bool
    controllers: frozenset[str]


class ControlGroups:
    """Groups that hold one sandbox."""

    def __init__(self, folders: list[Path], limited: frozenset[str]) -> None:
        self._folders = folders
        self.limited = limited
        """Of ``processes`` and ``memory``, what they limit."""

    def entering(self, argv: list[str]) -> list[str]:
        """A command line that enters the groups first."""
        if not self._folders:
            return argv
        return ["/bin/sh", "-c", ENTER, "sh", *map(str, self._folders), "--", *argv]

    def remove(self) -> None:
        """Remove them; what is still inside keeps its group."""
        for folder in self._folders:
            with suppress(OSError):
                folder.rmdir()

    def remove_when_empty(self) -> None:
        """Remove them once all that was killed in them is gone; it blocks, but not for ever."""
        until = time.monotonic() + _DYING_SECONDS
        self.remove()
        while any(folder.exists() for folder in self._folders) and time.monotonic() < until:
            time.sleep(0.01)
            self.remove()


NO_GROUPS = ControlGroups([], frozenset())


def hierarchies(own: str | None = None, mounts: str | None = None) -> list[Hierarchy]:
    """What can be limited here; nothing is made."""
    try:
        own = Path("/proc/self/cgroup").read_text("utf-8") if own is None else own
        mounts = Path("/proc/self/mounts").read_text("utf-8") if mounts is None else mounts
    except OSError:
        return []
    places = dict(_mounted(mounts))
    found: list[Hierarchy] = []
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        wanted = {"pids", "memory"} & set(names.split(","))
        mount = places.get("" if not names else next(iter(sorted(wanted)), "-"))
        if mount is None:
            continue
        at = Path(mount + path)
        parent = _unified_parent(at, Path(mount)) if not names else at
        if parent is not None and os.access(parent, os.W_OK):
            controllers = _enabled(parent) if not names else frozenset(wanted)
            found.append(Hierarchy(parent, not names, controllers))
    return [one for one in found if one.controllers]


def make_groups(limits: SandboxLimits, places: list[Hierarchy] | None = None) -> ControlGroups:
    """Groups for one sandbox, limited as far as this machine can."""
    wanted = {
        "pids": None if limits.processes is None else limits.processes + RESERVED_PROCESSES,
        "memory": limits.memory_bytes,
    }
    folders: list[Path] = []
    limited: set[str] = set()
    if not any(wanted.values()):
        return NO_GROUPS
    for place in hierarchies() if places is None else places:
        _remove_stale(place.parent)
        todo = {name: most for name, most in wanted.items() if most and name in place.controllers}
        if todo and (folder := _made(place, todo)) is not None:
            folders.append(folder)
            limited |= {"processes" if name == "pids" else name for name in todo}
    return ControlGroups(folders, frozenset(limited))


def _made(place: Hierarchy, wanted: Mapping[str, int]) -> Path | None:
    # A name nobody can guess: nobody can have made it before us.
    folder = place.parent / f"holdfast-{os.getpid()}-{secrets.token_hex(8)}"
    try:
        folder.mkdir()
    except OSError:
        return None  # whatever is there is not ours to remove
    try:
        for name, most in wanted.items():
            for file, value in _settings(name, most, unified=place.unified):
                (folder / file).write_text(value, "ascii")
        # What cannot be entered limits nothing: asked of the folder, before anybody relies on it.
        if not os.access(folder / "cgroup.procs", os.W_OK):
            raise PermissionError
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return None
    return folder


def _settings(name: str, most: int, *, unified: bool) -> Iterator[tuple[str, str]]:
    if name == "pids":
        yield "pids.max", str(most)
    elif unified:
        yield "memory.max", str(most)
    else:
        yield "memory.limit_in_bytes", str(most)


def _mounted(mounts: str) -> Iterator[tuple[str, str]]:
    """Where each controller is mounted; the unified hierarchy has no name."""
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split(" ")
        if kind == "cgroup2":
            yield "", place
        elif kind == "cgroup":
            for name in {"pids", "memory"} & set(options.split(",")):
                yield name, place


def _unified_parent(own: Path, mount: Path) -> Path | None:
    """The nearest group above that passes its controllers on; a group with processes does not."""
    for place in (own, *own.parents):
        if place != mount and mount not in place.parents:
            return None
        if _enabled(place) and os.access(place, os.W_OK):
            return place
    return None


def _enabled(place: Path) -> frozenset[str]:
    try:
        passed_on = (place / "cgroup.subtree_control").read_text("ascii").split()
    except OSError:
        return frozenset()
    return frozenset({"pids", "memory"} & set(passed_on))


def _remove_stale(parent: Path) -> None:
    """Groups of a runtime that was killed: empty by now, since its wardens ended with it."""
    for folder in parent.glob("holdfast-*"):
        owner = _NAME.fullmatch(folder.name)
        with suppress(OSError):
            if owner and not _is_alive(int(owner[1])) and _is_abandoned(folder):
                folder.rmdir()


def _is_alive(process: int) -> bool:
    """Whether it lives, as far as this process' own namespace knows."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_abandoned(folder: Path) -> bool:
    """Empty, and not made just now: in another namespace the number may belong to a living one."""
    facts = folder.stat()
    age = time.time() - max(facts.st_mtime, facts.st_ctime)
    return age > STALE_SECONDS and not (folder / "cgroup.procs").read_text("ascii")
