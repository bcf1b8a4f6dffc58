"""Whether a path may be read or written.

Pure: where the path leads is handed in (`PathView`). A path is admitted when its text and the place
on the disk it leads to are both within the patterns. Patterns are relative to every workspace root,
or absolute; ``~`` is an ordinary name, and case matters.

An admitted path carries the one canonical path that may then be opened, without following links.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from holdfast.contract.gates import Access
from holdfast.contract.ports import PathProblem, PathTrouble, PathView
from holdfast.contract.variables import expand
from holdfast.policy.globs import Matches, compile_glob, escaped, path_segments, plain_text
from holdfast.policy.places import Places
from holdfast.policy.protected import is_protected

LONGEST_SHOWN = 200


class PathPatternProblem(ValueError):
    """A pattern that can be no path."""


class AdmittedPath(msgspec.Struct, frozen=True, gc=False):
    """Leave to open exactly this path, without following links."""

    canonical: str


class Refused(msgspec.Struct, frozen=True, gc=False):
    """Why something may not be done, in words that give away nothing of what lies outside."""

    reason: str


PathVerdict: TypeAlias = AdmittedPath | Refused


class PathPatterns:
    """Compiled patterns: alternatives, of which one suffices."""

    __slots__ = ("_lexical", "_named", "_one_spelling", "_physical", "_roots", "canonical")

    def __init__(self, patterns: Iterable[str], places: Places) -> None:
        written = [*patterns]
        bases = list(dict.fromkeys(text for place in places.workspace for text in place))
        as_written = _absolute(written, places.as_written(), bases)
        self.canonical = _absolute(
            written, places.on_disk(), [place.physical for place in places.workspace]
        )
        """The patterns as they are judged: absolute, without alternation, sorted."""
        self._lexical = _matchers(as_written)
        self._physical = _matchers(self.canonical)
        self._one_spelling = as_written == self.canonical
        self._named = frozenset(map(plain_text, (*as_written, *self.canonical)))
        self._roots = tuple(dict.fromkeys(text for place in places.each() for text in place))

    def admit_text(self, path: str) -> bool:
        """Whether the path is within them by its text."""
        return _any_fits(self._lexical, path)

    def admit_place(self, seen: PathView) -> bool:
        """Whether the place on the disk is within them too; asked after `admit_text`."""
        if self._one_spelling and seen.physical == seen.lexical:
            return True
        return _any_fits(self._physical, seen.physical)

    def keep_away(self, seen: PathView) -> bool:
        """Whether the path or its place is protected, and no pattern names it in full."""
        physical, lexical = seen.physical, seen.lexical
        if is_protected(physical, self._roots) and not self.names(physical):
            return True
        if lexical == physical:
            return False
        return is_protected(lexical, self._roots) and not self.names(lexical)

    def names(self, path: str) -> bool:
        """Whether a pattern names the place in full."""
        return path in self._named


def judge_path(
    layers: Sequence[PathPatterns], access: Access, written: str, seen: PathView | PathProblem
) -> PathVerdict:
    """Judge a path by every layer; each of them has to admit it."""
    lexical = seen.lexical
    # First by its text: what lies outside is refused in one way, whether it exists or not.
    if lexical is not None:
        for layer in layers:
            if not layer.admit_text(lexical):
                return Refused(f"{_shown(written)} is outside of what may be {_DONE[access]}.")
    if isinstance(seen, PathProblem):
        return Refused(f"{_shown(written)} {_TROUBLES[seen.trouble]}.")
    for layer in layers:
        if not layer.admit_place(seen):
            return Refused(
                f"{_shown(written)} passes a link that leads outside of what may be"
                f" {_DONE[access]}."
            )
        if access == "write" and layer.keep_away(seen):
            return Refused(
                f"{_shown(written)} is protected: it is written only where `requires` names it in"
                " full."
            )
    return AdmittedPath(seen.physical)


def normal_text(path: str) -> str:
    """A path by its text alone: without dots and doubled separators; empty stays empty."""
    if not path:
        return path
    # Two separators at the beginning mean something in POSIX; not to us.
    return posixpath.normpath("/" + path.lstrip("/") if path.startswith("/") else path)


@lru_cache(maxsize=1024)
def literal_root(pattern: str) -> str:
    """The longest path without wildcards above everything that the absolute pattern fits."""
    kept: list[str] = []
    for segment in path_segments(pattern)[0]:
        text = plain_text(segment)
        if text is None:
            break
        kept.append(text)
    return "/".join(kept) or "/"


_DONE = {"read": "read", "write": "written"}
_TROUBLES: dict[PathTrouble, str] = {
    "empty": "is empty: give a path",
    "nul": "holds a NUL character",
    "not_text": "holds characters that no file name can hold",
    "too_long": "is too long for a path",
    "loop": "passes links that lead in a circle",
    "not_a_directory": "goes through a file as if it were a directory",
    "forbidden": "passes a directory that may not be searched",
    "no_workspace": "is relative, and no workspace is open",
}


def _shown(path: str) -> str:
    return repr(path if len(path) <= LONGEST_SHOWN else path[:LONGEST_SHOWN] + "...")


def _any_fits(matchers: Sequence[Matches], path: str) -> bool:
    for fits in matchers:  # noqa: SIM110 - any() costs more, and this runs for every listed file
        if fits(path):
            return True
    return False


def _matchers(patterns: Iterable[str]) -> tuple[Matches, ...]:
    return tuple(compile_glob(pattern, "path") for pattern in patterns)


def _absolute(
    patterns: Iterable[str], values: Mapping[str, Sequence[str]], bases: Sequence[str]
) -> tuple[str, ...]:
    found: set[str] = set()
    for pattern in patterns:
        if not pattern:
            raise PathPatternProblem("a path pattern is empty")
        for filled in expand(pattern, values):
            for segments in path_segments(filled):
                if ".." in segments:
                    raise PathPatternProblem(f"path pattern {pattern!r} climbs out with '..'")
                found.update(_placed(segments, bases))
    return tuple(sorted(found))


def _placed(segments: tuple[str, ...], bases: Sequence[str]) -> Iterator[str]:
    kept = [segment for segment in segments if segment not in ("", ".")]
    if segments[0] == "":
        bases = ["/"]
    for base in bases:
        whole = [*(escaped(segment) for segment in base.split("/") if segment), *kept]
        # The root of the disk alone: a bare separator would mean everything below it.
        yield "/" + "/".join(whole) if whole else r"\/"
