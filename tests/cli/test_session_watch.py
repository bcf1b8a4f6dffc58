"""Watching and steering a session from other windows: the command, and real processes."""

import json
import os
import pwd
import subprocess
from pathlib import Path

import anyio
import pytest
from app.control.owners import Place, Running
from command import Cli

from holdfast.contract import events
from holdfast.contract.events import (
    ApprovalAsked,
    OutcomeDefined,
    UserInterrupt,
    UserMessage,
)

ME = pwd.getpwuid(os.getuid()).pw_name
LAUNCH: dict[str, object] = {
    "calls": [["launch", {"name": "rocket"}]],
    "pieces": ["Let me ", "see."],
}
FOREVER: dict[str, object] = {"calls": [["forever", {}]]}
HELD: list[dict[str, object]] = [{"pieces": ["Well"], "before": "go"}]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


async def asked(running: Running) -> str:
    found = await running.until(lambda one: isinstance(one.payload, ApprovalAsked))
    assert isinstance(found.payload, ApprovalAsked)
    return found.payload.approval_id


async def listening(running: Running) -> None:
    async with running.owner():
        pass


def happened(running: Running, kind: str) -> None:
    """Wait until it has."""

    async def wait() -> None:
        await running.until(lambda one: one.type == kind)

    anyio.run(wait)


def read_until(process: "subprocess.Popen[bytes]", text: str) -> str:
    """What was printed by then; the test's own time is the bound."""
    assert process.stdout is not None
    seen = ""
    while text not in seen:
        line = process.stdout.readline().decode()
        assert line, seen
        seen += line
    return seen


@pytest.mark.measured
async def test_a_run_is_watched_answered_and_ended_from_other_windows(place: Place) -> None:
    with place.running([LAUNCH, {"pieces": ["It is ", "done."]}]) as running:
        await listening(running)
        approval = await asked(running)
        with place.cli("watch", running.session_id) as watching:
            seen = read_until(watching, "--deny")
            status, told, _ = place.said("answer", running.session_id, approval, "--allow")
            assert status == 0
            assert "the call runs there at once" in told
            out, err = watching.communicate(timeout=15)
        assert running.ended()["ended"] == "final_response"
    assert (watching.returncode, err) == (0, b"")
    session = running.session_id
    lines = (seen + out.decode()).splitlines()
    assert lines[:2] == ["Let me see.", '* launch {"name": "rocket"}']
    assert lines[2].startswith("? may launch run?")
    assert lines[3:5] == [
        f"? see it whole: holdfast sessions questions {session}",
        f"? holdfast sessions answer {session} {approval} --allow | --deny",
    ]
    assert lines[5].startswith(f"? allowed by {ME}: ")
    assert lines[6:] == ["+ launch: rocket is on its way", "It is done.", "- idle"]


@pytest.mark.measured
async def test_for_programs_each_thing_that_happens_is_a_line(place: Place) -> None:
    with place.running(HELD) as running:
        await listening(running)
        with place.cli("watch", running.session_id, "--json") as watching:
            seen = read_until(watching, '"model.requested"')
            place.release("go")
            out, _ = watching.communicate(timeout=15)
        assert running.ended()["response"] == "Well"
    lines = [json.loads(line) for line in (seen + out.decode()).splitlines()]
    kinds = [one["type"] for one in lines]
    assert kinds[0] == "span.started"
    assert {"type": "live.text", "text": "Well"} in lines
    assert kinds.index("live.text") < kinds.index("model.replied")
    assert watching.returncode == 0


async def test_when_the_program_is_killed_whoever_watches_is_told(place: Place) -> None:
    with place.running(HELD) as running:
        await listening(running)
        with place.cli("watch", running.session_id, "--json") as watching:
            read_until(watching, '"model.requested"')
            running.kill()
            out, err = watching.communicate(timeout=15)
    assert watching.returncode == 1
    assert json.loads(out.splitlines()[-1])["type"] == "watch.lost"
    assert "its program is gone" in err.decode()


async def test_a_run_is_told_from_another_window_what_to_do_instead(place: Place) -> None:
    with place.running([FOREVER, {"pieces": ["as you like"]}]) as running:
        await running.until(lambda one: one.type == "call.intended")
        await listening(running)
        status, out, err = place.said("interrupt", running.session_id, "--note", "not now")
        assert (status, out, err) == (0, "Interrupted. It goes on with your note.\n", "")
        assert running.ended()["ended"] == "final_response"
    assert await said_to(place, running, UserInterrupt) == [UserInterrupt(note="not now")]


async def test_a_run_is_interrupted_from_another_window(place: Place) -> None:
    with place.running([FOREVER]) as running:
        await running.until(lambda one: one.type == "call.intended")
        await listening(running)
        status, out, err = place.said("interrupt", running.session_id)
        assert (status, out, err) == (0, "Interrupted. It stops now.\n", "")
        assert running.ended()["ended"] == "cancelled"
    assert await said_to(place, running, UserInterrupt) == [UserInterrupt()]


async def test_a_message_is_sent_from_another_window(place: Place) -> None:
    with place.running(HELD) as running:
        await listening(running)
        status, out, _ = place.said("send", running.session_id, "the other one", "--json")
        told = json.loads(out)
        assert (status, told["heard"]) == (0, True)
        place.release("go")
        running.kill()
    found = await said_to(place, running, UserMessage)
    assert found == [UserMessage(message="begin"), UserMessage(message="the other one")]


async def said_to(place: Place, running: Running, kind: type[events.Payload]) -> list[object]:
    async with place.journal() as journal:
        found = await journal.events(running.session_id)
    return [one.payload for one in found if isinstance(one.payload, kind)]


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Cli:
    """The command in this process, as a window of that place."""
    for name in ("HOLDFAST_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, place.variables[name])
    return cli


def test_calls_are_stopped_and_the_agent_goes_on(place: Place, here: Cli) -> None:
    with place.running([FOREVER, {"pieces": ["so be it"], "before": "go"}]) as running:
        happened(running, "call.intended")
        anyio.run(listening, running)
        told = here("sessions", "interrupt", running.session_id, "--call")
        assert (told.status, told.out.split(";")[0]) == (0, "The calls that run are being stopped")
        happened(running, "call.settled")
        told = here("sessions", "interrupt", running.session_id, "--call")
        assert (told.status, told.err) == (1, "holdfast: no call runs\n")
        place.release("go")
        assert running.ended()["response"] == "so be it"


def test_commands_are_listed_and_ended_from_another_window(place: Place, here: Cli) -> None:
    turns: list[dict[str, object]] = [
        {"calls": [["shell", {"command": "echo ready; sleep 600"}]]},
        {"pieces": ["over"]},
    ]
    with place.running(turns) as running:
        session = running.session_id
        happened(running, "call.intended")
        anyio.run(listening, running)
        told = here("sessions", "commands", session)
        while not told.out.rstrip().endswith("ready"):  # nobody tells when it has printed it
            told = here("sessions", "commands", session)
        assert told.out.startswith("COMMAND")
        assert (
            told.err == f"holdfast: end one with: holdfast sessions terminate {session} COMMAND\n"
        )
        (command,) = json.loads(here("sessions", "commands", session, "--json").out)["commands"]
        assert (command["command"], command["stdout_tail"]) == ("echo ready; sleep 600", "ready\n")
        told = here("sessions", "terminate", session, "job_x")
        assert (told.status, told.err) == (
            1,
            "holdfast: no command job_x runs there (any more)\n",
        )
        told = here("sessions", "terminate", session, command["id"], "--json")
        assert (told.status, json.loads(told.out)["did"]) == (0, True)
        assert running.ended()["response"] == "over"


def test_where_no_command_runs_that_is_said(place: Place, here: Cli) -> None:
    with place.running(HELD) as running:
        anyio.run(listening, running)
        told = here("sessions", "commands", running.session_id)
        assert (told.status, told.out) == (0, "No command runs.\n")


@pytest.mark.measured
async def test_an_event_of_a_person_is_given_as_json_by_either_spelling(place: Place) -> None:
    with place.running(HELD) as running:
        await listening(running)
        wanted = {"title": "Tea", "successCriteria": ["hot"]}
        sent = json.dumps({"type": "user.define_outcome", "outcome": wanted})
        status, out, _ = place.said("event", running.session_id, sent, "--json")
        told = json.loads(out)
        assert (status, told["heard"]) == (0, True)
        assert told["repairs"] == ["successCriteria was taken for outcome.success_criteria"]
        for odd in ("{", "[]", '{"type": "agent.message"}'):
            status, out, err = place.said("event", running.session_id, odd)
            assert status != 0
            assert "event" in err
    (said,) = await said_to(place, running, OutcomeDefined)
    assert isinstance(said, OutcomeDefined)
    assert said.outcome.success_criteria == ("hot",)
