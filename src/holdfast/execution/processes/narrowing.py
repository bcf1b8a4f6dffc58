"""A narrower policy inside of a sandbox that is there already.

A namespace is paid once for a session: a tool that may reach less than its session gets spawners of
the same warden that confine themselves further. It has a temporary directory of its own in it. What
only a file system or a network of its own can keep is not narrowed but opened apart.
"""

import os
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from holdfast.contract.paths import is_within
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.kernel import landlock
from holdfast.execution.processes.confinement import narrowed
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts
from holdfast.execution.processes.spawners import Narrower, SandboxUnavailable, Spawner, Spawners
from holdfast.execution.processes.wardens import Warden

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class NarrowedWarden:
    """A warden as the processes of a narrower policy have it."""

    def __init__(self, whole: Warden, narrower: Narrower) -> None:
        self._whole = whole
        self._narrower = narrower

    @property
    def keeper(self) -> int:
        """The number of its outermost process."""
        return self._whole.keeper

    def spawner(self) -> Spawner:
        """One that is free and confined to the narrower policy."""
        return self._whole.spawner(self._narrower)

    async def give_back(self, spawner: Spawner, /) -> None:
        """End what is left of a call, and keep the spawner for the next."""
        await self._whole.give_back(spawner)


class NarrowedSandbox(Sandbox):
    """Confinement for the processes of a policy, inside of the sandbox of a wider one."""

    def __init__(self, parts: SandboxParts, whole: Sandbox) -> None:
        super().__init__(parts)
        self.whole = whole
        self._ended = False
        self._narrower: Narrower | None = None

    @property
    def confinement(self) -> Confinement:
        """How strong it is, or was; asked only when a warden was had."""
        return self.whole.confinement

    @property
    def separate(self) -> bool | None:
        """Whether its processes have files, processes and a network of their own; None: unknown."""
        return self.whole.separate

    @property
    def temporary(self) -> str:
        """Where its processes see their temporary directory; asked when a warden was had."""
        return f"{self.whole.temporary}/{Path(self.parts.scratch.temporary).name}"

    def accept_no_weaker(self) -> None:
        """From here on only confinement with a file system of its own will do."""
        self.whole.accept_no_weaker()

    async def warden(self) -> Spawners:
        """The wider one's warden, whose spawners confine themselves further."""
        if self._ended:
            raise SandboxUnavailable("the session is closed")
        warden = await self.whole.own_warden()
        if self._narrower is None:
            self._narrower = narrower(self.parts.policy, self.temporary)
        return NarrowedWarden(warden, self._narrower)

    async def cut(self) -> Callable[[], None]:
        """Start nothing any more; what runs ends with the wider one."""
        self._ended = True
        return await super().cut()


def narrower(policy: SandboxPolicy, temporary: str) -> Narrower:
    """What a spawner confines itself to beyond its warden."""
    return tuple((path, int(rights)) for path, rights in narrowed(policy, temporary))


def without_hosts(policy: SandboxPolicy) -> SandboxPolicy:
    """The part of a session's policy that others are narrowed from."""
    return replace(policy, network="none", hosts=())


def can_narrow(whole: SandboxPolicy, policy: SandboxPolicy) -> bool:
    """Whether a sandbox of the whole keeps from a policy's processes all that it must.

    What is protected is kept by mounts, and hosts by a door: neither can be had for a thread.
    """
    return (
        landlock.version() > 0
        and policy != whole
        and policy.network == "none"
        and policy.limits == whole.limits
        and _all_within(policy.protected, whole.protected)
        and _all_within(policy.writable, whole.writable)
        and _all_within(policy.readable, whole.readable)
    )


def make_temporary(above: str, name: str) -> None:
    """Make a policy's own directory in its sandbox's temporary one; raises OSError.

    Processes of the sandbox can write there, so nothing is found by its name twice.
    """
    outer = os.open(above, _FOLDER)
    try:
        os.mkdir(name, 0o700, dir_fd=outer)
        inner = os.open(name, _FOLDER, dir_fd=outer)
    finally:
        os.close(outer)
    try:
        os.mkdir("home", 0o700, dir_fd=inner)
    finally:
        os.close(inner)


def _all_within(paths: tuple[str, ...], roots: tuple[str, ...]) -> bool:
    return all(any(is_within(path, root) for root in roots) for path in paths)
