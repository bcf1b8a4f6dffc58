"""Protected places that did not exist when a sandbox was opened, and appear while commands run.

What exists is mounted read-only; what does not exist yet cannot be. So it is looked for after every
command: what appeared is renamed in its own folder, where nothing takes it for what it was to be,
and told as a refusal. A link or a file on the way to a protected place is put aside like the place
itself: it would lead somewhere else. Nothing is deleted. What somebody else made between two
commands stays, and is protected by a new sandbox.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.gates import PathGate, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.files.opening import open_physical

_ASIDE = "{name}.refused-{number}"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Appearances:
    """Watches over the protected places of one sandbox that are not there."""

    def __init__(self, policy: SandboxPolicy) -> None:
        self._watched = tuple(dict.fromkeys(_watched(policy)))
        self._absent = tuple(path for path in self._watched if _wrongly_there(path) is None)
        granted = dict.fromkeys((*policy.readable, *policy.writable))
        self._not_shown = tuple(path for path in granted if not os.path.lexists(path))

    def absent(self) -> tuple[str, ...]:
        """Those that are not there now: what appears until a command has ended is the command's."""
        return tuple(path for path in self._absent if _wrongly_there(path) is None)

    def outdated(self) -> bool:
        """Whether somebody made one meanwhile: only a new sandbox can keep commands from it."""
        return any(_wrongly_there(path) is not None for path in self._absent)

    def shows(self, path: str) -> bool:
        """Whether it is there, and was when the sandbox was made."""
        return path not in self._not_shown and os.path.lexists(path)

    def more_to_show(self) -> bool:
        """Whether a granted place is there now that was not: only a new sandbox can show it."""
        return any(os.path.lexists(path) for path in self._not_shown)


class Watch:
    """When to look: after every command, and again while anything of an earlier one may go on."""

    def __init__(self, appearances: Appearances) -> None:
        self._appearances = appearances
        self._absent: tuple[str, ...] = ()
        self._running = 0
        self._unsure = False

    def begin(self) -> None:
        """A command starts. What is there before belongs to somebody else, unless an earlier
        command of this sandbox may have made it."""
        if not self._running and not self._unsure:
            self._absent = self._appearances.absent()
        self._running += 1
        self._unsure = True

    def end(self, *, all_gone: bool) -> bool:
        """A command has ended; ``all_gone``: nothing it started goes on. Whether it ran alone."""
        alone = self._running == 1
        self._running -= 1
        self._unsure = bool(self._running) or not all_gone
        return alone

    @property
    def unsure(self) -> bool:
        """Whether something may have appeared that nobody has looked for."""
        return self._unsure and not self._running

    def sweep(self, may_open: PathGate) -> tuple[Refusal, ...]:
        """Put aside what appeared."""
        return tuple(put_aside(self._absent, may_open))


def settled(policy: SandboxPolicy) -> SandboxPolicy:
    """The policy as the disk is now: a file on the way to a protected place is protected itself.

    `.git` is a file in a linked working tree, and says where the repository is.
    """
    files = [place.rstrip("/") for place in _watched(policy) if place.endswith("/")]
    kept = {path for path in files if _is_file(path)}
    return msgspec.structs.replace(policy, protected=tuple(sorted({*policy.protected, *kept})))


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def put_aside(absent: tuple[str, ...], may_open: PathGate) -> Iterator[Refusal]:
    """Rename what appeared, and say so.

    Raises Unavailable when it cannot be moved: nothing more is to run in that folder then.
    """
    for path in absent:
        found = _wrongly_there(path)
        if found is None:
            continue
        now = _renamed(found)
        verdict = may_open("write", found)
        wanted = verdict.requirement if isinstance(verdict, Refusal) else None
        yield Refusal(
            target=found,
            reason=f"{found!r} is protected and appeared while the command ran;"
            f" it was renamed to {now!r}.",
            requirement=wanted or f"requires.fs.write = [{found!r}]",
        )


def _watched(policy: SandboxPolicy) -> Iterator[str]:
    """Every protected place, each after the directories that lead to it inside of the workspace."""
    for path in policy.protected:
        root = next((one for one in policy.writable if is_within(path, one)), None)
        if root is None:
            continue
        way = path[len(root) :].strip("/").split("/")
        for depth in range(1, len(way)):
            yield f"{root.rstrip('/')}/{'/'.join(way[:depth])}/"
        yield path


def _wrongly_there(path: str) -> str | None:
    """What stands at a place where nothing may; on the way to one, anything but a directory."""
    on_the_way, place = path.endswith("/"), path.rstrip("/")
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if on_the_way and stat.S_ISDIR(mode) else place


def _renamed(path: str) -> str:
    """Put it out of the way, through no link."""
    above, _, name = path.rpartition("/")
    free = _ASIDE.format(name=name, number=secrets.token_hex(4))
    try:
        folder = open_physical(above or "/", _FOLDER)
    except OSError as problem:
        raise _cannot(path, problem) from None
    try:
        try:
            os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
        except PermissionError:
            with suppress(OSError):  # a command may have taken the right away
                os.fchmod(folder, stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRWXU)
            os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as problem:
        raise _cannot(path, problem) from None
    finally:
        os.close(folder)
    return free


def _cannot(path: str, problem: OSError) -> Unavailable:
    return Unavailable(
        f"{path!r} is protected, appeared while a command ran and cannot be put aside"
        f" ({problem.strerror}): remove it before you use the folder, then open a new session."
    )
