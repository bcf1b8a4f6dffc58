"""Protected places that did not exist when a sandbox was opened, and appear while commands run.

What exists is mounted read-only; what does not exist yet cannot be. So it is looked for after every
command: what appeared is renamed in its own folder, where nothing takes it for what it was to be,
and told as a refusal. Nothing is deleted. What somebody else made between two commands stays, and
is protected by a new sandbox.
"""

import os
from collections.abc import Iterator

from holdfast.contract.gates import PathGate, Refusal
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.files.opening import open_physical

_ASIDE = "{name}.refused-{number}"
_MOST_NAMES = 100
_STAYS = "it could not be put aside ({}): remove it before you use the folder"


class Appearances:
    """Watches over the protected places of one sandbox that are not there."""

    def __init__(self, policy: SandboxPolicy) -> None:
        self._absent = tuple(path for path in policy.protected if not os.path.lexists(path))

    def absent(self) -> tuple[str, ...]:
        """Those that are not there now: what appears until a command has ended is the command's."""
        return tuple(path for path in self._absent if not os.path.lexists(path))

    def outdated(self) -> bool:
        """Whether somebody made one meanwhile: only a new sandbox can keep commands from it."""
        return any(map(os.path.lexists, self._absent))


def put_aside(absent: tuple[str, ...], may_open: PathGate) -> Iterator[Refusal]:
    """Rename what appeared, and say so."""
    for path in absent:
        if os.path.lexists(path):
            now = _renamed(path)
            verdict = may_open("write", path)
            wanted = verdict.requirement if isinstance(verdict, Refusal) else None
            yield Refusal(
                target=path,
                reason=f"{path!r} is protected and appeared while the command ran; {now}.",
                requirement=wanted or f"requires.fs.write = [{path!r}]",
            )


def _renamed(path: str) -> str:
    """Put it out of the way, through no link; what became of it, in words."""
    above, _, name = path.rpartition("/")
    try:
        folder = open_physical(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        return (
            f"it could not be put aside ({problem.strerror}): remove it before you use the folder"
        )
    try:
        free = next(_free_names(folder, name))
        os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
    except (OSError, StopIteration) as problem:
        return _STAYS.format(problem)
    finally:
        os.close(folder)
    return f"it was renamed to {free!r}"


def _free_names(folder: int, name: str) -> Iterator[str]:
    for number in range(1, _MOST_NAMES):
        free = _ASIDE.format(name=name, number=number)
        try:
            os.stat(free, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            yield free
