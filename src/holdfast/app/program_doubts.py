"""Why the program of an MCP server may not start, in words: what is wrong, and what to do.

It looks at the disk and starts nothing. Whether a server answers is not known here.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from holdfast.contract.late_pattern import late_pattern
from holdfast.sources.manifest.first_line import start_doubt

_BLANK = late_pattern(r"\s")
_SCRIPT = late_pattern(r"[^-\s:][^\s:]*\.(?:py|js|sh)")
_ELSEWHERE = frozenset({"docker", "podman", "nerdctl", "kubectl", "ssh"})
"""What these are given is looked for in another place than here."""
_MISSING = "install it, or correct its command"


class ProgramDoubt(NamedTuple):
    """Why a program may not start."""

    what: str
    step: str

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.what}; {self.step}"


def program_doubt(
    program: str, environment: Mapping[str, str], folder: Path | None = None
) -> ProgramDoubt | None:
    """What is wrong with a program; None: nothing is.

    ``folder``: where it is started, for a path that is no whole one.
    """
    named = str((folder or Path()) / program) if "/" in program else program
    found = shutil.which(named, path=environment.get("PATH"))
    if found is not None and Path(found).is_file():
        said = start_doubt(found) if _is_script(found) else None
        return None if said is None else ProgramDoubt(*_parted(f"{found}: {said}"))
    if _BLANK.search(program):
        return ProgramDoubt(
            f"there are blanks in command {program!r}, and there is no such program",
            "put the rest into args",
        )
    lying = next((one for one in _places(named, environment) if _exists(one)), None)
    if lying is None:
        return ProgramDoubt(f"there is no program {program!r}", _MISSING)
    if not lying.is_file():
        kind = "a folder" if lying.is_dir() else "no ordinary file"
        return ProgramDoubt(f"{str(lying)!r} is {kind}, and no program", "correct its command")
    return ProgramDoubt(
        f"{str(lying)!r} is not executable",
        f"run: chmod +x {quote(str(lying))}, or name the interpreter first",
    )


def missing_scripts(argv: Sequence[str]) -> Iterator[str]:
    """The arguments that look like a script's path and lead nowhere from here."""
    program, *words = argv
    if Path(program).name in _ELSEWHERE:
        return
    for word in words:
        if _SCRIPT.fullmatch(word) and not _exists(Path(word)):
            yield word


def _parted(said: str) -> tuple[str, str]:
    what, _, step = said.partition("; ")
    return what, step


def _is_script(program: str) -> bool:
    try:
        with Path(program).open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False  # it may be executed although it may not be read


def _places(program: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a program of this name may lie, although it cannot be started."""
    if "/" in program:
        yield Path(program)
        return
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder and (Path(folder) / program).is_file():
            yield Path(folder) / program


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
