"""How much of its limits a run has used, and what is left for whatever goes on behind it."""

import math

import msgspec

from holdfast.contract.agents import RunLimits
from holdfast.contract.events import ChildIdle, Payload
from holdfast.contract.model import ModelUsage
from holdfast.contract.ports import Clock

MILLION = 1_000_000
_SECOND = 1_000_000_000


class Spending:
    """Counts what one run uses, the agents it hands work to included."""

    def __init__(self, limits: RunLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock.ticks()
        self.rounds = 0
        self._tokens = 0
        self._cost_micros = 0

    @property
    def rounds_left(self) -> int:
        """How often the model may still be asked."""
        return self._limits.rounds - self.rounds

    def charge(self, usage: ModelUsage) -> None:
        """A reply has cost this."""
        self._tokens += usage.total_tokens
        self._cost_micros += usage.cost_micros

    def over(self) -> str | None:
        """Which limit is used up, and what to do about it; None: none is."""
        limits = self._limits
        if limits.tokens is not None and self._tokens >= limits.tokens:
            return f"this run has used {self._tokens:,} of {limits.tokens:,} tokens (limits.tokens)"
        most = math.inf if limits.cost is None else limits.cost
        if self._cost_micros >= most * MILLION:
            return f"this run has cost {self._cost_micros / MILLION:.2f} of {most:g} (limits.cost)"
        return None

    def charge_child(self, said: Payload) -> None:
        """What was used below a session is used by its run. Told by an event, so that it can be
        played again."""
        if isinstance(said, ChildIdle) and not isinstance(said.usage, msgspec.UnsetType):
            self.charge(msgspec.convert(said.usage, ModelUsage))

    def for_others(self) -> RunLimits:
        """What somebody who works for this run may use. Rounds are counted by each for itself."""
        left = self.left()
        rounds = self._limits.rounds
        if left is not None:
            return msgspec.structs.replace(left, rounds=rounds)
        return msgspec.structs.replace(self._limits, rounds=rounds, tokens=1, cost=1 / MILLION)

    def left(self) -> RunLimits | None:
        """What may still be used; None: nothing, as one of the limits is used up."""
        limits = self._limits
        seconds = limits.seconds
        if seconds is not None:
            seconds -= (self._clock.ticks() - self._began) / _SECOND
        late = seconds is not None and seconds <= 0
        if late or self.rounds_left <= 0 or self.over() is not None:
            return None
        return RunLimits(
            rounds=self.rounds_left,
            tokens=None if limits.tokens is None else limits.tokens - self._tokens,
            cost=None if limits.cost is None else limits.cost - self._cost_micros / MILLION,
            seconds=seconds,
            retries=limits.retries,
            continues=limits.continues,
        )
