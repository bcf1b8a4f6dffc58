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


_LOADERS = frozenset(
    {
        *("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "CLASSPATH"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH"),
        *("PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GIT_EXEC_PATH"),
    }
)
"""What programs load code by, whatever their words say."""
_NOT_COVERED = (
    "is not in the {folder} folder, which is all that trust covers; move it there, or name the"
    " server in your own configuration"
)


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
        _refuse_loaders(server, f"{origin}: mcp.{name}")
        _refuse_variables(server, f"{origin}: mcp.{name}", places, environment)
        script = _script_at(command)
        for at in range(1, len(command)):
            covered = _covered(_filled(command[at], environment), places, is_script=at == script)
            if covered is None:
                said = _NOT_COVERED.format(folder=PROJECT_FOLDER)
                raise ConfigurationError(f"{origin}: mcp.{name}.command: {command[at]} {said}")
            if covered:
                command[at] = covered


def _refuse_loaders(server: Table, whose: str) -> None:
    for variable in cast("dict[str, object]", server.get("env", {})):
        if variable.upper() in _LOADERS:
            raise ConfigurationError(
                f"{whose}.env: {variable} says where programs find code, which trust does not"
                " cover; set it for the server in your own configuration"
            )


def _refuse_variables(
    server: Table, whose: str, places: _Places, environment: Mapping[str, str]
) -> None:
    """What variables are filled into leads nowhere into the project: it was judged without them."""
    command = cast("list[str]", server.get("command", []))
    named = [("command", command[0])] if command else []
    named += [(key, cast("str", server[key])) for key in ("cwd", "token_file") if key in server]
    for key, written in named:
        filled = _filled(written, environment)
        is_theirs = _lies_in(places.project / filled, places.project) or _is_hidden(filled)
        if filled != written and is_theirs:
            said = _NOT_COVERED.format(folder=PROJECT_FOLDER)
            raise ConfigurationError(f"{whose}.{key}: {written} {said}")


def _is_hidden(path: str) -> bool:
    """Whether it leads wherever a process stands."""
    return path.startswith("/proc/")


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
        if _is_hidden(piece):
            return None
        if _lies_in(found, places.project) and _holds_code(found, piece, word):
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
        attached = piece[2:] if piece[:1] == "-" and piece[1:2].isalpha() else ""
        yield from filter(None, (piece, piece.partition("=")[2], attached))


def _holds_code(found: Path, piece: str, word: str) -> bool:
    """Whether a program that is given this runs it: a file, a folder that is a program, a module,
    or a folder of modules behind an option."""
    if found.is_file() or (found / "__main__.py").is_file() or _is_module(found, piece):
        return True
    return word.startswith("-") and word != piece and found.is_dir()


def _is_module(path: Path, word: str) -> bool:
    """Whether a bare name is that of a Python module of the project."""
    if "/" in word or path.name in (".", ".."):
        return False
    top = path.with_name(path.name.partition(".")[0] or path.name)
    whole = path.parent.joinpath(*path.name.split("."))
    modules = (top, top / "__main__", whole, whole / "__main__")
    return any(one.parent.joinpath(f"{one.name}.py").is_file() for one in modules)


def _lies_in(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _filled(word: str, environment: Mapping[str, str]) -> str:
    try:
        return expand(word, environment)
    except BadSetup:
        return word
