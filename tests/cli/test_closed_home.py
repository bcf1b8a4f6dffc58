"""A home that this user may not enter: which folder it is and whose is said, in every case."""

import os
import pwd
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from cli.stored_sessions import made
from command import HOLDFAST, Answered

NOBODY = 65534
CAPABILITIES = "-dac_override,-dac_read_search"
ORDINARY = ("setpriv", f"--bounding-set={CAPABILITIES}") if os.geteuid() == 0 else ()
"""Modes of files count for root, too."""


@pytest.fixture
def stored(home: Path) -> Generator[Path]:
    made(home, "ses_1")
    yield home
    for folder in (home, home / "data", home / "state"):
        folder.chmod(0o700)


def as_an_ordinary_user(home: Path, *words: str) -> Answered:
    done = subprocess.run(
        [*ORDINARY, str(HOLDFAST), *words],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        cwd=home.parent,
        capture_output=True,
        check=False,
        timeout=30,
    )
    return Answered(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.measured
@pytest.mark.parametrize(("inner", "status"), [("", 2), ("state", 2), ("data", 1)])
def test_the_folder_is_named_and_whose_it_is(stored: Path, inner: str, status: int) -> None:
    folder = stored / inner
    folder.chmod(0)
    (stored.parent / ".holdfast").mkdir()  # of a project, whose trust is looked up
    answered = as_an_ordinary_user(stored, "sessions")
    assert (answered.status, answered.out) == (status, "")
    assert answered.err == (
        f"holdfast: {folder}: you may not read this folder, which belongs to you (its mode keeps"
        " you out); let HOLDFAST_HOME name a folder of your own\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to somebody else")
@pytest.mark.parametrize("owner", [NOBODY, 987_654])
def test_somebody_elses_folder_is_told_with_their_name(stored: Path, owner: int) -> None:
    os.chown(stored, owner, -1)
    name = pwd.getpwuid(owner).pw_name if owner == NOBODY else f"user {owner}"
    answered = as_an_ordinary_user(stored, "sessions")
    assert f"{stored}: you may not read this folder, which belongs to {name};" in answered.err
    os.chown(stored, 0, -1)
