"""Sandboxes of whole programs: ended, killed, forked, forgotten."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from execution.processes.ground import running_in

BEGIN = """
import gc, logging, os, signal, sys, threading, time, warnings
from pathlib import Path
from holdfast.flow import (
    BackendToolCommandRun, BackendToolFilesExists, BackendToolFilesWrite, SandboxBinding,
    open_sandbox,
)
Run = BackendToolCommandRun
# In development mode the loop tells how slow the machine is; whether that is so is not asked here.
logging.getLogger("asyncio").setLevel(logging.ERROR)
def made(sandbox):
    return sandbox.dispatch(Run("pwd")).stdout.decode().strip()
"""


def _program(code: str, place: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", "-c", BEGIN + code],
        cwd=place,
        # What a killed program leaves behind goes with the test.
        env={**os.environ, "TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _said(code: str, place: Path) -> list[str]:
    program = _program(code, place)
    said, complained = program.communicate(timeout=18)
    assert (program.returncode, complained) == (0, "")
    return said.splitlines()


def _until_empty(place: Path) -> None:
    while running_in(place):
        threading.Event().wait(0.01)


def test_a_program_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    code = """
sandbox = open_sandbox()
sandbox.acquire()
print(made(sandbox), flush=True)
threading.Thread(target=sandbox.dispatch, args=(Run("sleep 1000"),), daemon=True).start()
time.sleep(0.2)
"""
    (place,) = _said(code, tmp_path)
    assert not Path(place).exists()
    _until_empty(Path(place))


def test_killing_the_program_ends_all_that_runs_in_its_sandboxes(tmp_path: Path) -> None:
    place = tmp_path.resolve() / "place"
    code = f"""
sandbox = open_sandbox("local", {str(place)!r})
sandbox.dispatch(Run("(setsid sleep 1000 &) ; touch begun; sleep 1000"))
"""
    program = _program(code, tmp_path)
    try:
        while not (place / "begun").exists():
            threading.Event().wait(0.01)
        assert running_in(place)
    finally:
        program.send_signal(signal.SIGKILL)
        program.communicate()
    _until_empty(place)


def test_a_forgotten_handle_ends_its_processes_and_its_directory(tmp_path: Path) -> None:
    code = """
sandbox = open_sandbox()
place = made(sandbox)
del sandbox
gc.collect()
while os.path.exists(place):
    time.sleep(0.01)
print("gone")
binding = SandboxBinding().to("local")
binding.require_sandbox()
place = made(binding.require_sandbox())
del binding
gc.collect()
while os.path.exists(place):
    time.sleep(0.01)
print("gone, too")
"""
    assert _said(code, tmp_path) == ["gone", "gone, too"]


def test_a_forked_child_neither_uses_nor_ends_what_its_parent_opened(tmp_path: Path) -> None:
    code = """
sandbox = open_sandbox()
sandbox.acquire()
place = made(sandbox)
sys.stdout.reconfigure(line_buffering=True)
child = os.fork()
if child == 0:
    warnings.simplefilter("ignore", ResourceWarning)  # of what it inherited
    answer = sandbox.dispatch(Run("true"))
    print(answer.kind, "forked from" in answer.message)
    sandbox.release()
    with open_sandbox() as own:
        print(own.dispatch(Run("echo own")).stdout)
    left = open_sandbox()
    made(left)
    sys.exit(0)
print(os.waitpid(child, 0)[1])
print(os.path.isdir(place), sandbox.dispatch(Run("echo parent")).stdout)
sandbox.release()
print(os.path.isdir(place))
"""
    assert _said(code, tmp_path) == [
        "sandbox_closed True",
        "b'own\\n'",
        "0",
        "True b'parent\\n'",
        "False",
    ]


def test_an_interrupt_ends_the_command_that_is_waited_for(tmp_path: Path) -> None:
    place = tmp_path.resolve() / "place"
    code = f"""
with open_sandbox("local", {str(place)!r}) as sandbox:
    try:
        sandbox.dispatch(Run("touch begun; sleep 1000"))
    except KeyboardInterrupt:
        print("interrupted", sandbox.dispatch(Run("echo still")).stdout)
"""
    program = _program(code, tmp_path)
    while not (place / "begun").exists():
        threading.Event().wait(0.01)
    program.send_signal(signal.SIGINT)
    said, complained = program.communicate(timeout=18)
    assert (program.returncode, complained) == (0, "")
    assert said == "interrupted b'still\\n'\n"
    _until_empty(place)


def test_many_threads_share_one_sandbox(tmp_path: Path) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
with open_sandbox() as sandbox, ThreadPoolExecutor(8) as threads:
    told = threads.map(lambda n: sandbox.dispatch(Run(f"echo {n}")).stdout, range(40))
    print([int(one) for one in told] == list(range(40)))
"""
    assert _said(code, tmp_path) == ["True"]
