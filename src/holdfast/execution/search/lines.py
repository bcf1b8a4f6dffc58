"""Lines that match, found by ripgrep."""

import os
import re
from collections.abc import Callable, Sequence

from anyio import create_task_group

from holdfast.contract.errors import InvalidArguments, OperationFailed
from holdfast.contract.search import FoundLines, LeftOut, LineQuery
from holdfast.execution.processes.views import View
from holdfast.execution.search.log import Log
from holdfast.execution.search.patterns import DEEP, compiled, ripgrep_glob, segments_of
from holdfast.execution.search.places import Judge, Place, place_of
from holdfast.execution.search.program import ripgrep
from holdfast.execution.search.reading import Lines
from holdfast.execution.search.running import Nothing, Run, Zeros, run
from holdfast.execution.search.skipping import passing_over

_COMMON = (
    *("--with-filename", "--line-number", "--null", "--no-heading", "--stats", "--crlf"),
    *("--no-context-separator", "--no-multiline", "--no-text"),
)
LONGEST_PATTERN = 100_000
"""In bytes: the system passes no longer word to a program."""
_ABOUT_PATTERN = re.compile(r"regex|not allowed in a regex|pattern")


async def find_lines(view: View, wanted: LineQuery, *, skips: bool) -> FoundLines:
    """Every line that matches; raises what the model is told."""
    if not wanted.pattern:
        raise InvalidArguments(
            "An empty pattern would match every line.", field="pattern", expected="what to find"
        )
    if "\0" in wanted.pattern:
        raise InvalidArguments("A pattern cannot hold a NUL character.", field="pattern")
    if "\n" in wanted.pattern:
        raise InvalidArguments("A line is searched by itself, and holds no break.", field="pattern")
    if len(wanted.pattern.encode("utf-8", "replace")) > LONGEST_PATTERN:
        raise InvalidArguments(f"A pattern has at most {LONGEST_PATTERN:,} bytes.", field="pattern")
    place = place_of(view, wanted.path, directory=False)
    segments = None if wanted.glob is None else _glob(wanted.glob)
    over = passing_over(skips=skips and not place.named)
    judge = Judge(view, place)
    lines = Lines(_narrowed(judge, segments), wanted.limit, _looked_up(place))
    argv = (ripgrep(), *over, *_words(wanted, place, segments))
    ran = await run(view, argv, place.directory, lines)
    if ran.exit_code == _TROUBLE and lines.searched is None:
        raise _refused(ran, wanted)
    if segments is not None and lines.stopped is None:
        ran = ran._replace(log=await _counted(view, place, over, segments))
    return _told(lines, ran, judge)


async def _counted(view: View, place: Place, over: Sequence[str], segments: Sequence[str]) -> Log:
    """What a run with a filter passed over: its own log would name each file that does not fit."""
    walk = (ripgrep(), *over, "--debug", "--files", *_target(place))
    only = _only(place, segments)
    with_nul = ("--text", "--files-with-matches", "--null", r"--regexp=(?-u)\x00")
    binaries = Zeros()
    logs: list[Log] = []

    async def keep_log() -> None:
        logs.append((await run(view, walk, place.directory, Nothing())).log)

    searched = (ripgrep(), *over, *only, *with_nul, *_target(place))
    try:
        async with create_task_group() as both:
            both.start_soon(keep_log)
            await run(view, searched, place.directory, binaries)
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None  # what the model is told is no group
    return logs[0]._replace(binary=binaries.count)


def _only(place: Place, segments: Sequence[str]) -> tuple[str, ...]:
    """Have it search by the name alone. Told by --glob, it would search what is ignored, too."""
    if place.name is not None or segments[-1] == DEEP:
        return ()
    return f"--type-add=wanted:{ripgrep_glob(segments[-1])}", "--type=wanted"


def _target(place: Place) -> tuple[str, str]:
    return "--", "." if place.name is None else f"./{place.name}"


_TROUBLE = 2


def _glob(glob: str) -> tuple[str, ...]:
    try:
        segments, only_directories = segments_of(glob)
    except InvalidArguments as problem:
        raise InvalidArguments(str(problem), field="glob", expected=problem.expected) from None
    if only_directories:
        return (*segments, DEEP)  # all that is below one
    return segments if "/" in glob else (DEEP, *segments)


def _narrowed(judge: Judge, segments: tuple[str, ...] | None) -> Judge:
    if segments is not None:
        fits = compiled(segments)
        judge.fits = lambda found: fits(found.removeprefix(b"./")) is not None
    return judge


def _looked_up(place: Place) -> Callable[[bytes], bool]:
    above = os.fsencode(place.directory)
    return lambda path: os.path.lexists(os.path.join(above, path))  # noqa: PTH118 - bytes


def _words(wanted: LineQuery, place: Place, segments: Sequence[str] | None) -> list[str]:
    words = [*_COMMON]
    if segments is None:
        words.append("--debug")
    else:
        words += _only(place, segments)
    words.append("--case-sensitive" if wanted.case_sensitive else "--ignore-case")
    if not wanted.regex:
        words.append("--fixed-strings")
    if wanted.limit is not None:
        words.append(f"--max-count={wanted.limit}")
    words.append(f"--regexp={wanted.pattern}")
    return [*words, *_target(place)]


def _told(lines: Lines, ran: Run, judge: Judge) -> FoundLines:
    binary = max(ran.log.binary, int(lines.is_binary))
    searched = lines.searched
    return FoundLines(
        matches=sorted(lines.matches, key=lambda one: (one.path, one.line)),
        files_scanned=len(lines.files) if searched is None else max(searched - binary, 0),
        left_out=LeftOut(
            ignored=len(ran.log.ignored),
            binary=binary,
            unreadable=ran.log.unreadable + len(judge.unnamed) + len(lines.unclear),
            refused=len(judge.refused),
            links=len(ran.log.other),
        ),
        stopped=lines.stopped,
    )


def _refused(ran: Run, wanted: LineQuery) -> InvalidArguments | OperationFailed:
    said = ran.log.said.removeprefix("rg: ")
    if wanted.regex and _ABOUT_PATTERN.search(said):
        return InvalidArguments(
            f"The pattern is no regular expression: {said}",
            field="pattern",
            expected="a regular expression of one line, or `regex`: false to search for the text",
        )
    return OperationFailed(f"The search failed: {said}")
