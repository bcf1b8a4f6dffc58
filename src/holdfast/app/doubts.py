"""What a configuration says of tools in vain, once the tools are known. It reads nothing.

`narrowing` sees only tables. What a tool has by itself is not in them. A built-in tool counts as
known in every profile: configuration is for all of them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from holdfast.app.narrowing import ONLY_SMALLER
from holdfast.app.profiles import TOOLSETS
from holdfast.app.settings import LimitSettings, Settings, ToolLimitSettings
from holdfast.app.spelling import advice, nearest
from holdfast.contract.tool import Limits, Tool

_NO_LIMITS = ToolLimitSettings()


@cache
def _built_in() -> frozenset[str]:
    return frozenset(one.name for tools in TOOLSETS.values() for one in tools)


class Doubt(msgspec.Struct, frozen=True):
    """Something of the configuration that changes nothing, and what to do about it."""

    what: str
    step: str


def vain_limits(limits: LimitSettings, tools: Iterable[Tool]) -> Iterator[Doubt]:
    """Judge every `limits.tool.NAME`. Without tools only what is like a built-in one is doubted."""
    known = {tool.name: tool.limits for tool in tools}
    names = {*known, *_built_in()}
    for name in dict.fromkeys([*limits.tool, *limits.at_most]):
        if name not in names and (known or nearest(name, _built_in())):
            step = advice(name, names if nearest(name, names) else known)
            yield Doubt(f"limits.tool.{name}: no configured tool has this name", step)
        else:
            yield from _too_large(name, limits, known)


def vain_filters(
    settings: Settings, profiles: Iterable[str], given: Iterable[str], *, only_these: bool
) -> Iterator[Doubt]:
    """Judge which tools profiles show and hide: a name or pattern that fits no tool does nothing.

    ``given``: the names of tools beside the built-in ones; ``only_these``: there are no others.
    Otherwise only what is like one of them is doubted.
    """
    names = sorted({*given, *_built_in()})
    tables = [(name, settings.profile[name]) for name in profiles if name in settings.profile]
    for name, table in tables:
        for key, patterns in msgspec.structs.asdict(table.tools).items():
            for pattern in patterns:
                fits = any(fnmatchcase(one, pattern.strip()) for one in names)
                if not fits and (only_these or nearest(pattern, names)):
                    what = f"profile.{name}.tools.{key}: no tool is called {pattern!r}"
                    yield Doubt(what, _meant(pattern, names))


def doubts_of(settings: Settings, profile: str, given: Iterable[str]) -> list[str]:
    """What is said in vain for a session of this profile, with tools of these names handed over."""
    if not (settings.profile or settings.limits.tool):
        return []
    names = [*given]
    found = [*vain_filters(settings, [profile], names, only_these=True)]
    known = sorted({*names, *_built_in()})
    found += [
        Doubt(f"limits.tool.{name}: no tool has this name", _meant(name, known))
        for name in settings.limits.tool
        if name not in known
    ]
    return [f"{doubt.what}; {doubt.step}" for doubt in found]


def _meant(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return "correct or remove it" if near is None else f"did you mean {near!r}?"


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
