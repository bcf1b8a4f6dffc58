"""What a call may read, as a file system of its own: for programs of ours that only read.

A sandbox without filters of system calls or Landlock where a file system of its own already keeps
everything else out: those are asked at every file that is opened, and who searches opens many. It
is for programs whose words we choose and that run nothing; commands of a model never get here.
"""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from threading import Thread
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


class _Opened:
    """A view's sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.waiting = 0
        """How many wait for its warden."""

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.sandbox.busy


class Views:
    """The views of a session, one for each policy and what lies at its roots.

    When something else lies there, what was opened before ends as soon as nobody searches in it.
    """

    def __init__(self, maker: SandboxMaker) -> None:
        self._maker = maker
        self._opened: dict[tuple[SandboxPolicy, tuple[_Identity, ...]], _Opened] = {}
        self._ending: list[Thread] = []

    async def warden(self, policy: SandboxPolicy) -> Warden:
        """A warden whose programs see what the policy lets them read, and no host.

        It is to be used before anything else is waited for: it may end when it is idle.
        """
        wanted = SandboxPolicy(readable=policy.readable, limits=policy.limits)
        # A root that was replaced would be shown as it was.
        roots = tuple(map(_identity, wanted.readable))
        opened = self._opened.get((wanted, roots))
        if opened is None:
            opened = _Opened(self._maker.made(wanted, None, files_only=True))
            self._opened[wanted, roots] = opened
        opened.waiting += 1
        try:
            await self._end_replaced(wanted, roots)
            return await opened.sandbox.warden()
        except SandboxUnavailable as problem:
            raise Unavailable(f"There is no sandbox to search in: {problem}.") from None
        finally:
            opened.waiting -= 1

    async def close(self) -> None:
        """End them all."""
        everything, self._opened = [*self._opened.values()], {}
        for opened in everything:
            await opened.sandbox.close()
        for thread in self._ending:
            await asyncio.to_thread(thread.join)

    async def _end_replaced(self, policy: SandboxPolicy, roots: tuple[_Identity, ...]) -> None:
        """Nobody waits until it is over: the next search has nothing to do with it."""
        self._ending = [thread for thread in self._ending if thread.is_alive()]
        for key, opened in [*self._opened.items()]:
            if key[0] == policy and key[1] != roots and opened.idle:
                del self._opened[key]
                thread = Thread(target=await opened.sandbox.cut(), daemon=True)
                thread.start()
                self._ending.append(thread)


def _identity(path: str) -> _Identity:
    try:
        seen = Path(path).lstat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
