"""`holdfast sessions`: whether somebody runs a session, and what to do when they are gone."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli.stored_sessions import ASKED, in_store, made
from command import Cli

from holdfast.app.holders import this_process
from holdfast.contract import events
from holdfast.contract.events import Payload
from holdfast.record.store import Store

LEFT = "its program is gone: take it up with Holdfast(session='ses_1') and resume() in a program"
MANY = "their programs are gone: take one up with Holdfast(session=ID) in a program"
INTENDED = events.CallIntended(call_id="cal_1", tool="bash", arguments_hash="ab", grounds="why")
RUNS = events.StatusChanged(from_status="idle", to_status="running", reason="why")
CLOSED = events.SessionClosed(reason="closed")
GONE = f"{this_process().rpartition('/')[0]}/1-99999999999"
ELSEWHERE = "elsewhere/1-1"
IN_A_CALL = """
import sys, time, anyio
from holdfast import Holdfast, tool

@tool
def nap() -> str:
    "Sleep."
    print("napping", flush=True)
    time.sleep(60)
    return "awake"

async def main() -> None:
    async with Holdfast(tools=[nap]) as hf:
        await hf.settle("nap", {})

anyio.run(main)
"""


def session(cli: Cli, *words: str) -> list[dict[str, Any]]:
    answered = cli("sessions", *words, "--json")
    assert (answered.status, answered.err) == (0, "")
    return json.loads(answered.out)["sessions"]


def leased(home: Path, holder: str, seconds: float = 60) -> None:
    async def work(store: Store) -> None:
        await store.journal.lease("ses_1", holder, seconds)

    in_store(home, work)


@pytest.mark.parametrize(
    ("payloads", "holder", "seconds", "shown", "is_left"),
    [
        ((ASKED,), "", 60, "busy", False),
        ((ASKED, INTENDED), "", 60, "busy", False),
        ((ASKED, INTENDED), "", -1, "busy", False),
        ((ASKED, INTENDED), ELSEWHERE, 60, "busy", False),
        ((ASKED, INTENDED), ELSEWHERE, -1, "idle", True),
        ((ASKED, INTENDED), GONE, 60, "idle", True),
        ((ASKED, INTENDED), None, 0, "idle", False),
        ((RUNS,), "", 60, "busy", False),
        ((RUNS,), None, 0, "busy", False),
        ((RUNS,), GONE, 60, "idle", True),
        ((), "", 60, "idle", False),
        ((), GONE, 60, "idle", False),
        ((ASKED, CLOSED), GONE, 60, "idle", False),
    ],
)
def test_busy_is_what_somebody_is_at(
    cli: Cli,
    home: Path,
    payloads: tuple[Payload, ...],
    holder: str | None,
    seconds: float,
    shown: str,
    is_left: bool,
) -> None:
    made(home, "ses_1", [events.SessionCreated(), *payloads])
    if holder is not None:
        leased(home, holder or this_process(), seconds)
    (one,) = session(cli)
    assert one["reported"] == shown
    assert len(session(cli, "--status", "busy")) == (shown == "busy")
    listed = cli("sessions")
    assert listed.err == (f"holdfast: ses_1: {LEFT}\n" if is_left else "")
    assert (LEFT in cli("sessions", "show", "last").out) == is_left


def test_an_agents_session_that_was_left_is_taken_up_at_the_command_line(
    cli: Cli, home: Path
) -> None:
    for name in ("ses_0", "ses_1"):
        made(home, name, [events.SessionCreated(agent_id="coder"), ASKED, INTENDED])
    leased(home, GONE, 60)
    assert "take it up with holdfast resume ses_1\n" in cli("sessions", "show", "ses_1").out
    assert cli("sessions").err.endswith(": take it up with holdfast resume ses_1\n")

    async def work(store: Store) -> None:
        await store.journal.lease("ses_0", GONE, 60)

    in_store(home, work)
    assert cli("sessions").err.endswith("gone: take one up with holdfast resume ID\n")


def test_of_many_that_were_left_a_few_are_named(cli: Cli, home: Path) -> None:
    for number in range(5):
        made(home, f"ses_{number}", [events.SessionCreated(), ASKED])

    async def work(store: Store) -> None:
        for number in range(5):
            await store.journal.lease(f"ses_{number}", GONE, 60)

    in_store(home, work)
    assert cli("sessions").err == f"holdfast: ses_4, ses_3, ses_2 and 2 more: {MANY}\n"


@contextmanager
def in_a_call(home: Path) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_CALL],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "napping\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_program_in_the_middle_of_a_call_is_busy_until_it_is_killed(cli: Cli, home: Path) -> None:
    with in_a_call(home) as process:
        (one,) = session(cli, "--status", "busy")
        assert (one["reported"], one["runner"], one["open_calls"]) == ("busy", "somebody", 1)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
        assert session(cli, "--status", "busy") == []
        (one,) = session(cli)
        assert (one["reported"], one["runner"], one["open_calls"]) == ("idle", "gone", 1)
        assert "its program is gone: take it up with Holdfast(session=" in cli("sessions").err
