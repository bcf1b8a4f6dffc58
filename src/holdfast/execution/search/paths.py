"""Paths that fit a pattern: of one directory after the other, or found by ripgrep where `**` is."""

import os
import posixpath
import threading
from collections.abc import Iterable, Iterator
from typing import cast

from holdfast.contract.errors import PolicyDenied, ToolError
from holdfast.contract.files import FileFacts
from holdfast.contract.gates import Refusal
from holdfast.contract.search import FoundEntry, FoundPaths, LeftOut, PathQuery, WantedKind
from holdfast.execution.files.reach import Reach
from holdfast.execution.processes.views import View
from holdfast.execution.search.directories import Directories
from holdfast.execution.search.patterns import (
    DEEP,
    compiled,
    is_wild,
    literal_part,
    segments_of,
    tail_of,
)
from holdfast.execution.search.places import Judge, Place, place_of
from holdfast.execution.search.program import ripgrep
from holdfast.execution.search.reading import MOST_FOUND, Paths, paths_ending
from holdfast.execution.search.running import Run, run
from holdfast.execution.search.skipping import SKIPPED, passing_over
from holdfast.execution.threads import in_thread

# Walking is waiting: with a thread for each core, some of them look for work in vain.
_THREADS = (f"--threads={min(2 * (os.cpu_count() or 1), 12)}",)


async def find_paths(view: View, wanted: PathQuery, *, skips: bool) -> FoundPaths:
    """Every path that fits; raises what the model is told."""
    segments, only_directories = segments_of(wanted.pattern)
    kind = "directory" if only_directories else wanted.kind
    place = place_of(view, wanted.path, directory=True)
    if DEEP not in segments:
        return await _one_by_one(view, place, segments, kind, wanted.limit)
    named = segments[: literal_part(segments)]
    below = place._replace(
        directory=posixpath.join(place.directory, *named),
        prefix=place.prefix + "".join(f"{one}/" for one in named),
        named=place.named or any(one in SKIPPED for one in named),
    )
    if named:
        try:
            is_there = _is_there(view, below)
        except PolicyDenied:
            return FoundPaths(entries=[], left_out=LeftOut(refused=1))
        if not is_there:
            return FoundPaths(entries=[], left_out=LeftOut())
    search = _Search(view, below, segments[len(named) :], kind, wanted.limit)
    return await search.found(skips=skips and not below.named)


def _is_there(view: View, place: Place) -> bool:
    """Whether it is a directory that is reached without a link; PolicyDenied when it is refused."""
    try:
        return place_of(view, place.directory, directory=True).directory == place.directory
    except PolicyDenied:
        raise
    except ToolError:
        return False


class _Search:
    """A search below a directory."""

    def __init__(
        self,
        view: View,
        place: Place,
        segments: tuple[str, ...],
        kind: WantedKind | None,
        limit: int | None,
    ) -> None:
        self._view = view
        self._place = place
        self._kind = kind
        self._limit = limit
        # Most patterns judge nothing but the name.
        self._named = segments[:-1] == (DEEP,) != segments[-1:]
        self._match = compiled(segments[-1:] if self._named else segments)
        self._tail = tail_of(segments)
        # Then the tail says all there is to say.
        first, ending = segments[-1][:1], segments[-1][1:]
        self._quick = self._named and first == "*" and not is_wild(ending)
        self._judge = Judge(view, place)

    async def found(self, *, skips: bool) -> FoundPaths:
        """Everything that fits."""
        words = (*passing_over(skips=skips), *_THREADS, "--debug", "--files", "--null", "--", ".")
        shown = _none if self._kind == "directory" else self._shown
        paths = Paths(shown, self._limit, keeps_all=self._kind != "file")
        ran = await run(self._view, (ripgrep(), *words), self._place.directory, paths)
        stopping = threading.Event()
        try:
            told = await in_thread(lambda: self._told(paths, ran, stopping))
        finally:
            stopping.set()
        return cast("FoundPaths", told)

    def _shown(self, text: bytes) -> list[str]:
        """Judged before it is counted: what may not be shown fills no answer."""
        return [path for path in map(self._judge, self._fitting(text)) if path]

    def _fitting(self, text: bytes) -> list[bytes]:
        """Of a text of paths, each of which ends with NUL."""
        found, match = paths_ending(text, self._tail), self._match
        if self._quick:
            return [*found]
        if self._named:
            return [path for path in found if match(path, path.rfind(b"/") + 1)]
        return [path for path in found if match(path, 2)]

    def _told(self, paths: Paths, ran: Run, stopping: threading.Event) -> FoundPaths:
        judge = self._judge
        entries = [FoundEntry(path, "file") for path in paths.fitting]
        if paths.stopped is None and self._kind != "file":
            entries += self._directories(paths, ran, stopping)
        entries.sort(key=_path_of)
        stopped = paths.stopped
        if self._limit is not None and len(entries) > self._limit:
            del entries[self._limit :]
            stopped = "the limit was reached"
        left_out = LeftOut(
            ignored=len(ran.log.ignored),
            unreadable=ran.log.unreadable + len(judge.unnamed),
            refused=len(judge.refused),
            links=len(ran.log.other),
        )
        return FoundPaths(entries=entries, left_out=left_out, stopped=stopped)

    def _directories(
        self, paths: Paths, ran: Run, stopping: threading.Event
    ) -> Iterator[FoundEntry]:
        directories = Directories(self._place.directory, ran.log.ignored, stopping.is_set)
        for name in self._fitting(_as_text(directories.all(paths.texts))):
            shown = self._judge(name)
            if shown:
                yield FoundEntry(shown, "directory")


def _none(_text: bytes) -> list[str]:
    return []


def _as_text(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _path_of(entry: FoundEntry) -> str:
    return entry.path


async def _one_by_one(
    view: View,
    place: Place,
    segments: tuple[str, ...],
    kind: WantedKind | None,
    limit: int | None,
) -> FoundPaths:
    """Without `**`: nothing is passed over, and only directories that fit are entered."""
    stopping = threading.Event()
    listing = _Listing(view, stopping, kind, limit or MOST_FOUND)
    try:
        await in_thread(lambda: listing.enter(place.directory, segments))
    finally:
        stopping.set()
    entries = sorted(listing.entries, key=_path_of)
    stopped = "the limit was reached" if listing.full else None
    left_out = LeftOut(unreadable=listing.unreadable, refused=listing.refused)
    return FoundPaths(entries=entries[:limit], left_out=left_out, stopped=stopped)


class _Listing:
    """Directories listed one after the other."""

    def __init__(
        self, view: View, stopping: threading.Event, kind: WantedKind | None, most: int
    ) -> None:
        self._open = view.open
        self._reach = Reach(view.open, view.workspace)
        self._stopping = stopping
        self._kind = kind
        self._most = most
        self.entries: list[FoundEntry] = []
        self.unreadable = 0
        self.refused = 0
        self.full = False

    def enter(self, first: str, segments: tuple[str, ...]) -> None:
        """List it, and below it what the segments fit."""
        waiting = [(first, 0)]
        while waiting and not self._stopping.is_set() and not self.full:
            directory, at = waiting.pop()
            listed = self._reach.entered_below(directory)
            if listed is None:
                self._pass_over(directory)
                continue
            fits = compiled(segments[at : at + 1])
            fitting = [one for one in listed if fits(os.fsencode(one.name))]
            if at + 1 == len(segments):
                self._keep(fitting)
                continue
            waiting += [
                (posixpath.join(directory, one.name), at + 1)
                for one in fitting
                if one.kind == "directory"
            ]

    def _pass_over(self, directory: str) -> None:
        if isinstance(self._open("read", directory), Refusal):
            self.refused += 1
        else:
            self.unreadable += 1

    def _keep(self, fitting: list[FileFacts]) -> None:
        for one in fitting:
            if self._kind is not None and one.kind != self._kind:
                continue
            if len(self.entries) >= self._most:
                self.full = True
                return
            if not one.path.isascii() and _is_no_text(one.path):
                self.unreadable += 1
                continue
            self.entries.append(FoundEntry(one.path, one.kind))


def _is_no_text(path: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in path)
