"""Rules as targets are told: a path that lies in the workspace is compared from there.

A pattern that begins elsewhere may still reach into the workspace, as `/srv/**` does. What it says
of the workspace is put beside it, for paths alone. A pattern that begins nowhere speaks of every
further root, too: there a path is told in full, so that nobody takes it for one of the workspace.
Of a command the text is compared as it stands: `./run.sh` is another program than `run.sh`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from holdfast.contract.ports import PathFacts, PathView
from holdfast.contract.rules import Rule
from holdfast.contract.tool import Tool
from holdfast.policy.globs import compile_glob, escaped, path_segments, plain_text
from holdfast.policy.rules import check_rule
from holdfast.policy.targets import KINDS

_COMMANDS = frozenset(name for name, kind in KINDS.items() if kind == "command")
_PATHS = ("fs.read", "fs.write")
_NO_NAME = ("", ".")
_ANY_SEGMENTS = "**"


def from_the_workspace(
    rules: Iterable[Rule],
    workspace: Path | None,
    tools: Sequence[Tool],
    facts: PathFacts,
    roots: Sequence[str] = (),
) -> tuple[Rule, ...]:
    """The rules with the patterns of paths as targets are told; RuleProblem for a bad one.

    ``roots``: further ones, without links.
    """
    runners = _COMMANDS | {
        tool.name for tool in tools for use in tool.uses if use.capability in _COMMANDS
    }
    # Their arguments may name commands and paths alike.
    runners |= {tool.name for tool in tools if tool.uses_of is not None}
    places = _Grounds(workspace, facts, tuple(roots))
    return tuple(found for rule in rules for found in _each(rule, places, runners))


class _Grounds(NamedTuple):
    """What rules are told from."""

    workspace: Path | None
    facts: PathFacts
    roots: tuple[str, ...]


def _each(rule: Rule, grounds: _Grounds, runners: Iterable[str]) -> Iterator[Rule]:
    check_rule(rule)
    local = _local(rule.pattern, grounds.workspace)
    commands = any(map(compile_glob(rule.permission, "text"), runners))
    if not local or local == rule.pattern or commands:
        yield rule
    # What might be about commands, too, is said of both only where it cannot widen anything.
    if commands and rule.action == "allow":
        return
    if local not in ("", rule.pattern):
        yield msgspec.structs.replace(rule, pattern=local)
    if KINDS.get(rule.permission, "path") != "path":
        return
    places = _Places(grounds.workspace, grounds.facts, follow=rule.action != "allow")
    # What a person allowed was one file in one place.
    further = () if rule.remembered else _further(rule.pattern, grounds.roots, places)
    for pattern in dict.fromkeys((*places.spellings(local or rule.pattern), *further)):
        for capability in _PATHS:
            if rule.capability in (None, capability):
                yield msgspec.structs.replace(rule, pattern=pattern, capability=capability)


def _local(pattern: str, workspace: Path | None) -> str:
    """The pattern without the folder it begins with; what is bent there is made straight later."""
    starts = ["."] if workspace is None else [".", str(workspace), escaped(str(workspace))]
    for start in starts:
        if pattern.startswith(f"{start}/") and not pattern.startswith(f"{start}//"):
            return pattern[len(start) + 1 :]
    return pattern


def _further(pattern: str, roots: Iterable[str], places: "_Places") -> Iterator[str]:
    """What a pattern that begins nowhere says of further roots."""
    if not pattern.strip("*"):
        return  # it fits everything as it is
    for root in roots:
        for first, *rest in path_segments(pattern):
            segments = [one for one in (first, *rest) if one not in _NO_NAME]
            if first == "" or ".." in segments:
                continue
            whole = _written([*map(escaped, _names(root)), *segments], absolute=True)
            yield whole
            yield from places.spellings(whole)


class _Places:
    """The other ways in which a pattern of paths has to be written to fit what it speaks of."""

    def __init__(self, workspace: Path | None, facts: PathFacts, *, follow: bool) -> None:
        """To follow a link in a pattern is for rules that only narrow: a link can be exchanged."""
        self._names = None if workspace is None else _names(str(workspace))
        self._facts = facts
        self._follow = follow

    def spellings(self, pattern: str) -> Iterator[str]:
        """Straight where it is bent, and from the workspace where it reaches into it."""
        for first, *rest in path_segments(pattern):
            absolute = first == ""
            segments = [one for one in (first, *rest) if one not in _NO_NAME]
            bent = len(segments) < len(rest) + (not absolute)
            if ".." in segments:
                continue
            if bent:
                yield _written(segments, absolute=absolute)
            if absolute:
                yield from self._elsewhere(segments)

    def _elsewhere(self, segments: list[str]) -> Iterator[str]:
        yield from self._inside(segments)
        straight = self._on_the_disk(segments) if self._follow else None
        if straight is not None:
            yield _written(straight, absolute=True)
            yield from self._inside(straight)

    def _inside(self, segments: list[str]) -> Iterator[str]:
        """What is left of the pattern when it has come as far as the workspace."""
        if self._names is None or all(one == _ANY_SEGMENTS for one in segments):
            return  # the whole disk is told apart from the workspace: it is all that lies outside
        reached = [0]
        for name in self._names:
            steps = {after for at in reached for after in _steps(segments, at, name)}
            # All that fits from before the last `**` fits from there, too.
            wide = max((at for at in steps if segments[at : at + 1] == [_ANY_SEGMENTS]), default=0)
            reached = sorted(at for at in steps if at >= wide)
        for at in reached:
            yield _written(segments[at:], absolute=False)

    def _on_the_disk(self, segments: list[str]) -> list[str] | None:
        """The pattern without the links in its beginning; None where there are none."""
        plain: list[str] = []
        for segment in segments:
            text = plain_text(segment)
            if text is None:
                break
            plain.append(text)
        seen = self._facts.look("/" + "/".join(plain), None)
        if not isinstance(seen, PathView) or seen.physical == seen.lexical:
            return None
        return [*map(escaped, _names(seen.physical)), *segments[len(plain) :]]


def _steps(segments: list[str], at: int, name: str) -> Iterator[int]:
    """Where in the pattern one may be after a folder of this name."""
    while segments[at : at + 1] == [_ANY_SEGMENTS]:
        yield at
        at += 1
    if at < len(segments) and compile_glob(segments[at], "path")(name):
        yield at + 1


def _written(segments: list[str], *, absolute: bool) -> str:
    if absolute:
        # The root of the disk alone: a bare separator would mean everything below it.
        return "/" + "/".join(segments) if segments else r"\/"
    return "/".join(segments) or "."


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]
