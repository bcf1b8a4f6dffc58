"""`holdfast audit verify` and `decisions`: what stands in the journal, and if it still does."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
import pytest
from cli.stored_sessions import in_store, made
from command import Cli

from holdfast.app.store import journal_key
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    SessionCreated,
    UserMessage,
)
from holdfast.record.anchor_form import Anchor
from holdfast.record.anchors import read_anchors
from holdfast.record.codec import Chain
from holdfast.record.sqlite import schema
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds


def decided(home: Path, session_id: str = "ses_1") -> None:
    """Two calls, one allowed by a person, one refused by a rule."""

    async def work(store: Store) -> None:
        await store.journal.create(
            session_id,
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
    heading, first, second, *_ = cli("audit", "decisions").out.splitlines()
    assert heading.split() == [
        "TIME",
        "(UTC)",
        *("SESSION", "CALL", "TOOL", "DECISION", "BY", "REASON", "ARGUMENTS"),
    ]
    assert first.split()[2:] == ["ses_1", "cal_1", "bash", "approved", "ada", "r", "ab12", "{}"]
    assert second.split()[5:] == ["allowed", "ada", "approved", "by", "ada", "ab12", "{}"]
    lines = [json.loads(line) for line in cli("audit", "decisions", "--json").out.splitlines()]
    assert [(one["decision"], one["by"], one["reason"]) for one in lines] == [
        ("approved", "ada", "r"),
        ("allowed", "ada", "approved by ada"),
        ("rejected", "nobody was there", "r"),
        ("denied", "nobody was there", "a rule"),
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z", one["at"]) for one in lines)
    assert [one["arguments_hash"] for one in lines] == ["ab12", "ab12", "c", "c"]
    assert [one["tool"] for one in lines] == ["bash", "bash", "rm", "rm"]
    assert [one["arguments"] for one in lines] == ["{}"] * 4
    last = cli("audit", "decisions", "--json", "--limit", "1", "--tool", "bash").out
    assert json.loads(last)["call_id"] == "cal_1"
    assert cli("audit", "decisions", "--session", "ses_1", "--json").out.count("\n") == 4


def test_decisions_of_an_import_say_so(cli: Cli, home: Path, tmp_path: Path) -> None:
    decided(home)
    it = str(tmp_path / "it.jsonl")
    for words in (("export", "ses_1", "--to", it), ("delete", "ses_1", "--yes"), ("import", it)):
        assert cli("sessions", *words).status == 0
    assert cli("audit", "decisions", "--json").out.count('"imported":true') == 4
    assert cli("audit", "decisions").out.count("imported: ada") == 2


def test_decisions_of_all_sessions_are_in_the_order_of_time(cli: Cli, home: Path) -> None:
    decided(home, "ses_2")
    decided(home, "ses_1")
    changed(home, "UPDATE events SET micros = micros + place % 4294967296")
    changed(home, "UPDATE events SET micros = micros + 3600000000 WHERE type = 'call.refused'")

    def listed(*words: str) -> list[tuple[str, str]]:
        lines = cli("audit", "decisions", "--json", *words).out.splitlines()
        found = [json.loads(line) for line in lines]
        return [(one["session_id"], one["decision"]) for one in found]

    first = ["approved", "allowed", "rejected"]
    ordered = [(session, one) for session in ("ses_2", "ses_1") for one in first]
    ordered += [("ses_2", "denied"), ("ses_1", "denied")]
    assert listed() == ordered
    assert listed("--limit", "3") == ordered[-3:]
    assert listed("--limit", "9") == ordered


@pytest.mark.parametrize(
    ("what", "option"),
    [
        ("decisions", "--follow"),
        ("decisions", "--since=2h"),
        ("decisions", "--day=20260801"),
        ("verify", "--follow"),
        ("verify", "--tool=bash"),
        ("verify", "--limit=1"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(cli: Cli, what: str, option: str) -> None:
    answered = cli("audit", what, option)
    assert (answered.status, answered.out) == (2, "")
    name = option.partition("=")[0]
    assert f"{name} is for log" in answered.err
    assert f"not for {what}" in answered.err


def test_verify_says_that_all_is_as_written_or_what_is_not(cli: Cli, home: Path) -> None:
    assert cli("audit", "verify").out == "There is no session, and none is missed.\n"
    decided(home)
    assert cli("audit", "verify").out == "9 events of 1 session: all as written.\n"
    good = cli("audit", "verify", "--json")
    assert json.loads(good.out) == {
        "sessions": 1,
        "events": 9,
        "not_anchored": 0,
        "imported": 0,
        "problems": [],
    }
    changed(home, "UPDATE events SET micros = 7 WHERE place % 4294967296 = 4")
    bad = cli("audit", "verify", "--session", "ses_1")
    assert bad.status == 1
    assert "ses_1 event 4: edited: approval.answered" in bad.out
    assert "9 events of 1 session: 1 place not as written" in bad.err
    told = json.loads(cli("audit", "verify", "--json").out)["problems"]
    assert (told[0]["session"], told[0]["sequence"], told[0]["trouble"]) == ("ses_1", 4, "edited")


def changed(home: Path, statement: str) -> None:
    connection = sqlite3.connect(home / "data" / "holdfast.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def no_file(home: Path) -> None:
    for path in (home / "data").glob("holdfast.db*"):
        path.unlink()


def empty_file(home: Path) -> None:
    no_file(home)
    (home / "data" / "holdfast.db").touch()


def no_tables(home: Path) -> None:
    no_file(home)
    changed(home, "PRAGMA user_version = 0")
    changed(home, "VACUUM")


def other_store(home: Path) -> None:
    no_file(home)
    in_store(home, _nothing)


async def _nothing(_store: Store) -> None:
    """It is made, and nothing is put in."""


@pytest.mark.parametrize("taken", [no_file, empty_file, no_tables, other_store])
def test_sessions_that_are_gone_with_their_store_are_named(
    cli: Cli, home: Path, taken: Callable[[Path], None]
) -> None:
    made(home, "ses_2")
    decided(home)
    taken(home)
    answered = cli("audit", "verify")
    assert answered.status == 1
    assert "ses_1: gone: it had come to event 9" in answered.out
    assert "ses_2: gone" in answered.out
    assert "0 events of 2 sessions: 2 places not as written" in answered.err
    one = cli("audit", "verify", "--session", "ses_2")
    assert (one.status, "ses_2: gone" in one.out, "ses_1" in one.out) == (1, True, False)


def test_what_is_left_beside_an_emptied_store_is_left_there(cli: Cli, home: Path) -> None:
    decided(home)
    empty_file(home)
    log = home / "data" / "holdfast.db-wal"
    log.write_bytes(b"evidence")
    assert cli("audit", "verify").status == 1
    assert log.read_bytes() == b"evidence"


def test_sessions_that_were_deleted_are_not_missed_with_their_store(cli: Cli, home: Path) -> None:
    decided(home)
    assert cli("sessions", "delete", "ses_1", "--yes").status == 0
    no_file(home)
    assert cli("audit", "verify").status == 0
    assert cli("audit", "verify", "--session", "ses_1").status == 2


def test_a_session_that_is_deleted_while_it_is_verified_is_not_missed(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(home)
    decided(home, "ses_2")

    def then_deleted(folder: Path) -> Mapping[str, Anchor]:
        monkeypatch.undo()
        found = read_anchors(folder)
        in_store(home, lambda store: store.archive.delete("ses_1"))
        return found

    monkeypatch.setattr("holdfast.app.ledger.read_anchors", then_deleted)
    assert "of 1 session: all as written" in cli("audit", "verify").out


def test_many_events_of_another_key_are_one_line(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [SessionCreated(), *[UserMessage(message="hi")] * 20])
    (home / "state" / "journal.key").write_bytes(bytes(32))
    made(home, "ses_2")
    answered = cli("audit", "verify")
    assert answered.status == 1
    (line,) = [line for line in answered.out.splitlines() if "edited" in line]
    assert line.startswith("ses_1 event 1: edited: it and 20 events behind it are not what was")


def test_anchors_that_are_gone_are_a_problem_of_the_store(cli: Cli, home: Path) -> None:
    decided(home)
    shutil.rmtree(home / "state" / "anchors")
    for words in ((), ("--session", "ses_1")):
        answered = cli("audit", "verify", *words)
        assert answered.status == 1
        assert "the store: anchors: the anchors are not there: nobody can tell" in answered.out
        assert f"put {home / 'state' / 'anchors'}" in answered.out
        assert "note:" not in answered.out
    assert cli("sessions").status == 0  # opening it makes a folder for them, with nothing in it
    told = json.loads(cli("audit", "verify", "--json").out)["problems"]
    assert [(one["session"], one["trouble"]) for one in told] == [(None, "anchors")]


def test_a_single_session_without_an_anchor_is_a_note(cli: Cli, home: Path) -> None:
    decided(home)
    _not_anchored(home, "ses_2")
    answered = cli("audit", "verify")
    assert answered.status == 0
    assert "cannot be told: 1 session\n10 events of 2 sessions: all as written.\n" in answered.out
    assert json.loads(cli("audit", "verify", "--json").out)["not_anchored"] == 1


def _not_anchored(home: Path, session_id: str) -> None:
    """As if its process had been killed before it told the anchors."""

    async def main() -> None:
        clock = SystemClock()
        chain = Chain((home / "state" / "journal.key").read_bytes())
        store = open_sqlite(home / "data" / "holdfast.db", chain, clock, TimeIds(clock))
        await store.journal.create(session_id, [SessionCreated()])
        await store.journal.close()

    anyio.run(main)


def test_a_home_that_moves_as_a_whole_keeps_its_anchors(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(home)
    elsewhere = home.with_name("elsewhere")
    home.rename(elsewhere)
    monkeypatch.setenv("HOLDFAST_HOME", str(elsewhere))
    assert cli("audit", "verify").out == "9 events of 1 session: all as written.\n"
    no_file(elsewhere)
    assert "ses_1: gone" in cli("audit", "verify").out


def test_where_nothing_is_kept_nothing_can_be_verified(cli: Cli, home: Path) -> None:
    decided(home)
    (home / "config.toml").write_text('[store]\nkind = "none"\n', "utf-8")
    for what in ("verify", "decisions"):
        answered = cli("audit", what)
        assert (answered.status, answered.out) == (2, "")
        assert "store.kind is none: no sessions are kept" in answered.err


@pytest.mark.parametrize("what", ["verify", "decisions"])
def test_a_session_is_called_by_its_beginning_or_last(cli: Cli, home: Path, what: str) -> None:
    made(home, "ses_20")
    made(home, "ses_21")
    decided(home, "ses_1999")
    whole = cli("audit", what, "--session", "ses_1999")
    assert (whole.status, whole.out == "") == (0, False)
    assert whole.out != cli("audit", what, "--session", "ses_20").out
    for name in ("ses_19", "last"):
        assert cli("audit", what, "--session", name) == whole
    for name, said in (("nope", "there is no session nope"), ("ses_2", "several sessions begin")):
        unknown = cli("audit", what, "--session", name)
        assert (unknown.status, unknown.out) == (2, "")
        assert said in unknown.err


def test_another_key_is_told_once(cli: Cli, home: Path) -> None:
    decided(home)
    made(home, "ses_2")
    key = home / "state" / "journal.key"
    mine = key.read_bytes()
    key.write_bytes(bytes(32))
    answered = cli("audit", "verify")
    assert answered.status == 1
    (line,) = answered.out.splitlines()
    assert line.startswith("the store: key: this is not the key that signed this journal")
    assert "put the journal.key back" in line
    made(home, "ses_3")  # something is genuine now, and the rest is not
    assert cli("audit", "verify").out.count("edited") == 14
    key.write_bytes(mine)
    changed(home, "DELETE FROM events WHERE place % 4294967296 = 9")
    key.write_bytes(b"k" * 32)
    shown = cli("audit", "verify").out
    assert "not the key" in shown
    assert "ses_1 event 8: cut off" in shown  # what needs no key is told all the same


def test_a_journal_that_cannot_be_read_is_told(cli: Cli, home: Path) -> None:
    decided(home)
    database = home / "data" / "holdfast.db"
    whole = database.read_bytes()
    database.write_bytes(b"no database at all" * 100)
    for what in ("verify", "decisions"):
        answered = cli("audit", what, "--json")
        assert answered.status == 1
        assert "damaged" in answered.err
        assert "damaged" in json.loads(answered.out)["error"]
    database.write_bytes(whole)
    (home / "state" / "journal.key").unlink()
    answered = cli("audit", "verify")
    assert answered.status == 2
    assert "is not there" in answered.err


def test_a_database_without_an_address_cannot_be_verified(cli: Cli, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[store]\nkind = "postgres"\n', "utf-8")
    answered = cli("audit", "verify")
    assert (answered.status, "store.url is missing" in answered.err) == (2, True)


def test_anchors_that_cannot_be_read_are_told(cli: Cli, home: Path) -> None:
    decided(home)
    (folder,) = (home / "state" / "anchors").iterdir()
    (folder / "sum").unlink()
    (folder / "sum").mkdir()
    answered = cli("audit", "verify")
    assert (answered.status, "Is a directory" in answered.err) == (1, True)


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
        assert answered.status == 1
        assert "bring them up to date with: holdfast sessions" in answered.err
    newest = len(schema.MIGRATIONS)
    assert f"tables of version 4, brought to {newest} when needed" in cli("doctor").out
    assert cli("sessions").status == 0
    assert cli("audit", "verify").out == "There is no session, and none is missed.\n"
    assert cli("audit", "decisions").status == 0
