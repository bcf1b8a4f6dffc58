"""Programs of a local backend are written down as those of a session are."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest
from execution.backends.local_sandboxes import opened

from holdfast.app.audit import audit_log_of_this_process
from holdfast.contract.audit import AuditLog, ProgramRun
from holdfast.contract.backend import (
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    ToolExecutionFailure,
)
from holdfast.execution.backends.local import LocalSettings
from holdfast.execution.backends.shipped import AUDIT, LateAudit
from holdfast.flow import open_sandbox
from holdfast.testing.fakes import FakeAudit

UNSAID = "what-it-was-told"


def test_each_program_leaves_one_record_and_files_leave_none(tmp_path: Path) -> None:
    log = FakeAudit()
    with opened(LocalSettings(audit=log), tmp_path, {"OF_SPEC": "1", "BOTH": "1"}) as sandbox:
        passed = {"BOTH": "2", "OWN": UNSAID}
        sandbox.dispatch(BackendToolCommandRun(f"echo {UNSAID}; exit 3", env=passed))
        sandbox.dispatch(BackendToolCommandRun(["cat"], stdin=UNSAID.encode()))
        sandbox.dispatch(BackendToolCodeRun(f"print('{UNSAID}')"))
        sandbox.dispatch(BackendToolFilesExists("x"))
    shell, words, code = log.runs
    assert (shell.tool, shell.argv, shell.exit) == ("(local)", ("/bin/sh", "-c"), 3)
    assert (shell.cwd, shell.stdout_bytes) == (str(tmp_path), len(UNSAID) + 1)
    assert shell.env_keys == ("OF_SPEC", "BOTH", "OWN")
    assert (words.argv, words.stdout_bytes) == (("cat",), len(UNSAID))
    assert (code.argv, code.exit) == ((sys.executable,), 0)
    assert UNSAID not in str(log.runs)


def test_what_fails_is_written_down_as_well(tmp_path: Path) -> None:
    log = FakeAudit()
    with opened(LocalSettings(audit=log), tmp_path) as sandbox:
        sandbox.dispatch(BackendToolCommandRun(["nonesuch"]))
        sandbox.dispatch(BackendToolCommandRun("sleep 20", timeout=0.1))
        sandbox.dispatch(BackendToolCommandRun("kill -9 $$"))
        sandbox.dispatch(BackendToolCommandRun("sleep 20 & exit 5"))
        sandbox.dispatch(BackendToolCommandRun("head -c 400000 /dev/zero"))
        sandbox.dispatch(BackendToolCommandRun([]))  # names no program
    assert [run.exit for run in log.runs] == [-1, -1, -1, 5, 0]
    assert [run.truncated for run in log.runs] == [False, False, False, False, True]


def test_where_there_is_no_sandbox_that_is_written_down_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = FakeAudit()
    with opened(LocalSettings(audit=log, confinement="bubblewrap"), tmp_path) as sandbox:
        monkeypatch.setenv("PATH", "")
        answer = sandbox.dispatch(BackendToolCommandRun(["true"]))
    assert isinstance(answer, ToolExecutionFailure)
    assert [(run.argv, run.exit) for run in log.runs] == [(("true",), -1)]


def test_the_shipped_backends_write_into_the_log_of_this_machine(tmp_path: Path) -> None:
    AUDIT.found_by(audit_log_of_this_process)  # a test before may have had it found elsewhere
    folder = Path(os.environ["XDG_STATE_HOME"]) / "holdfast" / "audit"
    with open_sandbox("local", str(tmp_path)) as sandbox:
        sandbox.dispatch(BackendToolCommandRun(["true"]))
    texts = [path.read_text("utf-8") for path in folder.glob("*.log")]
    records = [json.loads(line) for text in texts for line in text.splitlines()]
    assert [one["argv"] for one in records if one["cwd"] == str(tmp_path)] == [["true"]]


def test_the_log_is_looked_for_once_when_a_program_has_run() -> None:
    run = ProgramRun(
        at_ns=0,
        tool="x",
        argv=(),
        cwd="",
        exit=0,
        ms=0,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
    )
    late, log, found = LateAudit(), FakeAudit(), list[int]()

    def find() -> AuditLog:
        found.append(1)
        return log

    late.ran(run)  # nobody said where: it is lost
    late.found_by(find)
    assert found == []
    threads = [threading.Thread(target=late.ran, args=(run,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), log.runs) == (1, [run] * 8)
