"""What the command line of an MCP server names of the disk, and as whom its program runs.

Words and tools; nothing is started here. The program, the script of an interpreter and the Python
environment of either are what the server consists of: they are read whatever bounds it. Every other
file that its command line names is read as far as its bounds let it.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Alone, Body, Tool
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, requirements_of

_ENVIRONMENT_OF_PYTHON = "pyvenv.cfg"
_INTERPRETER = late_pattern(
    r"(?:python|pypy)[\d.]*|node|nodejs|deno|bun|ruby|perl|php|lua|Rscript|java|bash|sh|dash|zsh|ksh"
)
_PYTHON = late_pattern(r"(?:python|pypy)[\d.]*")
_GLOB_CHARACTER = late_pattern(r"[*?\[\],\\]")


def tool_of(server: str) -> str:
    """As whom the program of a server runs. No catalog has it: its name holds colons."""
    return f"mcp:{server}"


def meant_by(setup: ServerSetup, environment: Mapping[str, str]) -> ServerSetup:
    """The server with its variables replaced; as it is where one is missing, which is told when it
    is connected."""
    try:
        return expanded(setup, environment)
    except BadSetup:
        return setup


def server_tools(setups: Iterable[ServerSetup], environment: Mapping[str, str]) -> tuple[Tool, ...]:
    """As whom servers run or are reached, and what each of them reaches."""
    return tuple(_tool(meant_by(one, environment), environment) for one in setups)


def _tool(meant: ServerSetup, environment: Mapping[str, str]) -> Tool:
    return Tool(
        name=tool_of(meant.name),
        description=None,
        requires=_requires(meant),
        body=Body(style="inline", invoke=_never),
        alone=Alone(
            started_from=tuple(_started_from(meant, environment)), owner=tool_of(meant.name)
        ),
    )


def _requires(meant: ServerSetup) -> RequirementSet:
    declared = requirements_of(meant)
    named = tuple(pattern for path in files_named(meant) for pattern in _patterns(path))
    fs = msgspec.structs.replace(declared.fs, read=(*declared.fs.read, *named))
    return msgspec.structs.replace(declared, fs=fs)


def _patterns(path: str) -> Iterator[str]:
    """Patterns of exactly this file, or of all below this folder, by its text and on the disk."""
    for place in dict.fromkeys((path.rstrip("/"), str(Path(path).resolve()))):
        if "{" in place or "}" in place:
            continue  # no pattern can name it
        written = _GLOB_CHARACTER.sub(lambda found: "\\" + found.group(0), place)
        yield written
        if Path(path).is_dir():
            yield f"{written}/**"


def files_named(meant: ServerSetup) -> tuple[str, ...]:
    """The files its command line names by absolute paths, beside those that it consists of."""
    script = script_of(meant.argv)
    words = [word for word in meant.args if _is_there(word)]
    return tuple(word for word in dict.fromkeys(words) if word != script)


def script_of(argv: tuple[str, ...]) -> str | None:
    """The file that an interpreter is to run, where it is named by an absolute path."""
    if not argv or _INTERPRETER.fullmatch(Path(argv[0]).name) is None:
        return None
    return next((word for word in argv[1:] if _is_there(word)), None)


def guarded_variables(meant: ServerSetup) -> dict[str, str]:
    """What keeps an installed module from being one of the workspace, where the program begins."""
    is_python = meant.command is not None and _PYTHON.fullmatch(Path(meant.command).name)
    return {"PYTHONSAFEPATH": "1"} if is_python and "-m" in meant.args and not meant.cwd else {}


def runs_words(argv: tuple[str, ...]) -> bool:
    """Whether the program is an interpreter, which runs what it is given."""
    return bool(argv) and _INTERPRETER.fullmatch(Path(argv[0]).name) is not None


def _is_there(word: str) -> bool:
    path = Path(word)
    try:
        return path.is_absolute() and path.exists() and path.resolve() != Path("/")
    except (OSError, ValueError):
        return False


def _started_from(meant: ServerSetup, environment: Mapping[str, str]) -> Iterator[str]:
    """The program, the script it runs, and the Python environment it is of."""
    if not meant.argv:
        return
    found = shutil.which(meant.argv[0], path=environment.get("PATH"))
    if found is not None:
        yield found
        if (Path(found).parent.parent / _ENVIRONMENT_OF_PYTHON).is_file():
            yield str(Path(found).parent.parent)
    script = script_of(meant.argv)
    if script is not None:
        yield script


def _never(_arguments: Mapping[str, object], _runtime: Runtime) -> NoReturn:
    raise AssertionError("no catalog has it")
