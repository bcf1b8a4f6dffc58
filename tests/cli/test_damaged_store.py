"""A store in which bytes were changed: every verb tells what is wrong, and none breaks over it."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from cli.stored_sessions import ASKED, made
from command import Cli
from msgspec import Raw

from holdfast.contract import events

VERBS = (
    ("sessions",),
    ("sessions", "show", "ses_1"),
    ("sessions", "events", "ses_1"),
    ("sessions", "search", "flaky"),
    ("sessions", "trace", "ses_1"),
    ("sessions", "questions"),
    ("sessions", "export", "ses_1"),
    ("sessions", "export", "ses_1", "--form", "chat"),
    ("sessions", "rebuild", "ses_1"),
    ("replay", "ses_1"),
    ("prune", "--keep", "1", "--dry-run"),
    ("audit", "decisions"),
    ("audit", "verify"),
)


def _written(home: Path) -> Path:
    settled = events.CallSettled(
        call_id="cal_1", tool="bash", envelope=Raw(b'{"ok":true,"result":"fine"}')
    )
    said = events.UserMessage(message="Fix the flaky test")
    for name in ("ses_1", "ses_2"):
        made(home, name, [events.SessionCreated(), said, ASKED, settled])
    path = home / "data" / "holdfast.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def _told(cli: Cli, verb: tuple[str, ...]) -> str:
    answered = cli(*verb)
    shown = answered.out + answered.err
    assert "report it" not in shown, (verb, shown)
    assert answered.status in (0, 1, 2), (verb, shown)
    return shown


@pytest.mark.parametrize("seed", [4, 61, 94, 265, 309, 566, 850, 1253, *range(2000, 2004)])
def test_no_verb_breaks_over_changed_bytes(cli: Cli, home: Path, seed: int) -> None:
    path = _written(home)
    content = bytearray(path.read_bytes())
    dice = random.Random(seed)
    for _ in range(40):
        content[dice.randrange(4096, len(content))] ^= dice.choice((0xFF, 0x80, 0x01))
    path.write_bytes(content)
    for verb in VERBS:
        _told(cli, verb)


@pytest.mark.parametrize(
    "column", ["id", "type", "wake_id", "body"], ids=["id", "type", "wake", "body"]
)
def test_one_damaged_row_hides_no_other_session(cli: Cli, home: Path, column: str) -> None:
    path = _written(home)
    kept = home / "kept.db"
    shutil.copy(path, kept)
    kind = "BLOB" if column == "body" else "TEXT"
    with sqlite3.connect(path) as connection:
        connection.execute(
            f"UPDATE events SET {column} = CAST(x'7b22ff22' AS {kind})"
            " WHERE type = 'user.message' AND place < 2 * 4294967296"
        )
    connection.close()
    assert "ses_2" in _told(cli, ("sessions", "search", "flaky"))
    assert "ses_1 event 2: edited" in _told(cli, ("audit", "verify"))
    for verb in VERBS:
        _told(cli, verb)
    assert cli("sessions", "show", "ses_2").status == 0
