"""What the limits of single tools say in vain, once the tools are known. It reads nothing.

`narrowing` sees only tables. What a tool has by itself is not in them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from holdfast.app.narrowing import ONLY_SMALLER
from holdfast.app.settings import LimitSettings, ToolLimitSettings
from holdfast.app.spelling import advice
from holdfast.contract.tool import Limits, Tool

_NO_LIMITS = ToolLimitSettings()


class Doubt(NamedTuple):
    """Something of the configuration that changes nothing, and what to do about it."""

    what: str
    step: str


def vain_limits(limits: LimitSettings, tools: Iterable[Tool]) -> Iterator[Doubt]:
    """Judge every `limits.tool.NAME`. Without tools nothing is said of names."""
    known = {tool.name: tool.limits for tool in tools}
    for name in dict.fromkeys([*limits.tool, *limits.at_most]):
        if known and name not in known:
            step = advice(name, known)
            yield Doubt(f"limits.tool.{name}: no configured tool has this name", step)
        else:
            yield from _too_large(name, limits, known)


def _too_large(name: str, limits: LimitSettings, known: Mapping[str, Limits]) -> Iterator[Doubt]:
    """What a project wants of a tool that has a smaller limit by itself."""
    hosts = _given(limits.tool.get(name, _NO_LIMITS))
    theirs = _amounts(known.get(name, Limits()))
    for key, wanted in _given(limits.at_most.get(name, _NO_LIMITS)).items():
        # Against what the host says it was weighed when the files were read.
        if key in hosts or wanted <= theirs[key]:
            continue
        path = f"limits.tool.{name}.{key} = {wanted:g}"
        if name in known:
            yield Doubt(
                f"not applied: {path}: larger than the tool's {theirs[key]:g}", ONLY_SMALLER
            )
        else:
            usual = f"{path}: larger than the {theirs[key]:g} that tools have by default"
            yield Doubt(usual, f"{ONLY_SMALLER}; it is applied to a tool whose own is larger")


def _given(limits: ToolLimitSettings) -> dict[str, float]:
    return {
        key: value for key, value in msgspec.structs.asdict(limits).items() if value is not None
    }


def _amounts(limits: Limits) -> dict[str, float]:
    return {
        "wall_seconds": math.inf if limits.wall_seconds is None else limits.wall_seconds,
        "max_bytes": limits.output.max_bytes,
        "max_items": math.inf if limits.output.max_items is None else limits.output.max_items,
    }
