"""`holdfast sessions compact`: a person has a conversation summarised, and says what to heed."""

import json
from pathlib import Path

import pytest
from agent_scripts import asks, lines_of, says, script
from command import Cli


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def _begun(cli: Cli, work: Path) -> str:
    model = script(work.parent, says("First."))
    words = ("run", "Begin.", "--json", "--workspace", str(work), "--model", model)
    return str(lines_of(cli(*words))[-1]["session_id"])


def test_a_summary_stands_for_what_was_said(cli: Cli, work: Path) -> None:
    session = _begun(cli, work)
    sums = script(work.parent, says("SUMMARY"), name="sums.json")
    answer = cli("sessions", "compact", session, "keep the names", "--model", sums)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"{session}: a summary stands for what was said before")
    events = cli("sessions", "events", session, "--json", "--type", "context.compacted").out
    (one,) = [json.loads(line) for line in events.splitlines()]
    assert (one["summary"], one["automatic"]) == ("SUMMARY", False)
    again = script(work.parent, says("Second."), name="again.json")
    went_on = cli("resume", session, "and then?", "--model", again)
    assert (went_on.status, went_on.out) == (0, "Second.\n")


@pytest.mark.parametrize("turn", [{"error": {"trouble": "authentication", "told": "no such key"}}])
def test_where_the_model_gives_none_that_is_said(
    turn: dict[str, object], cli: Cli, work: Path
) -> None:
    session = _begun(cli, work)
    fails = script(work.parent, turn, name="fails.json")
    answer = cli("sessions", "compact", session, "--model", fails, "--json")
    assert (answer.status, "no such key" in answer.err) == (1, True)
    assert "no such key" in json.loads(answer.out)["error"]


def test_calls_that_wait_are_answered_first(cli: Cli, work: Path, tool_file: Path) -> None:
    model = script(work.parent, asks("wipe", path="x"))
    common = ("--workspace", str(work), "--model", model, "--from", str(tool_file))
    session = lines_of(cli("run", "x", "--later", "--json", *common))[-1]["session_id"]
    sums = script(work.parent, says("SUMMARY"), name="sums.json")
    answer = cli("sessions", "compact", session, "--model", sums)
    assert (answer.status, "waits for the answers to its calls" in answer.err) == (1, True)


def test_only_sessions_of_agents_have_a_conversation(cli: Cli, tool_file: Path) -> None:
    assert cli("sessions", "compact", "last").status == 2
    cli("call", "add", "a=1", "--from", str(tool_file))
    answer = cli("sessions", "compact", "last")
    assert (answer.status, "is not an agent's" in answer.err) == (2, True)
