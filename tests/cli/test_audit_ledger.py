"""`holdfast audit verify` and `decisions`: what stands in the journal, and if it still does."""

import json
import sqlite3
from pathlib import Path

import pytest
from cli.stored_sessions import in_store
from command import Cli

from holdfast.app.store import journal_key
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    SessionCreated,
)
from holdfast.record.sqlite import schema
from holdfast.record.store import Store


def decided(home: Path) -> None:
    """Two calls, one allowed by a person, one refused by a rule."""

    async def work(store: Store) -> None:
        await store.journal.create(
            "ses_1",
            [
                SessionCreated(),
                CallAsked(call_id="cal_1", tool="bash", arguments="{}"),
                ApprovalAsked(
                    approval_id="apr_1",
                    call_id="cal_1",
                    tool="bash",
                    arguments_hash="ab12",
                    reason="r",
                ),
                ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada"),
                CallIntended(
                    call_id="cal_1", tool="bash", arguments_hash="ab12", grounds="approved by ada"
                ),
                CallAsked(call_id="cal_2", tool="rm", arguments="{}"),
                ApprovalAsked(
                    approval_id="apr_2", call_id="cal_2", tool="rm", arguments_hash="c", reason="r"
                ),
                ApprovalAnswered(approval_id="apr_2", call_id="cal_2", allowed=False, by=None),
                CallRefused(
                    call_id="cal_2", tool="rm", arguments_hash="c", kind="rejected", reason="a rule"
                ),
            ],
        )

    in_store(home, work)


def test_decisions_are_listed_for_people_and_programs(cli: Cli, home: Path) -> None:
    assert cli("audit", "decisions").out == "Nothing was decided yet.\n"
    decided(home)
    shown = cli("audit", "decisions").out
    assert "approved by ada" in shown
    lines = [json.loads(line) for line in cli("audit", "decisions", "--json").out.splitlines()]
    assert [(one["decision"], one["by"]) for one in lines] == [
        ("approved", "ada"),
        ("allowed", "approved by ada"),
        ("rejected", "nobody was there"),
        ("denied", "a rule"),
    ]
    assert [one["arguments_hash"] for one in lines] == [None, "ab12", None, "c"]
    last = cli("audit", "decisions", "--json", "--limit", "1", "--tool", "bash").out
    assert json.loads(last)["call_id"] == "cal_1"
    assert cli("audit", "decisions", "--session", "ses_1", "--json").out.count("\n") == 4


def test_verify_says_that_all_is_as_written_or_what_is_not(cli: Cli, home: Path) -> None:
    assert cli("audit", "verify").out == "0 events of 0 sessions: all as written.\n"
    decided(home)
    assert cli("audit", "verify").out == "9 events of 1 session: all as written.\n"
    good = cli("audit", "verify", "--json")
    assert json.loads(good.out) == {"sessions": 1, "events": 9, "problems": []}
    connection = sqlite3.connect(home / "data" / "holdfast.db")
    connection.execute("UPDATE events SET micros = 7 WHERE place % 4294967296 = 4")
    connection.commit()
    connection.close()
    bad = cli("audit", "verify", "--session", "ses_1")
    assert bad.status == 1
    assert "ses_1 event 4: edited: approval.answered" in bad.out
    assert "9 events of 1 session: 1 place not as written" in bad.err
    told = json.loads(cli("audit", "verify", "--json").out)["problems"]
    assert (told[0]["session"], told[0]["sequence"], told[0]["trouble"]) == ("ses_1", 4, "edited")
    nobody = cli("audit", "verify", "--session", "ses_9")
    assert (nobody.status, "there is no session ses_9" in nobody.err) == (2, True)


def test_a_journal_that_cannot_be_read_is_told(cli: Cli, home: Path) -> None:
    decided(home)
    (home / "data" / "holdfast.db").write_bytes(b"no database at all" * 100)
    for what in ("verify", "decisions"):
        answered = cli("audit", what)
        assert answered.status == 2
        assert "damaged" in answered.err
    (home / "state" / "journal.key").unlink()
    assert "is not there" in cli("audit", "verify").err


def test_a_journal_of_an_older_holdfast_is_told_and_what_brings_it_up_to_date(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal_key(home / "state")
    (home / "data").mkdir(mode=0o700)
    connection = sqlite3.connect(home / "data" / "holdfast.db", isolation_level=None)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:4])
        schema.migrate(connection)
    connection.close()
    for what in ("verify", "decisions"):
        answered = cli("audit", what)
        assert answered.status == 2
        assert "bring them up to date with: holdfast sessions" in answered.err
    assert "tables of version 4, brought to 5 when needed" in cli("doctor").out
    assert cli("sessions").status == 0
    assert cli("audit", "verify").out == "0 events of 0 sessions: all as written.\n"
    assert cli("audit", "decisions").status == 0
