"""What rules deny, taken out of what processes are confined to.

A kernel knows directories, not patterns. A deny of a fixed place, `secrets/`, `secrets/**`, `.env`,
is rounded out to all that lies there; of an allow inside of it only a fixed place counts. A pattern
without a fixed place, `**/.env`, is kept by tools that open files and by searches alone. What a
rule asks about is not taken out: nobody can tell which file a program will open.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from holdfast.contract.paths import is_within
from holdfast.contract.rules import Rule, Use
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.tool import Tool
from holdfast.policy.globs import compile_glob, path_segments, plain_text
from holdfast.policy.places import Places
from holdfast.policy.scales import Scales

_ALL_BELOW = frozenset({"*", "**"})
_ANY_NAME = "\0"
"""No file is called that, and every wildcard fits it."""


class Regions(NamedTuple):
    """Places with everything below them; the innermost one decides."""

    open: tuple[str, ...]
    closed: tuple[str, ...]


def within_rules(
    policy: SandboxPolicy, scales: Scales, tool: Tool, places: Places
) -> SandboxPolicy:
    """The policy without what rules deny the processes of a tool."""
    read = _regions(policy.readable, scales, tool, "fs.read", places)
    write = _regions(policy.writable, scales, tool, "fs.write", places)
    kept = {*policy.protected, *write.closed, *read.closed}
    writable = _outside(write.open, {*policy.protected, *read.closed})
    return msgspec.structs.replace(
        policy,
        readable=read.open,
        writable=writable,
        protected=tuple(sorted(path for path in kept if _lies_in(path, writable))),
        hidden=read.closed,
    )


def fixed_places(pattern: str) -> Iterator[str | None]:
    """Where each alternative of a pattern of paths lies; None: nobody can tell."""
    for segments in path_segments(pattern):
        rest = list(segments)
        while rest and rest[-1] in _ALL_BELOW:
            rest.pop()
        texts = [plain_text(segment) for segment in rest]
        fixed = [text for text in texts if text is not None]
        yield "/".join(fixed) if len(fixed) == len(texts) else None


def without_a_place(rule: Rule) -> bool:
    """Whether it denies paths that commands cannot be kept from."""
    about = any(map(compile_glob(rule.permission, "text"), ("fs.read", "fs.write")))
    return rule.action == "deny" and about and None in fixed_places(rule.pattern)


def _regions(
    roots: tuple[str, ...], scales: Scales, tool: Tool, capability: str, places: Places
) -> Regions:
    if not roots or not scales.narrow(tool, capability):
        return Regions(roots, ())
    rules = scales.about(tool, capability)
    inside = {path for path in _marks(rules, places) if _lies_in(path, roots)}
    denied = partial(_is_denied, scales, tool, capability, places)
    return split(roots, inside, denied)


def split(roots: Sequence[str], marks: Iterable[str], denied: Callable[[str], bool]) -> Regions:
    """Where what is denied begins and ends: at a root, or at one of the marks below it."""
    ordered = sorted({*roots, *marks}, key=lambda path: path.count("/") if path != "/" else 0)
    closed_at: dict[str, bool] = {}
    opened: list[str] = []
    closed: list[str] = []
    for path in ordered:
        above = max((one for one in closed_at if is_within(path, one)), key=len, default=None)
        closes = closed_at[path] = denied(path)
        if above is None or closed_at[above]:
            opened += [] if closes else [path]
        elif closes:
            closed.append(path)
        elif path in roots:
            opened.append(path)
    return Regions(tuple(sorted(opened)), tuple(sorted(closed)))


def _marks(rules: Iterable[Rule], places: Places) -> Iterator[str]:
    """Where what a rule says begins, as physical paths."""
    for rule in rules:
        for place in fixed_places(rule.pattern):
            if place is None:
                continue
            if rule.pattern.startswith("/"):
                yield place or "/"
            else:
                yield from (_joined(one.physical, place) for one in places.workspace[:1])


def _joined(root: str, place: str) -> str:
    return root if place in ("", ".") else f"{root.rstrip('/')}/{place}"


def _is_denied(scales: Scales, tool: Tool, capability: str, places: Places, path: str) -> bool:
    """Whether it, or just anything in it, is denied."""
    for one in (path, f"{path.rstrip('/')}/{_ANY_NAME}"):
        use = Use(capability=capability, kind="path", target=_relative(one, places))
        spoken = scales.spoken_against(tool, use)
        if spoken is not None and spoken.action == "deny":
            return True
    return False


def _relative(path: str, places: Places) -> str:
    """As rules are compared: from the workspace, where it lies in it."""
    for place in places.workspace[:1]:
        if path == place.physical:
            return "."
        if is_within(path, place.physical):
            return path[len(place.physical.rstrip("/")) + 1 :]
    return path


def _outside(paths: Iterable[str], kept: Iterable[str]) -> tuple[str, ...]:
    places = tuple(kept)
    return tuple(path for path in paths if not _lies_in(path, places))


def _lies_in(path: str, roots: Iterable[str]) -> bool:
    return any(is_within(path, root) for root in roots)
