"""Several connections of a process and several processes: nobody's lock is lost."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.sqlite.connection import open_writer

LOOK_AND_LEAVE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM things").fetchone()[0])
connection.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "holdfast.db"


def seen_elsewhere(path: Path) -> int:
    """What another process finds, which then closes the file."""
    command = [sys.executable, "-c", LOOK_AND_LEAVE, str(path)]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=10).stdout)


def test_a_second_writer_of_a_process_does_not_end_the_locks_of_the_first(path: Path) -> None:
    """Without them the next process to leave would take the log away, and all written to it."""
    with closing(open_writer(path, "process")) as first:
        first.execute("CREATE TABLE things (one)")
        with closing(open_writer(path, "process")):
            assert seen_elsewhere(path) == 0
            first.execute("INSERT INTO things VALUES (1)")
            assert seen_elsewhere(path) == 1


def test_what_is_no_file_of_ones_own_is_refused(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalUnavailable, match="symbolic link; put the file itself there"):
        open_writer(path, "process")
    path.unlink()
    path.mkdir()
    with pytest.raises(JournalUnavailable, match="move the folder away"):
        open_writer(path, "process")


@pytest.mark.parametrize(("flags", "said"), [(0, "check its owner"), (os.ST_RDONLY, "mount its")])
def test_a_file_that_may_not_be_written_is_not_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, said: str
) -> None:
    sqlite3.connect(path).close()
    path.touch()

    def denied(*_: object) -> bool:
        return False

    class Disk:
        f_flag = flags

    def disk(_: object) -> Disk:
        return Disk()

    monkeypatch.setattr(os, "access", denied)
    monkeypatch.setattr(os, "statvfs", disk)
    with pytest.raises(JournalUnavailable, match=said):
        open_writer(path, "process")
