"""How much of its limits a run has used."""

import math

import msgspec

from holdfast.contract.agents import RunLimits
from holdfast.contract.model import ModelUsage

MILLION = 1_000_000


class Spending:
    """Counts what one run uses."""

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self.rounds = 0
        self._tokens = 0
        self._cost_micros = 0

    @property
    def rounds_left(self) -> int:
        """How often the model may still be asked."""
        return self._limits.rounds - self.rounds

    def count(self, usage: ModelUsage, *, charged: bool) -> None:
        """A reply came. ``charged``: whether it counts as a round."""
        self.rounds += charged
        self._tokens += usage.total_tokens
        self._cost_micros += usage.cost_micros

    def charge(self, usage: ModelUsage) -> None:
        """Somebody who works for this run used so much of it."""
        self._tokens += usage.total_tokens
        self._cost_micros += usage.cost_micros

    def left(self) -> RunLimits:
        """What somebody who works for this run may use. Rounds are counted by each for itself."""
        limits = self._limits
        tokens = None if limits.tokens is None else max(limits.tokens - self._tokens, 1)
        cost = None
        if limits.cost is not None:
            cost = max(limits.cost - self._cost_micros / MILLION, 1 / MILLION)
        return msgspec.structs.replace(limits, tokens=tokens, cost=cost)

    def over(self) -> str | None:
        """Which limit is used up, and what to do about it; None: none is."""
        limits = self._limits
        if limits.tokens is not None and self._tokens >= limits.tokens:
            return f"this run has used {self._tokens:,} of {limits.tokens:,} tokens (limits.tokens)"
        most = math.inf if limits.cost is None else limits.cost
        if self._cost_micros >= most * MILLION:
            return f"this run has cost {self._cost_micros / MILLION:.2f} of {most:g} (limits.cost)"
        return None
