"""What confinement this machine gives: found out by starting each kind once. It leaves nothing."""

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.kernel import landlock
from holdfast.execution.processes.control_groups import make_groups
from holdfast.execution.processes.scratch import make_scratch
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.tiers import STRONGEST_FIRST, Tier, start_in

_ALL_LIMITS = SandboxLimits(processes=100, memory_bytes=1 << 30)


class SurveyedTier(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of confinement, tried."""

    name: Confinement
    missing: str | None
    """Why it cannot be had; None: it can."""
    separate: bool
    """Own processes, files, network and shared memory: host grants work in it."""


class SandboxSurvey(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, strongest first."""

    tiers: tuple[SurveyedTier, ...]
    landlock: int
    """The version of Landlock; 0: none."""
    scoped: bool
    """Signals and abstract sockets are kept inside."""
    shared_limits: frozenset[str]
    """Of ``processes`` and ``memory``, what can be limited for a sandbox as a whole."""

    @property
    def chosen(self) -> SurveyedTier | None:
        """The one that is used."""
        return next((tier for tier in self.tiers if tier.missing is None), None)

    def named(self, wanted: Confinement | None) -> SurveyedTier | None:
        """The one of that name, or the one that is used where none is named."""
        if wanted is None:
            return self.chosen
        return next((tier for tier in self.tiers if tier.name == wanted), None)


async def survey() -> SandboxSurvey:
    """Try everything once."""
    groups = make_groups(_ALL_LIMITS)
    groups.remove()
    version = landlock.version()
    return SandboxSurvey(
        tiers=tuple([await _tried(tier) for tier in STRONGEST_FIRST]),
        landlock=version,
        scoped=version >= landlock.SCOPES_SINCE,
        shared_limits=groups.limited,
    )


async def _tried(tier: Tier) -> SurveyedTier:
    missing: str | None = None
    with TemporaryDirectory(prefix="holdfast-") as folder:
        scratch = make_scratch(Path(folder, "scratch"), None)
        try:
            warden = await start_in(tier, SandboxPolicy(), scratch)
            try:
                await warden.spawner().end()  # it answers once it is confined
            finally:
                await warden.close()
        except SandboxUnavailable as problem:
            missing = str(problem)
        except TimeoutError:
            missing = "it does not answer"
    return SurveyedTier(name=tier.name, missing=missing, separate=tier.separate)
