"""`holdfast sessions events`: chosen, shown, and followed as they happen."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.stored_sessions import TALK, answered, appended, in_store, made
from command import HOLDFAST, Cli

from holdfast.app.holders import this_process
from holdfast.contract import events
from holdfast.contract.events import Event
from holdfast.record.export import event_line
from holdfast.record.store import Store
from holdfast.surfaces.cli.session_events import QUIET_SECONDS


@pytest.fixture
def kept(home: Path) -> tuple[Event, ...]:
    return made(home, "ses_1")


def numbers(cli: Cli, *words: str) -> list[int]:
    answered = cli("sessions", "events", "last", "--json", *words)
    assert (answered.status, answered.err) == (0, "")
    return [json.loads(line)["sequence"] for line in answered.out.splitlines()]


def test_people_see_a_table(cli: Cli, home: Path) -> None:
    (_, said) = made(home, "ses_1", TALK[:2])
    answered = cli("sessions", "events", "ses_1")
    assert (answered.status, answered.err) == (0, "")
    heading, first, second = answered.out.splitlines()
    assert heading.split() == ["EVENT", "TIME", "(UTC)", "TYPE", "WHAT"]
    assert first.split()[3:] == [
        *("session.created", "agent_id=coder", "environment_id=local-default"),
        "profile=code",
    ]
    at = f"{said.at:%Y-%m-%d %H:%M:%S}.{said.at.microsecond // 1000:03}"
    words = '     user.message     waits: message="Fix the flaky test\\nplease"'
    assert second == f"2      {at}{words[3:]}"


def test_what_a_call_brought_stands_first_and_all_of_it_with_full(cli: Cli, home: Path) -> None:
    long = b'"%s"' % (b"x" * 300)
    made(home, "ses_1", [*TALK[:1], *answered(b"[1,2]"), *answered(long, "cal_2")])
    words = ("sessions", "events", "last", "--type", "call.settled")
    _, short, cut_short = cli(*words).out.splitlines()
    assert short.endswith("  tool=bash result=[1,2] call_id=cal_1")
    assert cut_short.endswith("xxx…")
    _, first, second = cli(*words, "--full").out.splitlines()
    assert first.endswith(' envelope={"call_id":"cal_1","ok":true,"result":[1,2]}')
    assert second.endswith(f'"result":"{"x" * 300}"}}')


def test_why_a_call_failed_is_shown_too(cli: Cli, kept: tuple[Event, ...]) -> None:
    assert kept
    out = cli("sessions", "events", "last", "--type", "call.settled").out
    assert out.endswith('tool=bash kind=timeout message="the tests took too long" call_id=cal_1\n')


def test_programs_get_them_on_the_wire(cli: Cli, kept: tuple[Event, ...]) -> None:
    out = cli("sessions", "events", "ses_1", "--json").out
    assert out == "".join(f"{event_line(one).decode()}\n" for one in kept)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), [1, 2, 3, 4, 5]),
        (("--after", "2"), [3, 4, 5]),
        (("--before", "3"), [1, 2]),
        (("--after", "1", "--before", "4"), [2, 3]),
        (("--around", "3"), [1, 2, 3, 4, 5]),
        (("--around", "3", "--before-limit", "1"), [2, 3, 4, 5]),
        (("--around", "3", "--before-limit", "0", "--after-limit", "1"), [3, 4]),
        (("--type", "user.message"), [2]),
        (("--type", "user.message", "--type", "call.asked"), [2, 3]),
        (("--pending",), [2]),
        (("--limit", "2"), [4, 5]),
    ],
)
@pytest.mark.usefixtures("kept")
def test_which_are_shown_can_be_chosen(cli: Cli, words: tuple[str, ...], shown: list[int]) -> None:
    assert numbers(cli, *words) == shown


def test_they_are_named_by_their_ids_too(cli: Cli, kept: tuple[Event, ...]) -> None:
    assert numbers(cli, "--after", kept[2].id) == [4, 5]
    assert numbers(cli, "--before", kept[2].id) == [1, 2]
    assert numbers(cli, "--around", kept[2].id, "--after-limit", "0") == [1, 2, 3]


def test_those_of_a_wake_are_found(cli: Cli, home: Path, kept: tuple[Event, ...]) -> None:
    async def work(store: Store) -> None:
        await store.journal.append("ses_1", TALK[1:2], wake_id="wak_1")

    in_store(home, work)
    assert numbers(cli, "--wake", "wak_1") == [len(kept) + 1]
    assert numbers(cli, "--wake", "wak_1", "--type", "call.asked") == []
    for what in ("events", "trace"):
        unknown = cli("sessions", what, "last", "--wake", "wak_9")
        said = "holdfast: --wake wak_9: session ses_1 has no such wake; it has wak_1\n"
        assert unknown == (2, "", said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--after", "evt_9"), "--after evt_9: session ses_1 has no such event"),
        (("--before", "6"), "--before 6: session ses_1 has no such event"),
        (("--around", "0"), "--around 0: session ses_1 has no such event"),
        (("--around", "9" * 40), "has no such event"),
        (("--type", "x"), "--type x: there is no such event; known: agent.bounded, agent.chunk,"),
        (("--type", "call.setled"), "there is no such event; did you mean 'call.settled'?"),
        (("--after-limit", "2"), "are for --around EVENT"),
        (("--around", "2", "--after", "1"), "give either --around or --after and --before"),
        (("--around", "3", "--limit", "2"), "--around is bounded by --before-limit and --after"),
        (("--wake", "wak_9"), "--wake wak_9: session ses_1 has no such wake; it has none"),
        (("--follow", "--before", "2"), "--follow has no end"),
        (("--around", "2", "--before-limit", "x"), "--before-limit x: give a number from 1"),
    ],
)
@pytest.mark.usefixtures("kept")
def test_what_is_not_there_is_told(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answered = cli("sessions", "events", "ses_1", *words)
    assert (answered.status, answered.out) == (2, "")
    assert said in answered.err


def test_nothing_that_fits_is_told(cli: Cli, kept: tuple[Event, ...]) -> None:
    assert kept
    answered = cli("sessions", "events", "ses_1", "--type", "session.closed")
    assert answered == (0, "No event fits.\n", "")


@contextmanager
def following(home: Path, *words: str) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [str(HOLDFAST), "sessions", "events", "ses_1", "--follow", *words],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_new_ones_are_shown_as_they_come_until_the_session_is_closed(home: Path) -> None:
    made(home, "ses_1", TALK[:2])
    chosen = ("--json", "--type", "user.message", "--limit", "1")
    with following(home, *chosen) as process:
        assert json.loads(read_line(process))["sequence"] == 2
        appended(home, "ses_1", events.UserInterrupt(), events.UserMessage(message="more"))
        assert json.loads(read_line(process))["sequence"] == 4
        appended(home, "ses_1", events.SessionClosed(reason="done"))
        out, err = process.communicate(timeout=10)
        assert (process.returncode, out, err) == (0, "", "")


def test_people_can_follow_and_interrupt(home: Path) -> None:
    made(home, "ses_1", TALK[:1])
    with following(home) as process:
        assert "session.created" in read_line(process)
        appended(home, "ses_1", events.UserMessage(message="more"))
        assert read_line(process).endswith("waits: message=more\n")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert (process.returncode, err) == (130, "holdfast: interrupted\n")


def test_a_session_that_is_deleted_meanwhile_ends_it(home: Path) -> None:
    made(home, "ses_1", TALK[:1])
    with following(home) as process:
        read_line(process)

        async def work(store: Store) -> None:
            await store.archive.delete("ses_1")

        in_store(home, work)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 2
        assert "there is no session ses_1" in err


def test_one_that_was_closed_and_taken_up_is_followed_until_it_is_closed_again(home: Path) -> None:
    closed = events.SessionClosed(reason="closed")
    again = events.StatusChanged(from_status="terminated", to_status="idle", reason="taken up")
    made(home, "ses_1", [*TALK[:1], closed, again])
    with following(home, "--json") as process:
        for number in (1, 2, 3):
            assert json.loads(read_line(process))["sequence"] == number
        appended(home, "ses_1", closed, again, TALK[1])
        for number in (4, 5, 6):
            assert json.loads(read_line(process))["sequence"] == number
        assert process.poll() is None
        appended(home, "ses_1", closed)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, json.loads(out)["sequence"], err) == (0, 7, "")


@pytest.mark.timeout(90)  # several programs, one after the other
def test_whoever_follows_is_told_once_that_its_program_is_gone(home: Path) -> None:
    made(home, "ses_1", TALK[:1])

    async def leased(store: Store) -> None:
        await store.journal.lease("ses_1", f"{this_process().rpartition('/')[0]}/1-99999999999", 60)

    in_store(home, leased)
    with following(home) as process:
        read_line(process)
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("holdfast: nothing new: its program is gone: take it up with holdf")
        appended(home, "ses_1", events.UserMessage(message="more"))
        assert read_line(process).endswith("waits: message=more\n")
        time.sleep(QUIET_SECONDS + 1)
        appended(home, "ses_1", events.SessionClosed(reason="done"))
        _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (0, "")


def test_one_that_is_closed_is_shown_and_no_more(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [*TALK[:1], events.SessionClosed(reason="done")])
    begun = time.monotonic()
    answered = cli("sessions", "events", "last", "--follow")
    assert time.monotonic() - begun < 10
    assert answered.status == 0
    assert [line.split()[3] for line in answered.out.splitlines()] == [
        "session.created",
        "session.closed",
    ]


def test_what_others_write_meanwhile_is_shown_once(cli: Cli, home: Path) -> None:
    made(home, "ses_1", TALK[:2])
    new = (events.UserMessage(message="more"), events.SessionClosed(reason="done"))
    later = threading.Timer(0.5, appended, (home, "ses_1", *new))
    later.start()
    try:
        answered = cli("sessions", "events", "last", "--follow", "--type", "user.message")
    finally:
        later.join()
    assert answered.status == 0
    shown = [line.split()[0] for line in answered.out.splitlines()]
    assert shown == ["2", "3"]
