"""One line for one program: told once, whatever came of it."""

from pathlib import Path

import pytest
from execution.processes.ground import UNLIMITED, opened
from execution.processes.session import session
from hypothesis import given
from hypothesis import strategies as st
from support import make_call, make_tool

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.audit import ProgramRun
from holdfast.contract.call import Prepared
from holdfast.contract.errors import SandboxNotRunning
from holdfast.contract.shell import Printed
from holdfast.contract.watchdog import Inspection
from holdfast.execution.hook_program import HookProgram
from holdfast.execution.processes.command import Command, start
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import UNRECORDED, Program, Record, without_text
from holdfast.testing.fakes import FakeAudit

PROGRAM = Program("build", ("make",), "/work", ("CC",), "ses_1", "cal_1", most_shown=10)


def test_the_first_word_on_its_end_counts() -> None:
    log = FakeAudit()
    record = Record(PROGRAM, log, lambda: 42)
    record.begins_in("/elsewhere")
    assert log.runs == []
    record.over(3, 1.2346, Printed(b"four", b"", 4), Printed(b"", b"", 0))
    record.over(None)
    assert log.runs == [
        ProgramRun(
            at_ns=42,
            tool="build",
            argv=("make",),
            cwd="/elsewhere",
            exit=3,
            ms=1235,
            stdout_bytes=4,
            stderr_bytes=0,
            truncated=False,
            env_keys=("CC",),
            session="ses_1",
            call="cal_1",
        )
    ]


@pytest.mark.parametrize(("status", "told"), [(0, 0), (255, 255), (-9, -1), (None, -1)])
def test_a_signal_and_no_status_are_minus_one(status: int | None, told: int) -> None:
    log = FakeAudit()
    Record(PROGRAM, log).over(status)
    assert [run.exit for run in log.runs] == [told]


@given(st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_more_than_an_answer_shows_is_cut(out: int, err: int, bounded: bool) -> None:
    log = FakeAudit()
    program = PROGRAM if bounded else PROGRAM._replace(most_shown=None)
    Record(program, log).over(0, 0.0, Printed(b"o" * out, b"", out), Printed(b"e" * err, b"", err))
    assert [run.truncated for run in log.runs] == [bounded and out + err > 10]


@pytest.mark.parametrize("gap", ["stdout", "stderr"])
def test_what_memory_did_not_keep_is_cut(gap: str) -> None:
    log = FakeAudit()
    whole, cut = Printed(b"a", b"", 1), Printed(b"a", b"b", 3)
    printed = (cut, whole) if gap == "stdout" else (whole, cut)
    Record(PROGRAM, log).over(0, 0.0, *printed)
    assert [run.truncated for run in log.runs] == [True]


def test_the_text_for_a_shell_is_left_out_and_words_are_not() -> None:
    assert without_text("rm -r x", ["bash", "-c", "rm -r x"]) == ("bash", "-c")
    assert without_text(["rm", "x"], ["rm", "x"]) == ("rm", "x")


async def test_a_start_that_fails_leaves_a_record(tmp_path: Path) -> None:
    log = FakeAudit()
    async with opened(tmp_path, "unconfined") as ground:
        await ground.warden.close()
        command = Command(["true"], "/", {}, record=Record(PROGRAM, log))
        with pytest.raises(SandboxUnavailable):
            await start(ground.warden, command, UNLIMITED, ground.capture)
    assert [(run.cwd, run.exit) for run in log.runs] == [("/", -1)]


@pytest.mark.req("CLI-AUD-08")
async def test_a_job_whose_sandbox_went_away_leaves_a_record(tmp_path: Path) -> None:
    log = FakeAudit()
    async with session(tmp_path, "unconfined") as on:
        await on.sandbox.close()
        with pytest.raises(SandboxNotRunning):
            await on.jobs.start(["true"], record=Record(PROGRAM, log))
    assert [run.exit for run in log.runs] == [-1]


async def test_a_command_of_our_own_leaves_none(tmp_path: Path) -> None:
    async with opened(tmp_path, "unconfined") as ground:
        assert (await ground.run("true")).ended is not None
        assert Command(["true"], "/", {}).record is UNRECORDED


async def test_a_hook_is_recorded_where_the_directory_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    log = FakeAudit()
    prepared = Prepared(call=make_call(), tool=make_tool(), values={}, checked={})
    hook = HookProgram(["/nonexistent/hook"], {}, audit=log)
    with pytest.raises(FileNotFoundError):
        await hook(Inspection(prepared=prepared, manifest=NO_AGENT, uses=()))
    assert [(run.tool, run.cwd, run.call) for run in log.runs] == [("(watchdog)", "", "cal_test")]
