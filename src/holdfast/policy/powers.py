"""What a judge judges by, and what it finds out on the way. Values only."""

from collections.abc import Callable, Mapping

import msgspec

from holdfast.contract.agents import NO_AGENT, AgentManifest
from holdfast.contract.rules import Rule, Use
from holdfast.contract.tool import Tool
from holdfast.policy.rules import Weighed
from holdfast.policy.watchdog import Watchdog

Look = Callable[[Tool, Use], "Looked"]
"""Finds out where a target really leads and whether the capabilities in force reach it."""


Capabilities = str | None | frozenset[str | None]
"""What a call uses: one capability, none, or several."""


class Looked(msgspec.Struct, frozen=True):
    """A use with its target as it really is, and why it is out of reach, if it is."""

    use: Use
    refusal: str | None = None
    free: bool = False
    """It is the session's own: where no rule speaks of it, nobody is asked."""


class AgentRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that count together, and what is allowed where they are silent."""

    rules: tuple[Rule, ...] = ()
    granted: tuple[Rule, ...] = ()
    """Allow rules that count where no other rule speaks: those of a profile's mounts."""
    standing: Mapping[str, str] = {}
    """Tools that may run where no rule speaks, and who said so: the recorded grants of sources."""


class Powers(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a judge judges by."""

    own: AgentRules
    narrowing: tuple[tuple[Rule, ...], ...] = ()
    """Rules that can only narrow: an untrusted project's."""
    parents: tuple[AgentRules, ...] = ()
    """Whose verdict is never exceeded: those of the agents above."""
    look: Look
    watchdog: Watchdog
    manifest: AgentManifest = NO_AGENT
    """What the watchdog receives."""
    doubts: str | None = None
    """Who says that a command in doubt runs where no rule speaks of it: a kernel holds it."""
    doubts_setting: str | None = None
    """What would say so, as a person writes it; None: nothing would, or somebody says it."""
    headless: bool
    answered: bool | None = None
    """Whether a person answers what tools ask them; None: where they are asked for approval."""


class Considered(msgspec.Struct, frozen=True):
    """All that was found out about what a call does, before the watchdog is asked."""

    looked: list[Looked]
    weighed: list[Weighed]
    """One for each use; none when one of them is out of reach."""
    refusal: str | None = None
    """Why the capabilities in force do not reach, if they do not."""

    @property
    def uses(self) -> tuple[Use, ...]:
        """What the call does."""
        return tuple([one.use for one in self.looked])

    @property
    def capabilities(self) -> Capabilities:
        """What it uses; most calls use one, and its name alone is the cheaper key."""
        if len(self.looked) == 1:
            return self.looked[0].use.capability
        return frozenset([one.use.capability for one in self.looked])
