"""What a call may read, as a file system of its own: for programs of ours that only read.

A sandbox without filters of system calls or Landlock where a file system of its own already keeps
everything else out: those are asked at every file that is opened, and who searches opens many. It
is for programs whose words we choose and that run nothing; commands of a model never get here.
"""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.errors import Unavailable
from holdfast.contract.gates import PathGate
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.sandbox_maker import SandboxMaker
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.wardens import Warden

_Identity = tuple[int, int] | None


class View(NamedTuple):
    """What one call may read."""

    open: PathGate
    all_below: Callable[[str], bool]
    """Whether the gate admits everything below a physical directory."""
    workspace: str | None
    warden: Callable[[], Coroutine[object, object, Warden]]
    """Where programs see nothing else; raises Unavailable."""


class Views:
    """The views of a session, one for each policy and what lies at its roots."""

    def __init__(self, maker: SandboxMaker) -> None:
        self._maker = maker
        self._opened: dict[tuple[SandboxPolicy, tuple[_Identity, ...]], Sandbox] = {}

    async def warden(self, policy: SandboxPolicy) -> Warden:
        """A warden whose programs see what the policy lets them read, and no host."""
        wanted = SandboxPolicy(readable=policy.readable, limits=policy.limits)
        # A root that was replaced would be shown as it was.
        key = wanted, tuple(map(_identity, wanted.readable))
        sandbox = self._opened.get(key)
        if sandbox is None:
            sandbox = self._opened[key] = self._maker.made(wanted, None, files_only=True)
        try:
            return await sandbox.warden()
        except SandboxUnavailable as problem:
            raise Unavailable(f"There is no sandbox to search in: {problem}.") from None

    async def close(self) -> None:
        """End them all."""
        everything, self._opened = [*self._opened.values()], {}
        for sandbox in everything:
            await sandbox.close()


def _identity(path: str) -> _Identity:
    try:
        seen = Path(path).lstat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
