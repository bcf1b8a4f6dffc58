"""`holdfast replay --run`: the run of an agent, once more."""

import json
import sqlite3
from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls
from command import Cli
from run_replays import RAN, look


async def _recorded(home: Path) -> str:
    turns = [calls(("look", '{"place": "north"}')), "All is fine."]
    async with at_work(home, turns, tools=[look]) as desk:
        await desk.told("Look around.")
        return desk.session.id


@pytest.fixture
def session(home: Path) -> str:
    found = anyio.run(_recorded, home)
    RAN.clear()
    return found


def test_a_run_that_comes_out_again_is_told_in_a_line(cli: Cli, session: str) -> None:
    answered = cli("replay", session, "--run")
    assert (answered.status, answered.err, RAN) == (0, "", [])
    assert answered.out == (
        "The run comes out again, byte for byte (1 wake, 2 requests to the model, 11 of 17 events"
        " written by it).\n"
    )
    told = json.loads(cli("replay", "last", "--run", "--json").out)
    assert told == {
        "session": session,
        "events": 17,
        "wakes": 1,
        "events_compared": 11,
        "requests_compared": 2,
        "divergence": None,
    }


def test_an_event_that_was_changed_is_named(cli: Cli, session: str, home: Path) -> None:
    (store,) = (home / "data").rglob("*.db")
    with sqlite3.connect(store) as connection:
        connection.execute(
            "UPDATE events SET body = CAST(replace(body, 'is fine', 'is lost') AS BLOB)"
            " WHERE type = 'agent.message'"
        )
    connection.close()
    answered = cli("replay", session, "--run")
    assert answered.status == 1
    assert answered.out.startswith("Event 14 is another one\n")
    assert "the event was changed after it was written" in answered.out
    told = json.loads(cli("replay", session, "--run", "--json").out)
    assert told["divergence"]["sequence"] == 14


def test_a_session_without_a_run_says_what_to_do(cli: Cli, tool_file: Path) -> None:
    cli("call", "add", "a=1", "--from", str(tool_file))
    answered = cli("replay", "last", "--run")
    assert (answered.status, answered.out) == (1, "")
    assert "no agent ran in this session" in answered.err
    assert "--strict" in answered.err


def test_words_that_do_not_go_together_are_refused(cli: Cli) -> None:
    assert "give one of them" in cli("replay", "last", "--run", "--strict").err
    assert "--run tells nothing" in cli("replay", "last", "--run", "--sse").err
    assert "are for --strict" in cli("replay", "last", "--run", "--from", "x.py").err
