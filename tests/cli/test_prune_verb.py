"""`holdfast prune`: what it is told, and what it says when it is told nothing it understands."""

import io
import json
import sys
from pathlib import Path

import pytest
from cli.stored_sessions import made
from command import Cli, Terminal
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import SessionClosed, SessionCreated
from holdfast.surfaces.cli.amounts import bytes_in, counted, seconds_in, size_shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give --older-than 30d, --keep 200 or --max-bytes 2GB, or set days, sessions or"),
        (["--older-than", "soon"], "'soon' is not a time; write a number and s, m, h, d or w"),
        (["--older-than", "30"], "'30' is not a time"),
        (["--max-bytes", "2XB"], "'2XB' is not a size; write for example 500MB"),
        (["--max-bytes", "-1"], "'-1' is not a size"),
        (["--keep", "many"], "--keep many: give a number of sessions"),
        (["--keep", "²"], "give a number of sessions"),
    ],
)
def test_what_is_not_understood_says_what_to_give(cli: Cli, words: list[str], said: str) -> None:
    answered = cli("prune", *words)
    assert answered.status == 2
    assert said in answered.err


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("kind", "said"), [("none", "store.kind is none"), ("postgres", "store.url is missing")]
)
def test_a_configuration_without_a_store_is_a_wrong_one(
    cli: Cli, as_json: bool, kind: str, said: str
) -> None:
    words = ["prune", "--keep", "1", "--yes", "--set", f"store.kind={kind}"]
    answered = cli(*words, *(["--json"] if as_json else []))
    assert answered.status == 2
    assert said in answered.err
    if as_json:
        assert said in json.loads(answered.out)["error"]


def test_a_person_is_asked_and_no_is_status_1(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = [SessionCreated(), SessionClosed(reason="done")]
    made(home, "ses_1", gone)
    for answer in ("n\n", ""):
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        answered = cli("prune", "--keep", "0")
        assert (answered.status, answered.out) == (1, "")
        assert "Remove 1 session for good? [y/N] holdfast: nothing was removed\n" in answered.err
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    answered = cli("prune", "--keep", "0", "--json")
    assert answered.status == 1
    assert "nobody is there to agree; see it with --dry-run, then give --yes;" in answered.err
    assert json.loads(answered.out)["removed"] == []
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    answered = cli("prune", "--keep", "0")
    assert answered.status == 0
    assert answered.out.startswith("removed ses_1")


def test_what_crashes_left_is_asked_for_too(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "data" / "sessions" / ".going-1"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    answered = cli("prune", "--keep", "1")
    assert (answered.status, folder.exists()) == (1, True)
    assert "Remove what crashes left for good? [y/N]" in answered.err


@pytest.mark.parametrize("with_store", [False, True])
@pytest.mark.parametrize("terminal", [False, True])
def test_where_nothing_may_go_nobody_is_asked_and_nothing_is_made(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, with_store: bool, terminal: bool
) -> None:
    if with_store:
        made(home, "ses_1")
    before = sorted(home.rglob("*"))
    monkeypatch.setattr(sys, "stdin", Terminal("") if terminal else io.StringIO())
    for words in ((), ("--yes",)):
        answered = cli("prune", "--keep", "3", *words)
        assert (answered.status, answered.err) == (0, "")
        assert answered.out.startswith("There is nothing to remove.\n")
    document = json.loads(cli("prune", "--keep", "3", "--json").out)
    assert (document["dry_run"], document["removed"], document["bytes"]) == (False, [], 0)
    assert document["staying"] == with_store
    document = json.loads(cli("prune", "--keep", "3", "--dry-run", "--json").out)
    assert (document["dry_run"], document["removed"], document["bytes"]) == (True, [], 0)
    assert sorted(home.rglob("*")) == before


def test_making_the_store_smaller_is_not_asked_for(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    answered = cli("prune", "--keep", "3", "--compact")
    assert (answered.status, answered.err) == (0, "")
    assert "The store is " in answered.out


@pytest.mark.parametrize("with_folder", [False, True])
def test_looking_makes_nothing(cli: Cli, home: Path, with_folder: bool) -> None:
    if with_folder:
        (home / "data" / "sessions" / ".going-1").mkdir(parents=True)
    before = sorted(home.rglob("*"))
    answered = cli("prune", "--keep", "1", "--dry-run")
    assert (answered.status, answered.err) == (0, "")
    folders = "1 folder" if with_folder else "0 folders"
    assert answered.out.startswith(f"would be removed: 0 sessions, {folders} that no session has")
    assert sorted(home.rglob("*")) == before


def test_a_folder_that_cannot_be_removed_is_a_failure(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "data" / "sessions" / ".going-1").mkdir(parents=True)
    monkeypatch.setattr("holdfast.execution.session_folders.remove_scratch", print)
    assert cli("prune", "--keep", "1", "--yes").status == 1
    monkeypatch.undo()
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    answered = cli("prune", "--keep", "1", "--yes", "--compact")
    assert answered.status == 0
    assert "removed: 0 sessions, 1 folder that no session has, 0 lost index entries" in answered.out
    assert "The store is " in answered.out


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("30d", 2_592_000), ("1.5h", 5400), ("2W", 1_209_600), ("0m", 0), ("90s", 90)],
)
def test_times_as_people_write_them(written: str, seconds: float) -> None:
    assert seconds_in(written) == seconds


@pytest.mark.parametrize(
    ("written", "size"),
    [("2GB", 2 * 10**9), ("500 mb", 5 * 10**8), ("1.5GiB", 1_610_612_736), ("7", 7), ("1k", 1000)],
)
def test_sizes_as_people_write_them(written: str, size: int) -> None:
    assert bytes_in(written) == size


@given(st.integers(0, 10**15))
def test_a_size_that_is_shown_can_be_read_again(size: int) -> None:
    shown = size_shown(size)
    read = shown.replace(" bytes", "B").replace(" byte", "B")
    assert abs(bytes_in(read) - size) <= max(size * 0.06, 0)


@pytest.mark.parametrize(
    ("number", "what", "said"),
    [
        (0, "event", "0 events"),
        (1, "event", "1 event"),
        (2, "event", "2 events"),
        (1200, "event", "1,200 events"),
        (1, "lost index entry", "1 lost index entry"),
        (0, "lost index entry", "0 lost index entries"),
    ],
)
def test_one_of_something_is_not_many(number: int, what: str, said: str) -> None:
    assert counted(number, what) == said


def test_none_of_something_may_be_said_in_words() -> None:
    assert counted(0, "rule", zero="no") == "no rules"
    assert counted(1, "rule", zero="no") == "1 rule"
    assert size_shown(1) == "1 byte"


@given(st.text().filter(lambda text: not any(sign.isdigit() for sign in text)))
def test_what_has_no_number_is_an_error_that_quotes_it(text: str) -> None:
    for read in (seconds_in, bytes_in):
        with pytest.raises(ValueError, match="write") as refused:
            read(text)
        assert repr(text) in str(refused.value)
