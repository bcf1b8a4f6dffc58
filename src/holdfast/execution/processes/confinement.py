"""From a sandbox policy to what the kernel is told: what is shown, what Landlock admits.

The base system is added here, and the call's own temporary directory. Pure: it asks nothing of the
machine but where links of the base system lead, and of the way to the session's own directories. A
policy's paths are named as they are: whoever opens them must not follow a link.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.kernel.landlock import DEVICE, READ, WRITE, Right
from holdfast.execution.kernel.namespaces import Shown
from holdfast.execution.processes import base_system

_MADE_ANEW = frozenset({"dev", "proc"})
_TEMPORARY = "/tmp"
_SHARED_MEMORY = "/dev/shm"
_NEW_TERMINAL = "/dev/ptmx"


class Scratch(NamedTuple):
    """The session's own directories, outside of every workspace."""

    root: str
    """An empty directory, on which a file system can be built."""
    temporary: str
    home: str


def shown(policy: SandboxPolicy, scratch: Scratch) -> list[Shown]:
    """The file system of its own that a warden with namespaces gets, parents first."""
    places: dict[str, Shown] = {}
    for path in base_system.readable():
        places[path] = _as_it_is(path)
    for path in base_system.interpreter():
        places[path] = Shown("read", path, path)
    places.update((one.path, one) for one in _readable(policy))
    for path in policy.writable:
        places[path] = Shown("write", path, path)
    for path in policy.protected:
        # Each directory on the way is a mount of its own, and so cannot be moved away.
        for above in _between(path, policy.writable):
            places.setdefault(above, Shown("write", above, above))
        places[path] = Shown("read", path, path)
    for path in policy.hidden:
        places[path] = Shown("hidden", path, "")
    temporary = temporary_of(policy, scratch, own_files=True)
    places[temporary] = Shown("write", temporary, os.path.realpath(scratch.temporary))
    if not any(is_within(path, scratch.home) for path in places):
        places[scratch.home] = Shown("private", scratch.home, "")
    return sorted(places.values(), key=lambda one: one.path.split("/"))


def chosen(view: list[Shown]) -> list[Shown]:
    """What of a view is not the machine's own: no link may lead to it."""
    own = {*base_system.readable()} - {*base_system.interpreter()}
    return [one for one in view if one.kind in ("read", "write") and one.path not in own]


def admitted(
    policy: SandboxPolicy, scratch: Scratch, *, own_files: bool
) -> Iterator[tuple[str, Right]]:
    """What Landlock lets the processes of a policy reach."""
    for path in (*base_system.physical(), "/proc", *policy.readable):
        yield path, READ
    for path in base_system.DEVICES:
        # In a file system of its own those are the same everywhere, and ptmx is a link to pts.
        if not own_files or path != _NEW_TERMINAL:
            yield path if own_files else os.path.realpath(path), DEVICE | READ
    for path in policy.writable:
        yield path, WRITE
    yield _SHARED_MEMORY if own_files else os.path.realpath(_SHARED_MEMORY), READ | WRITE
    yield temporary_of(policy, scratch, own_files=own_files), READ | WRITE
    if own_files and any(one.kind == "private" for one in shown(policy, scratch)):
        yield scratch.home, READ | WRITE


def temporary_of(policy: SandboxPolicy, scratch: Scratch, *, own_files: bool) -> str:
    """Where the processes of a policy see their temporary directory."""
    shown_there = own_files and not _lies_in(_TEMPORARY, policy.writable)
    return _TEMPORARY if shown_there else os.path.realpath(scratch.temporary)


def _readable(policy: SandboxPolicy) -> Iterator[Shown]:
    for path in policy.readable:
        if path == "/":
            # One by one: whatever is put on the root itself would cover what is shown inside of it.
            names = (name for name in os.listdir("/") if name not in _MADE_ANEW)  # noqa: PTH208 - names alone
            yield from (_as_it_is(f"/{name}") for name in names)
        elif not policy.writes(path):
            yield Shown("read", path, path)


def _as_it_is(path: str) -> Shown:
    """A link of the base system stays one: on most machines /bin is."""
    link = Path(path)
    if link.is_symlink():
        return Shown("link", path, str(link.readlink()))
    return Shown("read", path, os.path.realpath(path))


def _between(path: str, roots: tuple[str, ...]) -> Iterator[str]:
    """The directories above a path, up to the root it lies in."""
    above = path.rpartition("/")[0]
    while above and above not in roots and _lies_in(above, roots):
        yield above
        above = above.rpartition("/")[0]


def _lies_in(path: str, roots: tuple[str, ...]) -> bool:
    return any(is_within(path, root) for root in roots)
