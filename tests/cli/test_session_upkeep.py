"""`holdfast sessions delete` and `rebuild`: what goes, what is asked before, what is put right."""

import io
import json
import sqlite3
import sys
from pathlib import Path

import pytest
from cli.stored_sessions import ASKED, in_store, made
from command import Cli, Terminal

from holdfast.app.holders import this_process
from holdfast.contract import events
from holdfast.record.store import Store


def _folder(home: Path, session_id: str = "ses_1") -> Path:
    folder = home / "data" / "sessions" / session_id
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs" / "big.txt").write_text("much", "utf-8")
    (folder / "changes").mkdir()
    return folder


def test_a_session_is_deleted_with_its_folder_and_through_no_link(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    made(home, "ses_1")
    made(home, "ses_2")
    folder, other = _folder(home), _folder(home, "ses_2")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine", "utf-8")
    (folder / "changes" / "link").symlink_to(outside)
    (folder / "outputs" / "link").symlink_to(outside)
    answered = cli("sessions", "delete", "ses_1", "--yes")
    assert answered == (0, "ses_1 is deleted.\n", "")
    assert not folder.exists()
    assert other.exists()
    assert (outside / "mine").read_text("utf-8") == "mine"
    assert cli("sessions", "show", "ses_1").status == 2
    assert cli("sessions", "search", "flaky", "--json").out.count("\n") == 1


def test_a_link_in_the_place_of_the_folder_is_all_that_goes(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    made(home, "ses_1")
    outside = tmp_path / "outside"
    (outside / "outputs").mkdir(parents=True)
    folder = home / "data" / "sessions" / "ses_1"
    folder.parent.mkdir()
    folder.symlink_to(outside)
    assert cli("sessions", "delete", "ses_1", "--yes").status == 0
    assert not folder.is_symlink()
    assert (outside / "outputs").is_dir()


@pytest.mark.parametrize("name", ["..", ".", "../../config", "/etc"])
def test_a_name_that_is_no_folder_removes_none(cli: Cli, home: Path, name: str) -> None:
    made(home, name)
    kept = _folder(home)
    assert cli("sessions", "delete", name, "--yes").status == 0
    assert kept.exists()
    assert (home / "data" / "holdfast.db").exists()


def test_what_of_a_folder_cannot_go_is_told(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(home, "ses_1")
    folder = _folder(home)

    def refused(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("holdfast.app.session_store.shutil.rmtree", refused)
    answered = cli("sessions", "delete", "ses_1", "--yes", "--json")
    assert answered.status == 1
    assert f"{folder} could not be removed (Permission denied)" in answered.err
    assert json.loads(answered.out)["deleted"] is True


@pytest.mark.parametrize(
    ("said", "status"), [("y\n", 0), ("Yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1)]
)
def test_a_person_is_asked(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int
) -> None:
    made(home, "ses_1")
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    answered = cli("sessions", "delete", "ses_1")
    assert answered.status == status
    assert "Delete ses_1, 'Fix the flaky test', 5 events, for good? [y/N] " in answered.err
    there = cli("sessions", "show", "ses_1").status == 0
    assert there is (status == 1)
    assert there is ("nothing was deleted" in answered.err)


def test_without_a_terminal_nobody_agrees(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(home, "ses_1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    answered = cli("sessions", "delete", "ses_1", "--json")
    assert answered.status == 1
    assert "give --yes" in answered.err
    assert json.loads(answered.out) == {"session": "ses_1", "deleted": False}
    assert cli("sessions", "show", "ses_1").status == 0


def _leased(home: Path, holder: str, seconds: float) -> None:
    async def work(store: Store) -> None:
        await store.journal.lease("ses_1", holder, seconds)

    in_store(home, work)


@pytest.mark.parametrize("seconds", [60, -1])
def test_one_that_runs_is_not_deleted(cli: Cli, home: Path, seconds: float) -> None:
    """Also one that is late: whoever works for long does not renew its lease meanwhile."""
    made(home, "ses_1")
    kept = _folder(home)
    _leased(home, this_process(), seconds)
    answered = cli("sessions", "delete", "ses_1", "--yes")
    assert answered.status == 1
    assert f"is run by {this_process()}; end that first" in answered.err
    assert kept.exists()
    assert cli("sessions", "show", "ses_1").status == 0


@pytest.mark.parametrize(("machine", "seconds"), [("", 60), ("elsewhere", -1)])
def test_one_whose_runner_is_gone_or_late_elsewhere_is_deleted(
    cli: Cli, home: Path, machine: str, seconds: float
) -> None:
    made(home, "ses_1", [events.SessionCreated(), ASKED])
    here = this_process().rpartition("/")[0]
    _leased(home, f"{machine or here}/1-99999999999", seconds)
    assert cli("sessions", "delete", "ses_1", "--yes").status == 0
    assert cli("sessions").out == "No session fits.\n"


def _spoil(home: Path) -> None:
    with sqlite3.connect(home / "data" / "holdfast.db") as connection:
        connection.execute("UPDATE chat_messages SET role = 'assistant'")
    connection.close()


def test_what_is_kept_beside_the_events_is_compared_and_put_right(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    same = cli("sessions", "rebuild", "last")
    assert same == (0, "ses_1: everything is what its events add up to.\n", "")
    _spoil(home)
    found = cli("sessions", "rebuild", "last")
    assert found.status == 1
    heading, row, advice = found.out.splitlines()
    assert heading.split("  ")[0] == "WHERE"
    assert row.startswith("message msg_")
    assert row.split()[2:] == ["role", "assistant", "user"]
    assert advice == "Put it right with --repair."
    told = json.loads(cli("sessions", "rebuild", "last", "--json").out)
    assert (told["session"], told["repaired"]) == ("ses_1", False)
    assert [(one["kept"], one["wanted"]) for one in told["differences"]] == [("assistant", "user")]
    repaired = cli("session", "rebuild", "last", "--repair")
    assert repaired.status == 0
    assert repaired.out.endswith("It was put right.\n")
    assert cli("sessions", "rebuild", "last") == same


def test_an_empty_name_means_no_session(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    for words in (("delete", "", "--yes"), ("show", ""), ("answer", "", "--deny")):
        answered = cli("sessions", *words)
        assert answered.status == 2, words
        assert "the name of the session is empty" in answered.err
    assert cli("sessions", "show", "last").status == 0


def test_a_session_without_events_has_nothing_to_tell(cli: Cli, home: Path) -> None:
    in_store(home, lambda store: store.archive.restore("ses_1", ()))
    assert cli("replay", "last").status == 0
    assert cli("replay", "last", "--json") == (0, "", "")
