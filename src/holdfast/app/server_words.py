"""What a trusted project's server names of the project on its command line, beside its program.

A trusted system program runs what it is given: `python tools/x.py` is code of the project. Trust
covers the project's holdfast folder alone, so a word that leads there is put to the copy of it, and
one that leads elsewhere into the project is refused. It works on tables that `keys` has checked.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from holdfast.app.keys import Table
from holdfast.app.locations import PROJECT_FOLDER
from holdfast.app.problems import ConfigurationError
from holdfast.app.server_programs import runs_words
from holdfast.sources.mcp.expansion import expand
from holdfast.sources.mcp.setup import BadSetup

_SEPARATORS = re.compile(r"[\s;&|()<>'\"`,]+")
_INLINE = frozenset({"-c", "-e", "-p", "-r", "-m", "--eval", "--print", "--require", "--import"})
"""What an interpreter is given behind these is no script, but code or the name of some."""


class _Places(NamedTuple):
    project: Path
    folder: Path
    """The project's holdfast folder."""
    kept: Path
    """The copy of it that is read in its place."""


def cover_words(table: Table, kept: Path, origin: Path, environment: Mapping[str, str]) -> None:
    """Have every word lead to what trust covers; ConfigurationError for one that cannot.

    ``origin``: the project's own file.
    """
    folder = origin.parent.resolve()
    places = _Places(folder.parent, folder, kept)
    for name, server in cast("dict[str, Table]", table.get("mcp", {})).items():
        command = cast("list[str]", server.get("command", []))
        script = _script_at(command)
        for at in range(1, len(command)):
            covered = _covered(_filled(command[at], environment), places, is_script=at == script)
            if covered is None:
                raise ConfigurationError(
                    f"{origin}: mcp.{name}.command: {command[at]} is not in the {PROJECT_FOLDER}"
                    " folder, which is all that trust covers; move it there, or name the server in"
                    " your own configuration"
                )
            if covered:
                command[at] = covered


def _script_at(command: list[str]) -> int | None:
    """Which word an interpreter runs as a file."""
    if not runs_words(tuple(command)):
        return None
    for at, word in enumerate(command[1:], 1):
        if word in ("-c", "-e", "-m", "--eval"):
            return None
        if not word.startswith("-") and command[at - 1] not in _INLINE:
            return at
    return None


def _covered(word: str, places: _Places, *, is_script: bool) -> str | None:
    """The word as it leads to the copy; empty: it names nothing of the project; None: it names
    what trust does not cover."""
    whole = _in_folder(word, places, is_path=is_script or "/" in word)
    if whole is not None:
        return str(whole)
    if is_script and not Path(word).is_absolute():
        return None
    inline = _SEPARATORS.search(word) is not None
    for piece in _pieces(word):
        found = places.project / piece
        if inline and not Path(piece).is_absolute() and "/" in piece and "://" not in piece:
            return None
        if _lies_in(found, places.project) and (found.is_file() or _is_module(found, word)):
            return None
    return "" if not (is_script and _lies_in(Path(word), places.project)) else None


def _in_folder(word: str, places: _Places, *, is_path: bool) -> Path | None:
    """Where a word that is one path leads in the copy; None: it does not."""
    if not is_path or word.startswith("-"):
        return None
    below = Path(word)
    if below.is_absolute():
        if not _lies_in(below, places.folder):
            return None
        below = below.resolve().relative_to(places.folder)
    elif below.parts[:1] == (PROJECT_FOLDER,):
        below = below.relative_to(PROJECT_FOLDER)
    found = places.kept / below
    return found if found.exists() and _lies_in(found, places.kept) else None


def _pieces(word: str) -> Iterator[str]:
    """All that may be a path in it: itself, what stands behind an equals sign, parts of code."""
    for piece in (word, *_SEPARATORS.split(word)):
        yield from filter(None, (piece, piece.partition("=")[2]))


def _is_module(path: Path, word: str) -> bool:
    """Whether a bare name is that of a Python module of the project."""
    if "/" in word or path.name in (".", ".."):
        return False
    top = path.with_name(path.name.partition(".")[0] or path.name)
    return top.with_suffix(".py").is_file() or (top / "__main__.py").is_file()


def _lies_in(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _filled(word: str, environment: Mapping[str, str]) -> str:
    try:
        return expand(word, environment)
    except BadSetup:
        return word
