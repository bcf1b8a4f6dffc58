"""Runs command texts in a real bash that finds nothing but stand-ins, and says what they did.

A stand-in writes its words to a file of its own and does nothing else; the one of `cat` also passes
its input on. Each run has a folder of its own, no environment to speak of, and little time.
"""

import os
import re
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from holdfast.policy.shell.analysis import ShellText

STAND_INS = ("alpha", "beta", "gamma", "wc", "cat")

# Only with -p: a text may also read a stand-in as a script, which no analysis looks into.
_STAND_IN = """#!/bin/bash -p
case $- in *p*) ;; *) exit ;; esac
printf '%s\\0' {name} "$@" > "$RECORDS/$$"
"""
_PASSES_ON = """mapfile -d '' -t text; printf '%s' "${text[0]}"\n"""
_LIMITED = 'ulimit -v 4000000 -u 4000; exec /bin/bash --norc --noprofile -c -- "$1"'
_FILES = ("-x", "x1", "x2", "a1b", "sub/f")
_WILD = re.compile(r"[*?\[~]|\$[?#$]")


class Ran(msgspec.Struct):
    """Which command lines were started, which files were made, and whether bash could read it."""

    commands: list[tuple[str, ...]]
    made: set[str]
    parsed: bool


@contextmanager
def stand_ins() -> Generator[Path]:
    """A folder with the programs a text can find."""
    with TemporaryDirectory() as folder:
        for name in STAND_INS:
            path = Path(folder) / name
            path.write_text(_STAND_IN.format(name=name) + _PASSES_ON * (name == "cat"), "utf-8")
            path.chmod(0o755)
        for name, shell in (("bash", "/bin/bash"), ("sh", "/bin/sh")):
            (Path(folder) / name).symlink_to(shell)
        yield Path(folder)


def run(programs: Path, text: str) -> Ran:
    """Run one text."""
    with TemporaryDirectory() as folder:
        records, place = Path(folder) / "records", Path(folder) / "place"
        (place / "sub").mkdir(parents=True)
        records.mkdir()
        for name in _FILES:
            (place / name).touch()
        before = set(place.rglob("*"))
        environment = {
            "PATH": str(programs), "RECORDS": str(records), "HOME": str(place),
            "FUNCNEST": "5", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        subprocess.run(
            ["/usr/bin/timeout", "2", "/bin/bash", "-c", _LIMITED, "limited", text],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        # A program that was ended in the middle leaves an empty record.
        records_left = [record.read_bytes() for record in records.iterdir()]
        made = {str(path.relative_to(place)) for path in set(place.rglob("*")) - before}
    commands = [
        tuple(record.decode("utf-8", "replace").split("\0")[:-1])
        for record in records_left
        if record
    ]
    return Ran(commands, made, parses(text))


def parses(text: str) -> bool:
    """Whether bash can read the text."""
    checked = subprocess.run(
        ["/usr/bin/timeout", "5", "/bin/bash", "--norc", "-n", "-c", "--", text],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return checked.returncode == 0


def surprises(found: ShellText, ran: Ran) -> list[str]:
    """What bash did and the analysis, which had no doubt, did not say."""
    told = [f"started {argv}" for argv in ran.commands if not _foretold(found, argv)]
    opened = {os.path.normpath(one.target or "") for one in found.redirections}
    told += [f"made {name!r}" for name in sorted(ran.made - opened)]
    return told if ran.parsed else [*told, "cannot be parsed"]


def _foretold(found: ShellText, argv: tuple[str, ...]) -> bool:
    return any(
        command.argv == argv or (command.expands and _fits(command.argv, argv))
        for command in found.commands
    )


def _fits(words: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether a command line can come of words in which patterns are replaced."""
    if not words or not argv:
        return not words and not argv
    if words[0] == argv[0]:
        return _fits(words[1:], argv[1:])
    wild = _WILD.search(words[0])
    if wild is None:
        return False
    beginning = words[0][: wild.start()]
    for taken in range(1, len(argv) + 1):
        if not argv[taken - 1].startswith(beginning):
            return False
        if _fits(words[1:], argv[taken:]):
            return True
    return False
