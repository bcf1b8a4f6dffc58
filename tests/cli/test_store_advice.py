"""What is wrong with a store is told with what helps against that, once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cli.stored_sessions import made
from command import Cli


def overwritten(database: Path) -> None:
    with database.open("r+b") as out:
        out.write(b"0123456789abcdef")


def cut_in_half(database: Path) -> None:
    with database.open("r+b") as out:
        out.truncate(database.stat().st_size // 2)


@pytest.mark.parametrize("damage", [overwritten, cut_in_half])
def test_a_damaged_store_is_to_be_restored_and_nothing_else(
    cli: Cli, home: Path, tool_file: Path, damage: Callable[[Path], None]
) -> None:
    made(home, "ses_1")
    database = home / "data" / "holdfast.db"
    damage(database)
    for words in (("sessions",), ("prune", "--keep", "0", "--dry-run")):
        answer = cli(*words)
        assert answer.status == 1
        assert answer.err.startswith(f"holdfast: {database}: it is damaged (")
        assert answer.err.endswith("); restore it from a copy\n")
    called = cli("call", "--from", str(tool_file), "add", "a:=1", "b:=2").out
    assert "); restore it from a copy)" in called
    assert "HOLDFAST_HOME" not in called
    assert '"retryable":false' in called.replace(" ", ""), "trying again does not help"


def test_a_place_that_cannot_be_written_has_the_ways_out(
    cli: Cli, home: Path, tool_file: Path
) -> None:
    (home / "data").symlink_to("/proc/self")
    called = cli("call", "--from", str(tool_file), "add", "a:=1", "b:=2").out
    assert "or let HOLDFAST_HOME name a place that can be written, or set store.kind" in called


def test_the_doctor_misses_the_sessions_of_a_store_that_was_emptied(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    made(home, "ses_2")
    assert "not in the store" not in cli("doctor").out
    assert cli("sessions", "delete", "ses_2", "--yes").status == 0
    (home / "data" / "holdfast.db").write_bytes(b"")
    answer = cli("doctor")
    assert answer.status == 0
    (anchors,) = (home / "state" / "anchors").iterdir()
    assert "WARN  sessions: written down here, and not in the store any more: 1 session\n" in (
        answer.out
    )
    assert "see which: holdfast audit verify; put a copy of the store back" in answer.out
    anchors.rename(anchors.with_name("aside"))
    assert "not in the store" not in cli("doctor").out
