"""From numbers to places in a picture, and the round numbers between them.

Pure; every result is finite for every finite input up to the largest that data may have.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

_TICKS = 5
_MANY_TICKS = 12
_PLAIN_FROM, _PLAIN_TO = 1e-4, 1e6
_LARGEST_PLAIN = 1e15
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


class Scale(NamedTuple):
    """A range of numbers, and the places of its ends."""

    low: float
    high: float
    begin: float
    end: float
    step: float

    @classmethod
    def over(
        cls, values: Sequence[float], begin: float, end: float, *, exact: bool = False
    ) -> "Scale":
        """A scale that holds all of them; ``exact``: it ends where they do, and not where round
        numbers are."""
        low, high = min(values), max(values)
        if high - low <= max(abs(low), abs(high)) * 1e-12:
            around = max(abs(high) * 0.5, 0.5) if exact or high else 0.5
            low, high = low - around, high + around
        step = _round_step((high - low) / _TICKS)
        if not exact:
            low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        return cls(low, high, begin, end, step)

    def at(self, value: float) -> float:
        """The place of a number."""
        share = (value - self.low) / (self.high - self.low)
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Round numbers from end to end."""
        first = math.ceil(self.low / self.step - 1e-9)
        last = math.floor(self.high / self.step + 1e-9)
        return [number * self.step for number in range(first, min(last, first + _MANY_TICKS) + 1)]

    def shown(self, tick: float) -> str:
        """A tick as it is written: with as many digits as tell it from the next."""
        if abs(tick) < self.step / 2:
            return "0"
        largest = max(abs(self.low), abs(self.high))
        if not _PLAIN_FROM <= largest < _LARGEST_PLAIN:
            return shown_number(tick)
        size, unit = next((one for one in _UNITS if largest >= one[0]), (1.0, ""))
        decimals = max(0, -math.floor(math.log10(self.step / size) + 1e-9))
        return f"{tick / size:,.{min(decimals, 10)}f}{unit}"


def shown_number(value: float) -> str:
    """A number as people write it."""
    if value == 0:
        return "0"
    if not _PLAIN_FROM <= abs(value) < _LARGEST_PLAIN:
        return f"{value:.3g}"
    text = f"{value:,.4f}" if abs(value) < _PLAIN_TO else f"{value:,.2f}"
    return text.rstrip("0").rstrip(".")


def _round_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, not below the rough one."""
    if rough < 1e-300:
        return 1e-300
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10, 20) if times * power >= rough * 0.999999)
