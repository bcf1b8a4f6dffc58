"""Recordings of programs that were gone, and what a replay does to the machine: nothing."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls, home_of
from run_replays import again, all_events, deploy, fail, look, replays
from this_tree import this_tree

from holdfast import Answer, answer_question
from holdfast.app.settings import Settings
from holdfast.contract.events import CallSettled, ModelRequested, SpanStarted

LOOK = ("look", '{"place": "north"}')
DEPLOY = ("deploy", '{"place": "north"}')

_GONE = """
import os, sys
from pathlib import Path
import anyio
from agents_at_work import at_work, calls
from holdfast import tool

@tool
def crash(place: str) -> str:
    "Take the program down. place: e.g. 'x'."
    os._exit(9)

@tool(parallel_safe=True)
def look(place: str) -> str:
    "Look at a place. place: e.g. 'x'."
    return place + " is fine"

async def main():
    turns = [calls(("look", '{"place": "a"}')), calls(("look", '{"place": "b"}'),
        ("crash", '{"place": "x"}'), ("look", '{"place": "c"}'))]
    async with at_work(Path(sys.argv[1]), turns, tools=[crash, look]) as desk:
        print(desk.session.id, flush=True)
        await desk.told("Go.")

anyio.run(main)
"""


@pytest.mark.anyio
async def test_a_program_that_was_gone_in_the_middle_and_taken_up(tmp_path: Path) -> None:
    environment = this_tree()
    command = [sys.executable, "-c", _GONE, str(tmp_path)]
    done = await anyio.run_process(command, env=environment, check=False)
    assert done.returncode == 9
    session = done.stdout.decode().strip()
    async with at_work(tmp_path, ["The program was gone."], tools=[look], session=session) as desk:
        await desk.told()
        events = await all_events(desk)
        assert b"aborted by host restart" in b"".join(
            bytes(one.payload.envelope) for one in events if isinstance(one.payload, CallSettled)
        )
        found = await replays(desk)
        assert (found.wakes, found.requests_compared) == (2, 3)


@pytest.mark.anyio
async def test_a_recording_that_stops_anywhere_comes_out_as_far_as_it_goes(tmp_path: Path) -> None:
    turns = [calls(LOOK, ("fail", '{"text": "x"}')), "", calls(DEPLOY), "fine", "well"]
    async with at_work(tmp_path, turns, tools=[look, fail, deploy]) as desk:
        await desk.told("Go.")
        (question,) = await desk.holdfast.questions()
        await answer_question(
            *(desk.session.id, question.approval_id, Answer(allowed=True, by="ada")),
            settings=Settings(),
            surroundings=home_of(tmp_path),
        )
        await desk.told()
        await desk.told("More.")
        events = await all_events(desk)
    requests = 0
    for length in range(3, len(events) + 1):
        if length < len(events) and events[length].at == events[length - 1].at:
            continue  # what was written at once is there, or it is not
        asked = [one for one in events[:length] if isinstance(one.payload, ModelRequested)]
        found = await again(events[:length])
        assert (found.divergence, found.requests_compared) == (None, len(asked))
        requests += len(asked)
    assert requests > 20


_WATCHED = """
import sys
from pathlib import Path
import anyio
from agents_at_work import at_work, calls
from run_replays import all_events, look
from holdfast.app.run_replaying import replay_run

async def recorded():
    turns = [calls(("look", '{"place": "a"}')), "fine"]
    async with at_work(Path(sys.argv[1]), turns, tools=[look]) as desk:
        await desk.told("Go.")
        return await all_events(desk)

events = anyio.run(recorded)
heard = []
sys.addaudithook(lambda name, _: heard.append(name))
found = anyio.run(replay_run, events)
assert found.divergence is None, found.divergence
starts = [name for name in heard if name.startswith(("subprocess", "os.exec", "os.fork", "os.posix",
    "os.system", "os.spawn", "socket.connect", "socket.bind", "socket.send", "socket.getaddr"))]
assert starts == [], starts
print("quiet", "sqlite3.connect" in heard)
"""


def test_a_replay_starts_no_process_and_opens_no_connection(tmp_path: Path) -> None:
    environment = this_tree()
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("quiet True\n", 0), done.stderr


@pytest.mark.anyio
async def test_a_program_that_was_gone_right_before_a_call_of_a_managed_agent(
    tmp_path: Path,
) -> None:
    """Nothing of the call has begun, and nothing of it is left lying about."""
    turns = [calls(DEPLOY), "It is there."]
    async with at_work(tmp_path, turns, tools=[deploy], equipment={"managed": True}) as desk:
        await desk.told("Go.")
        (question,) = await desk.holdfast.questions()
        await desk.holdfast.answer(question, Answer(allowed=True, by="ada"))
        await desk.told()
        events = await all_events(desk)
        *_, begins = [
            place
            for place, one in enumerate(events)
            if isinstance(one.payload, SpanStarted) and one.payload.name == "deploy"
        ]
        found = await again(events[:begins])
        assert (found.divergence, found.events_compared > 0) == (None, True)
