"""`last` is one session, whoever asks for it: the last one of this workspace."""

import json
from pathlib import Path

import pytest
from agent_scripts import asks, lines_of, says, script
from cli.stored_sessions import made
from command import Cli

from holdfast.contract.events import SessionCreated
from holdfast.surfaces.cli import last_session


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Two workspaces."""
    found = (tmp_path / "here", tmp_path / "there")
    for folder in found:
        folder.mkdir()
    return found


def _run(cli: Cli, place: Path) -> str:
    """An agent writes a file there; gives its session."""
    model = script(place.parent, asks("write", path="a.txt", content="x\n"), says("Done."))
    answer = cli("run", "x", "--json", "--workspace", str(place), "--model", model)
    return str(lines_of(answer)[-1]["session_id"])


def test_every_verb_means_the_last_session_of_this_workspace(
    cli: Cli, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = places
    ours = _run(cli, here)
    _run(cli, there)
    monkeypatch.chdir(here)
    for words in (("sessions", "show", "last"), ("undo", "last", "--list")):
        told = json.loads(cli(*words, "--json").out)
        assert ours in (told.get("id"), told.get("session"))
    for words in (("send", "last", "hello"), ("interrupt", "last")):
        assert json.loads(cli("sessions", *words, "--json").out)["session_id"] == ours
    assert ours in cli("replay", "last", "--run", "--json").out
    decisions = cli("audit", "decisions", "--session", "last", "--json").out
    assert decisions == cli("audit", "decisions", "--session", ours, "--json").out
    again = script(here.parent, says("Again."), name="again.json")
    resumed = cli("resume", "last", "--model", again, "--json")
    assert lines_of(resumed)[-1]["session_id"] == ours


def test_what_is_undone_is_of_this_workspace_and_named(
    cli: Cli, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = places
    ours = _run(cli, here)
    _run(cli, there)
    monkeypatch.chdir(here)
    answer = cli("undo", "last")
    assert answer.out.splitlines()[0] == f"session {ours} in {here}"
    assert (answer.status, (here / "a.txt").exists(), (there / "a.txt").exists()) == (
        0,
        False,
        True,
    )


def test_where_nobody_has_worked_there_is_no_last_one(
    cli: Cli, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = places
    theirs = _run(cli, there)
    monkeypatch.chdir(here)
    for words in (("sessions", "show", "last"), ("undo", "last"), ("resume",), ("replay", "last")):
        answer = cli(*words)
        assert (answer.status, answer.out) == (2, "")
        assert f"no session has worked in {here}" in answer.err
        assert f"the last one elsewhere is {theirs}, in {there}" in answer.err
    named = cli("sessions", "show", "last", "--workspace", str(there))
    assert named.out.startswith(theirs)


def test_the_last_session_of_a_workspace_is_found_behind_many_of_others(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_session, "_FIRST_LOOK", 2)
    made(home, "ses_0", [SessionCreated(workspace=str(tmp_path))])
    for number in range(1, 5):
        made(home, f"ses_{number}", [SessionCreated(workspace=str(tmp_path / "there"))])
    assert cli("sessions", "show", "last").out.startswith("ses_0\n")


def test_where_there_are_subagents_alone_there_is_no_last_one(cli: Cli, home: Path) -> None:
    made(home, "ses_2", [SessionCreated(parent_id="ses_1")])
    answer = cli("sessions", "show", "last")
    assert answer.status != 0


def test_a_subagents_session_is_not_the_last_one(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1", [SessionCreated(workspace=str(tmp_path))])
    made(home, "ses_2", [SessionCreated(workspace=str(tmp_path), parent_id="ses_1")])
    assert cli("sessions", "show", "last").out.startswith("ses_1\n")


def test_without_a_store_the_last_session_that_changed_something_here_is_undone(
    cli: Cli, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = places
    for place in places:
        words = ("path=a.txt", "content=x", "--workspace", str(place), "--set", "store.kind=none")
        assert cli("call", "write", *words).status == 0
    monkeypatch.chdir(here)
    answer = cli("undo", "last")
    assert (answer.status, f" in {here}\n" in answer.out) == (0, True)
    assert ((here / "a.txt").exists(), (there / "a.txt").exists()) == (False, True)


def test_words_in_place_of_a_session_are_told_where_they_belong(
    cli: Cli, places: tuple[Path, Path]
) -> None:
    _run(cli, places[0])
    answer = cli("resume", "say", "it's", "done")
    assert answer.status == 2
    assert """write: holdfast resume last 'say it'"'"'s done'""" in answer.err
    assert "resume last" not in cli("resume", "ses_none").err


def test_a_call_after_the_agents_session_says_which_one_that_was(
    cli: Cli, tmp_path: Path, tool_file: Path
) -> None:
    session = _run(cli, tmp_path)
    cli("call", "add", "a=1", "--from", str(tool_file))
    answer = cli("resume")
    assert (answer.status, f"of an agent here is: holdfast resume {session}" in answer.err) == (
        2,
        True,
    )


def test_where_nothing_is_left_to_do_no_model_is_needed_to_say_so(
    cli: Cli, places: tuple[Path, Path]
) -> None:
    session = _run(cli, places[0])
    (places[0].parent / "turns.json").unlink()
    answer = cli("resume", session)
    assert (answer.status, "cannot be read" in answer.err) == (0, False)
    assert f"nothing is left to do in session {session}" in answer.err
    (end,) = lines_of(cli("resume", session, "--json"))
    assert (end["exit"], end["reason"]) == (0, "idle")
    more = cli("resume", session, "more")
    assert (more.status, "turns.json cannot be read" in more.err) == (2, True)
