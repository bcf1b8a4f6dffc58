"""Measuring coverage stops neither a thread that begins nor a test whose time is up."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tracing import be_patient


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="these interpreters do not mind")
def test_a_thread_that_is_refused_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "_sys", vars(threading)["_sys"])
    tried: list[object] = []

    def refuses_twice(function: object) -> None:
        tried.append(function)
        if len(tried) < 3:
            raise RuntimeError("another trace function is being installed")

    be_patient()
    patient = vars(threading)["_sys"]
    with monkeypatch.context() as only_here:
        only_here.setattr(sys, "settrace", refuses_twice)
        patient.settrace(None)
    assert tried == [None, None, None]
    assert patient.version_info == sys.version_info


INTERRUPTED = """
import signal, sys
import coverage
sys.path.insert(0, {tests!r})
import tracing

measuring = coverage.Coverage(data_file=None, config_file=False, include=[{calls!r}])
measuring.start()
tracing.lock_nothing(measuring)
sys.path.insert(0, {folder!r})
import calls

class Up(Exception):
    pass

def up(*_):
    raise Up

signal.signal(signal.SIGALRM, up)
for _ in range(100):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        calls.without_end()
    except Up:
        pass
    # With a lock that is left behind, it would wait here.
    calls.one()
measuring.stop()
print(sorted(measuring.get_data().lines({calls!r})))
"""

CALLS = """\
def one():
    return 1

def without_end():
    while True:
        one()
"""


def test_the_alarm_of_a_test_leaves_nothing_locked_while_coverage_is_measured(
    tmp_path: Path,
) -> None:
    calls = tmp_path / "calls.py"
    calls.write_text(CALLS, "utf-8")
    tests = str(Path(__file__).parent)
    script = INTERRUPTED.format(tests=tests, folder=str(tmp_path), calls=str(calls))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=15, check=False
    )
    assert (ended.stdout, ended.stderr) == ("[1, 2, 4, 5, 6]\n", "")
