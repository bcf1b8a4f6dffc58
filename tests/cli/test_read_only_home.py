"""A home that may only be read: what to do about it is said, and works."""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from cli.stored_sessions import made
from command import HOLDFAST, Answered

READING = (
    ("sessions",),
    ("sessions", "show", "last"),
    ("sessions", "export", "last"),
    ("replay", "last"),
    ("audit", "verify"),
    ("audit", "decisions"),
    ("prune", "--keep", "0", "--dry-run"),
)
WAYS = (("sessions",), ("audit", "verify"))
"""One of each way to open a store: the others take the same, and need not be measured."""
MEASURED = pytest.mark.measured
ORDINARY = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
"""Modes of files count for root, too."""


@pytest.fixture
def backup(home: Path) -> Generator[Path]:
    """A home that its owner cannot write."""
    made(home, "ses_1")
    chmod(home, "a-w")
    yield home
    chmod(home, "u+w")


def chmod(home: Path, mode: str) -> None:
    subprocess.run(["chmod", "-R", mode, str(home)], check=True, timeout=10)


def as_an_ordinary_user(home: Path, *words: str) -> Answered:
    done = subprocess.run(
        [*ORDINARY, str(HOLDFAST), *words],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        capture_output=True,
        check=False,
        timeout=30,
    )
    return Answered(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=MEASURED if words in WAYS else ()) for words in READING],
)
def test_it_says_to_make_a_copy(backup: Path, words: tuple[str, ...]) -> None:
    answered = as_an_ordinary_user(backup, *words)
    assert (answered.status, answered.out) == (1, "")
    assert answered.err == (
        f"holdfast: {backup / 'data'} may only be read, and a store is read only where it can be"
        " written; copy the folder that holds data and state to a place of your own (cp -r, then"
        " chmod -R u+w), and let HOLDFAST_HOME name the copy\n"
    )


@pytest.mark.measured
def test_a_call_hears_the_same(backup: Path, tool_file: Path) -> None:
    answered = as_an_ordinary_user(backup, "call", "--from", str(tool_file), "add", "a:=1", "b:=2")
    assert answered.status == 1
    assert f"({backup / 'data'} may only be read, and a store is" in answered.out


@pytest.mark.timeout(90)  # several programs, one after the other
def test_a_copy_can_be_read(backup: Path) -> None:
    copy = backup.with_name("copy")
    shutil.copytree(backup, copy)
    chmod(copy, "u+w")
    for words in READING:
        assert as_an_ordinary_user(copy, *words).status == 0
