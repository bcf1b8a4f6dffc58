"""A manifest's text as entries that can be called, or as what is wrong with it.

Pure: the text and the folder it lies in are handed in, and nothing else is looked at. The order of
the checks and the words of their errors are the format's.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.sources.manifest.advice import DOTTED
from holdfast.sources.manifest.blanks import trimmed
from holdfast.sources.manifest.parsing import Unparsed, WrittenEntry, parsed
from holdfast.sources.manifest.program_path import PathFault, program_path
from holdfast.sources.manifest.quoting import quoted
from holdfast.sources.manifest.variable_names import NameFault, variable_names

_FLAT = frozenset({"read", "write", "hosts", *DOTTED})
_FORM = 'write {"fs": {"read": [...], "write": [...]}, "net": {"hosts": [...]}} in a manifest'
_NUL = "\x00"


class ManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One tool as a manifest declares it, checked."""

    name: str
    description: str | None = None
    schema: JsonObject | None = None
    """As written; None: there is none, and any object is accepted."""
    command: tuple[str, ...]
    """The program's absolute path, and its fixed arguments."""
    timeout_seconds: int | None = None
    """None: the default counts."""
    passed: tuple[str, ...] = ()
    """Names of variables of the parent's environment."""
    requires: RequirementSet | None = None
    """None: it says nothing, and the default of manifests counts."""
    names_reads: bool = False
    """Whether it says what it reads, and be it nothing; else the default of manifests counts."""


class ManifestProblem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a manifest."""

    text: str
    index: int | None = None
    """Which entry; None: the whole file."""
    name: str | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a manifest, in order, and the folder that their programs are below."""

    folder: str
    entries: tuple[ManifestEntry, ...] = ()


class LookedThrough(NamedTuple):
    """A manifest from beginning to end."""

    problems: tuple[ManifestProblem, ...]
    """Everything that is wrong, in the order in which it is checked."""
    entries: Mapping[int, ManifestEntry]
    """Those in which nothing is wrong, by where they stand."""


def load_manifest(content: bytes, folder: str) -> Manifest | ManifestProblem:
    """All entries, or the first thing that is wrong. ``folder`` is absolute."""
    problems, entries = look_through(content, folder)
    return problems[0] if problems else Manifest(folder=folder, entries=tuple(entries.values()))


def look_through(content: bytes, folder: str) -> LookedThrough:
    """Everything that is wrong, and what is not."""
    try:
        written = parsed(content)
    except Unparsed as problem:
        return LookedThrough((ManifestProblem(text=f"parse manifest: {problem}"),), {})
    problems: list[ManifestProblem] = []
    taken: set[str] = set()
    for index, entry in enumerate(written):
        problems += [_problem(index, entry, fault) for fault in _faults(entry, taken, folder)]
        taken.add(entry.name or "")
    # A loader tells of these only where nothing else is wrong anywhere.
    for index, entry in enumerate(written):
        problems += [_problem(index, entry, fault) for fault in _uncallable(entry)]
    wrong = {problem.index for problem in problems}
    right = {at: _entry(one, folder) for at, one in enumerate(written) if at not in wrong}
    return LookedThrough(tuple(problems), right)


def _problem(index: int, entry: WrittenEntry, fault: str) -> ManifestProblem:
    name = _name(entry)
    place = f"tool[{index}]" if name is None else f"tool[{index}] {quoted(name)}"
    return ManifestProblem(text=f"{place}: {fault}", index=index, name=name)


def _name(entry: WrittenEntry) -> str | None:
    return entry.name if entry.name is not None and trimmed(entry.name) else None


def _faults(entry: WrittenEntry, taken: set[str], folder: str) -> Iterator[str]:
    """What is wrong with an entry; the first one is what a loader reports."""
    name = _name(entry)
    if name is None:
        yield "name is required"
        return
    if name in taken:
        yield "duplicate name"
    if not entry.command:
        yield "command must have at least program name"
    try:
        variable_names(entry.env_passthrough or ())
    except NameFault as fault:
        yield str(fault)
    if entry.command:
        try:
            program_path(entry.command[0], folder)
        except PathFault as fault:
            yield str(fault)
    if entry.schema is not None and not isinstance(entry.schema, dict):
        yield "schema must be an object"
    yield from _of_requires(entry)


def _of_requires(entry: WrittenEntry) -> Iterator[str]:
    declared: object = entry.requires
    if declared is None:
        return
    if not isinstance(declared, dict):
        yield "requires must be an object"
        return
    try:
        requirement_set(cast("JsonObject", declared))
    except ValueError as problem:
        said = str(problem)
        said = said if said.startswith("requires") else f"requires: {said}"
        # The same things are written flat in a configuration.
        yield f"{said}; {_FORM}" if _FLAT & declared.keys() else said


def _uncallable(entry: WrittenEntry) -> Iterator[str]:
    """What the format lets pass, and no machine can call."""
    if not (entry.name or "").isprintable():
        yield "name cannot hold control characters"
    for at, word in enumerate(entry.command or ()):
        if _NUL in word:
            yield f"command[{at}] cannot hold a NUL character"


def _entry(written: WrittenEntry, folder: str) -> ManifestEntry:
    """An entry in which nothing is wrong."""
    program, *fixed = written.command or ("",)
    seconds = written.timeout_sec
    declared: JsonObject | None = written.requires
    requires = None if declared is None else requirement_set(declared)
    return ManifestEntry(
        name=written.name or "",
        description=written.description or None,
        schema=written.schema,
        command=(program_path(program, folder), *fixed),
        timeout_seconds=seconds if seconds is not None and seconds > 0 else None,
        passed=variable_names(written.env_passthrough or ()),
        requires=requires,
        # One that requires nothing at all says thereby that it reads nothing.
        names_reads=requires is not None and (requires.empty or _names_reads(declared)),
    )


def _names_reads(declared: JsonObject | None) -> bool:
    files = (declared or {}).get("fs")
    return isinstance(files, dict) and files.get("read") is not None
