"""One policy's sandbox: opened when it is first needed, in the strongest confinement there is.

It owns the warden, the environment its processes begin with, and the places their output goes to.
It runs nothing itself. A sandbox that is lost is opened anew for the next command.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.network.conversation import Ways
from holdfast.execution.network.egress_proxy import EgressProxy
from holdfast.execution.network.proxy_environment import proxy_environment, with_proxy
from holdfast.execution.processes.appearances import Appearances
from holdfast.execution.processes.capture import Capture, Scrubber
from holdfast.execution.processes.confinement import Scratch, temporary_of
from holdfast.execution.processes.spawners import SandboxRefused, SandboxUnavailable
from holdfast.execution.processes.tenure import Tenure
from holdfast.execution.processes.tiers import STRONGEST_FIRST, UNCONFINED, Tier, start_in
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.spool import Spool

_BASE = ("PATH", "LANG")
_NOTHING_WEAKER = "nobody was asked about running it without a file system of its own"


class Spools(Protocol):
    """Gives files for outputs that memory shall not hold."""

    def __call__(self, name: str, /) -> Spool:
        """A spool for an output of this name, opened when it is needed."""
        ...


class SandboxParts(NamedTuple):
    """What a sandbox is made from."""

    policy: SandboxPolicy
    scratch: Scratch
    workspace: str
    """Where commands begin that name no directory."""
    environment: Mapping[str, str]
    """The parent's, of which little is passed on."""
    spools: Spools
    scrubber: Callable[[], Scrubber] | None = None
    """None: no secret is known, and output is kept as it comes."""
    variables: Mapping[str, str] = {}
    """Beside the base: what every command of the session is told."""
    confinement: Confinement | None = None
    """This one and no other; None: the strongest there is, and never none at all."""
    ways: Ways | None = None
    """How granted hosts are reached; None: no host is."""
    files_only: bool = False
    """A file system of its own is enough, where there is one: see `views`."""
    tenure: Tenure | None = None
    """How long its processes may run; None: as long as the runtime."""


class Sandbox:
    """Confinement for the processes of one policy."""

    def __init__(self, parts: SandboxParts) -> None:
        self.parts = parts
        self._opening = asyncio.Lock()
        self._opened: tuple[Tier, Warden] | None = None
        self._proxy: EgressProxy | None = None
        self._closed = False
        self._tier: Tier | None = None
        self._only_separate = False
        self.appearances = Appearances(parts.policy)

    @property
    def confinement(self) -> Confinement:
        """How strong it is, or was; asked only when a warden was had."""
        assert self._tier is not None
        return self._tier.name

    def accept_no_weaker(self) -> None:
        """From here on only confinement with a file system of its own will do."""
        self._only_separate = True

    @property
    def separate(self) -> bool | None:
        """Whether its processes have files, processes and a network of their own; None: unknown."""
        return None if self._tier is None else self._tier.separate

    @property
    def temporary(self) -> str:
        """Where its processes see their temporary directory; asked when a warden was had."""
        own_files = self.separate is True
        return temporary_of(self.parts.policy, self.parts.scratch, own_files=own_files)

    async def warden(self) -> Warden:
        """The warden, started if there is none; raises SandboxUnavailable with all reasons."""
        if self._opened is not None and not self._opened[1].lost:
            return self._opened[1]
        async with self._opening:
            if self._closed:
                raise SandboxUnavailable("the session is closed")
            if self._opened is not None and self._opened[1].lost:
                self._opened[1].abandon()
                await self._close_door()
                self._opened = None
            if self._opened is None:
                self._opened = await open_strongest(self.parts, self._candidates())
                # Once known it stays: what was not asked about must not run in a weaker one later.
                self._tier = self._opened[0]
                if self.parts.tenure is not None:
                    self.parts.tenure.include(self._opened[1])
                self._open_door(self._opened[1])
        return self._opened[1]

    @property
    def busy(self) -> bool:
        """Whether it is being opened, or something runs in it."""
        return self._opening.locked() or (self._opened is not None and self._opened[1].pool.busy)

    def _candidates(self) -> tuple[Tier, ...]:
        if self._tier is not None:
            return (self._tier,)
        named = _candidates(self.parts.confinement)
        return tuple(tier for tier in named if tier.separate or not self._only_separate)

    def _open_door(self, warden: Warden) -> None:
        """Serve what the warden listens at: the only way out of its network."""
        if warden.listener is not None and self.parts.ways is not None:
            self._proxy = EgressProxy(warden.listener, self.parts.ways)

    async def _close_door(self) -> None:
        proxy, self._proxy = self._proxy, None
        if proxy is not None:
            await proxy.close()

    def environment(self, own: Mapping[str, str] | None = None) -> dict[str, str]:
        """What a command begins with: a small base, the session's variables, its own ones."""
        parent, temporary = self.parts.environment, self.temporary
        base = {name: parent[name] for name in _BASE if parent.get(name)}
        places = {"HOME": f"{temporary}/home", "TMPDIR": temporary}
        told = {**self.parts.variables} | {**(own or {})}
        return {"LANG": "C.UTF-8"} | base | places | with_proxy(told, self.door(), told)

    def door(self) -> dict[str, str]:
        """The variables by which its processes find the way to granted hosts; none: no host is."""
        if self._proxy is None:
            return {}
        return proxy_environment(self._proxy.port, self.parts.policy.hosts)

    def capture(self, name: str) -> Callable[[Callable[[], None]], Capture]:
        """Makes the capture of one command, whose whole output is kept under the name."""
        spool = self.parts.spools(name)
        return lambda heard: Capture(spool, self.parts.scrubber, heard)

    async def cut(self) -> Callable[[], None]:
        """End it, and with it all that runs in it; what is returned blocks until that is done."""
        self._closed = True
        async with self._opening:
            opened, self._opened = self._opened, None
            await self._close_door()
        return opened[1].cut() if opened is not None else _nothing_to_wait_for

    async def close(self) -> None:
        """End it, and with it all that runs in it."""
        await asyncio.to_thread(await self.cut())


def _nothing_to_wait_for() -> None:
    """No warden was ever started."""


async def open_strongest(parts: SandboxParts, tiers: Sequence[Tier]) -> tuple[Tier, Warden]:
    """Start a warden in the strongest confinement that can be had; nothing else is proof."""
    reasons: list[str] = []
    for tier in tiers:
        try:
            only = parts.files_only
            return tier, await start_in(tier, parts.policy, parts.scratch, files_only=only)
        except SandboxUnavailable as problem:
            if isinstance(problem, SandboxRefused):
                raise
            reasons.append(f"{tier.name}: {problem}")
    raise SandboxUnavailable("; ".join(reasons) or _NOTHING_WEAKER)


def _candidates(wanted: Confinement | None) -> tuple[Tier, ...]:
    if wanted is None:
        return STRONGEST_FIRST
    return tuple(tier for tier in (*STRONGEST_FIRST, UNCONFINED) if tier.name == wanted)
