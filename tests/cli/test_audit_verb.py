"""`holdfast audit log`: a table for people, lines for programs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from cli.stored_sessions import made
from command import HOLDFAST, Cli, start

from holdfast.contract.audit import ProgramRun
from holdfast.record.audit_file import AuditFile
from holdfast.record.audit_redaction import Redaction

SECOND = 1_000_000_000
NOON = int(datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp()) * SECOND
RUN = ProgramRun(
    at_ns=NOON,
    tool="build",
    argv=("make", "all the things"),
    cwd="/work",
    exit=0,
    ms=1234,
    stdout_bytes=5678,
    stderr_bytes=9,
    truncated=False,
    env_keys=("CC", "LANG"),
    session="ses_one",
    call="cal_one",
)
DAY = 86_400 * SECOND
OTHER = msgspec.structs.replace(
    RUN, at_ns=NOON + DAY, tool="test", exit=-1, env_keys=(), session="ses_two", ms=5
)

Log = Callable[..., None]


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "state" / "audit"


@pytest.fixture
def log(folder: Path) -> Log:
    kept = AuditFile(folder, Redaction())

    def ran(*runs: ProgramRun) -> None:
        for run in runs:
            kept.ran(run)

    return ran


def times(cli: Cli, *words: str) -> list[int]:
    """The days of what is shown."""
    answered = cli("audit", "log", "--json", *words)
    assert (answered.status, answered.err) == (0, "")
    return [int(json.loads(line)["ts"][8:10]) for line in answered.out.splitlines()]


def test_people_see_a_table(cli: Cli, log: Log) -> None:
    log(RUN, OTHER)
    answered = cli("audit", "log")
    assert (answered.status, answered.err) == (0, "")
    assert answered.out.splitlines() == [
        "TIME (UTC)           TOOL   PROGRAM                EXIT  MS     STDOUT  STDERR  VARIABLES",
        "2026-08-01 12:00:00  build  make 'all the things'  0     1,234  5,678   9       CC LANG",
        "2026-08-02 12:00:00  test   make 'all the things'  -1    5      5,678   9       -",
    ]


def test_programs_get_the_lines_as_they_were_written(cli: Cli, log: Log, folder: Path) -> None:
    log(RUN, OTHER)
    written = "".join(path.read_text("utf-8") for path in sorted(folder.iterdir()))
    assert cli("audit", "log", "--json").out == written


def test_a_long_command_line_is_cut_and_nothing_steers_the_terminal(cli: Cli, log: Log) -> None:
    log(msgspec.structs.replace(RUN, argv=("x" * 300,), tool="\x1b[31m"))
    (_, row) = cli("audit", "log").out.splitlines()
    assert f" {'x' * 59}… " in row
    assert "\x1b" not in row
    assert "\\u001b[31m" in row


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), [1, 2]),
        (("--day", "20260801"), [1]),
        (("--day", "20260803"), []),
        (("--since", "2026-08-02"), [2]),
        (("--since", "2026-08-01T12:00"), [1, 2]),
        (("--since", "2026-08-01T12:00:01"), [2]),
        (("--since", "2026-08-01T14:00:01+02:00"), [2]),
        (("--since", "2026-08-01T14:00:00+02:00"), [1, 2]),
        (("--since", "999999999d"), [1, 2]),
        (("--tool", "test"), [2]),
        (("--tool", "tes"), []),
        (("--session", "ses_t"), [2]),
        (("--session", "ses_"), [1, 2]),
        (("--limit", "1"), [2]),
        (("--limit", "7"), [1, 2]),
        (("--limit", "1", "--tool", "build"), [1]),
    ],
)
def test_what_is_shown_can_be_chosen(
    cli: Cli, log: Log, words: tuple[str, ...], shown: list[int]
) -> None:
    log(RUN, OTHER)
    assert times(cli, *words) == shown


def test_the_last_session_is_that_of_the_store(cli: Cli, log: Log, home: Path) -> None:
    log(RUN, OTHER)
    made(home, "ses_three")
    assert times(cli, "--session", "last") == []
    made(home, "ses_one")
    assert times(cli, "--session", "last") == [1]
    assert times(cli, "--session", "ses_th") == []  # it is known, and ran nothing


@pytest.mark.parametrize("name", ["nope", "last"])
def test_a_session_that_nobody_knows_is_an_error(cli: Cli, log: Log, name: str) -> None:
    log(RUN)
    answered = cli("audit", "log", "--session", name)
    assert (answered.status, answered.out) == (2, "")
    assert "there is no session" in answered.err


def test_the_help_says_what_each_option_is_for(cli: Cli) -> None:
    help_ = " ".join(cli("audit", "--help").out.split())
    for option in ("--day YYYYMMDD", "--since WHEN", "--follow"):
        assert f"{option} log: " in help_
    assert "who allowed what; verify the journal" in cli("--help").out


@pytest.mark.parametrize(("ago", "count"), [("30s", 1), ("2m", 2), ("2h", 3), ("2d", 4), ("1w", 4)])
def test_since_counts_back_from_now(cli: Cli, log: Log, ago: str, count: int) -> None:
    now = time.time_ns()
    for seconds in (86_400 + 10, 3_600 + 10, 60 + 10, 10):
        log(msgspec.structs.replace(RUN, at_ns=now - seconds * SECOND))
    assert len(times(cli, "--since", ago)) == count


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "what about the audit log? write: holdfast audit log"),
        (("erase",), "argument what: invalid choice: 'erase'"),
        (("log", "--day", "2026-08-01"), "--day 2026-08-01: it is no day; write for example"),
        (("log", "--day", "20260231"), "--day 20260231: it is no day"),
        (("log", "--since", "yesterday"), "--since yesterday: it is no moment; write for"),
        (("log", "--limit", "0"), "--limit 0: it is no number; give 1 or more"),
        (("log", "--limit", "²"), "--limit ²: it is no number"),
    ],
)
def test_what_is_not_understood_is_said(cli: Cli, words: tuple[str, ...], said: str) -> None:
    answered = cli("audit", *words)
    assert (answered.status, answered.out) == (2, "")
    assert answered.err.startswith(f"holdfast: {said}")


def test_that_there_is_nothing_is_said_to_people(cli: Cli, log: Log) -> None:
    assert cli("audit", "log").out == "No program has been written down yet.\n"
    assert cli("audit", "log", "--json").out == ""
    log(RUN)
    assert cli("audit", "log", "--tool", "x").out == "No program that was written down fits.\n"


def test_a_broken_line_is_named_and_the_rest_shown(cli: Cli, log: Log, folder: Path) -> None:
    log(RUN)
    path = folder / "20260801.log"
    path.write_bytes(b"{\n" + path.read_bytes() + b'{"ts"')
    answered = cli("audit", "log", "--json")
    assert answered.status == 0
    assert answered.out.count("\n") == 1
    assert answered.err.startswith(f"holdfast: {path}:1: it is no record (")
    assert answered.err.count("\n") == 1


def test_a_log_that_cannot_be_read_is_a_failure(cli: Cli, log: Log, folder: Path) -> None:
    log(RUN)
    path = folder / "20260801.log"
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    answered = cli("audit", "log")
    assert (answered.status, answered.out) == (1, "")
    assert answered.err.startswith(f"holdfast: {path} cannot be read (")


def test_a_home_that_is_none_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", "/nonexistent/home")
    answered = cli("audit", "log")
    assert answered.status == 2
    assert "there is no such directory" in answered.err


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_who_follows_sees_what_comes_until_interrupted(
    home: Path, log: Log, flags: tuple[str, ...]
) -> None:
    log(RUN)
    with subprocess.Popen(
        [str(HOLDFAST), "audit", "log", "--follow", "--session", "ses_", *flags],
        env={"HOLDFAST_HOME": str(home), "PATH": os.defpath},  # nothing that unbuffers
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        first = [following.stdout.readline() for _ in range(1 if flags else 2)]
        assert "build" in first[-1]
        log(msgspec.structs.replace(OTHER, session="other"), OTHER)
        assert "test" in following.stdout.readline()
        log(msgspec.structs.replace(OTHER, tool="later"))
        assert "later" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        out, err = following.communicate(timeout=10)
        assert (following.returncode, out, err) == (130, "", "holdfast: interrupted\n")


TOOL = """
from holdfast import Runtime, tool

@tool(requires={"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]})
async def build(rt: Runtime, goal: str) -> str:
    '''Build.'''
    return (await rt.shell.run(["echo", "done"], stdin=goal.encode())).stdout.text()
"""


def test_a_call_of_the_command_line_is_in_the_log(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(TOOL, "utf-8")
    called = start("call", "build", "goal=all", "--from", str(file), home=home)
    assert called.status == 0, called.err
    shown = start("audit", "log", "--json", "--tool", "build", home=home)
    record = json.loads(shown.out)
    assert (record["argv"], record["exit"]) == (["echo", "done"], 0)
    assert record["session"].startswith("ses_")
    assert sys.executable not in shown.out
