"""Without its key a journal is read and not written, and what is advised leads out of that."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.stored_sessions import made
from command import Cli

READING = (
    ("sessions",),
    ("sessions", "show", "last"),
    ("sessions", "events", "last"),
    ("sessions", "search", "hello"),
    ("sessions", "export", "last"),
    ("sessions", "trace", "last"),
    ("sessions", "questions"),
    ("replay", "last"),
    ("audit", "decisions"),
    ("prune", "--keep", "0", "--dry-run"),
)


def missing(key: Path) -> None:
    key.unlink()


def garbage(key: Path) -> None:
    key.write_bytes(b"hello")


@pytest.fixture
def key(home: Path) -> Path:
    made(home, "ses_1")
    return home / "state" / "journal.key"


def called(cli: Cli, tool_file: Path) -> tuple[bool, str]:
    answer = json.loads(cli("call", "--from", str(tool_file), "add", "a:=1", "b:=2").out)
    return answer["ok"], answer.get("message", "")


@pytest.mark.parametrize("spoilt", [missing, garbage])
def test_it_can_be_read_and_the_key_is_not_made_anew(
    cli: Cli, key: Path, spoilt: Callable[[Path], None]
) -> None:
    spoilt(key)
    before = key.read_bytes() if key.exists() else None
    for words in READING:
        answer = cli(*words)
        assert (answer.status, answer.err) == (0, ""), words
    strict = cli("replay", "last", "--strict", "--workspace", str(key.parent))
    assert (strict.status, str(key) in strict.err) == (1, True)
    assert (key.read_bytes() if key.exists() else None) == before


@pytest.mark.parametrize("spoilt", [missing, garbage])
def test_calls_are_refused_until_it_is_put_back(
    cli: Cli, key: Path, tool_file: Path, spoilt: Callable[[Path], None]
) -> None:
    mine = key.read_bytes()
    spoilt(key)
    ok, message = called(cli, tool_file)
    assert (ok, str(key) in message, "from a copy" in message) == (False, True, True)
    doctor = cli("doctor")
    assert doctor.status == 1
    assert f"FAIL  journal key: {key}" in doctor.out
    key.write_bytes(mine)
    assert called(cli, tool_file)[0]
    assert f"OK    journal key: {key}\n" in cli("doctor").out
    assert cli("audit", "verify").status == 0


def test_the_advice_about_a_missing_key_works(cli: Cli, key: Path, tool_file: Path) -> None:
    key.unlink()
    database = key.parents[1] / "data" / "holdfast.db"
    assert f"or move {database} away to begin anew)" in called(cli, tool_file)[1]
    database.rename(database.with_name("aside"))
    assert called(cli, tool_file)[0]


def test_the_advice_about_a_spoilt_key_works(cli: Cli, key: Path, tool_file: Path) -> None:
    garbage(key)
    database = key.parents[1] / "data" / "holdfast.db"
    assert f"{database} can only be read" in called(cli, tool_file)[1]
    assert "or move both away to begin anew)" in called(cli, tool_file)[1]
    database.rename(database.with_name("aside"))
    assert "or move it away: then a new one is made)" in called(cli, tool_file)[1]
    assert "FAIL  journal key" in cli("doctor").out
    key.rename(key.with_name("aside"))
    assert f"OK    journal key: {key} (made when needed)" in cli("doctor").out
    assert called(cli, tool_file)[0]


def test_an_answer_is_not_written_without_it(cli: Cli, key: Path, tmp_path: Path) -> None:
    exported = cli("sessions", "export", "ses_1").out
    (tmp_path / "exported.jsonl").write_text(exported, "utf-8")
    key.unlink()
    answer = cli("sessions", "import", str(tmp_path / "exported.jsonl"), "--as-new")
    assert (answer.status, f"{key}: the key" in answer.err) == (1, True)
    assert cli("sessions", "--json").out.count("ses_") == 1
