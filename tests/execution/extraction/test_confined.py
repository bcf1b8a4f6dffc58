"""A worker can compute and nothing else: asked of the filter, and tried in a process of its own."""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from execution.bpf import answer

from holdfast.execution.extraction import confined
from holdfast.execution.kernel import landlock, privileges, seccomp
from holdfast.execution.kernel.seccomp import ALLOW
from holdfast.execution.kernel.system_calls import NUMBERS, Machine, NoSuchMachine

MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
REFUSED = 0x00050001
ROOT = Path(confined.__file__).resolve().parents[3]

PROBE = """
import json, os, resource, socket, sys
sys.path.append({root!r})
from holdfast.execution.extraction.confined import confine_thread, limit
import html.entities
limit(300 << 20, 30)
confine_thread({abi})

def told(attempt, *arguments):
    try:
        attempt(*arguments)
    except BaseException as problem:
        return type(problem).__name__
    return "done"

found = {{
    "read": told(open, "/etc/hostname"),
    "list": told(os.listdir, "/"),
    "write": told(open, {place!r}, "w"),
    "own code": told(open, html.entities.__file__),
    "ask": told(socket.socket, socket.AF_INET),
    "ask locally": told(socket.socket, socket.AF_UNIX),
    "fork": told(os.fork),
    "execute": told(os.execv, sys.executable, ["python", "-c", ""]),
    "signal": told(os.kill, os.getppid(), 0),
    "much memory": told(bytearray, 1 << 30),
    "more": told(resource.setrlimit, resource.RLIMIT_AS, (1 << 40, 1 << 40)),
    "compute": told(sorted, range(10_000)),
}}
print(json.dumps(found))
"""


def tried(place: Path, abi: int) -> dict[str, str]:
    code = PROBE.format(root=str(ROOT), abi=abi, place=str(place))
    ended = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, check=True, timeout=15
    )
    return json.loads(ended.stdout)


@pytest.mark.parametrize("known", [True, False], ids=["landlock", "no landlock"])
def test_nothing_is_left_but_computing(tmp_path: Path, known: bool) -> None:
    abi = landlock.version() if known else 0
    if known and not abi:
        pytest.skip("this kernel has no Landlock")
    found = tried(tmp_path / "made", abi)
    own_code = found.pop("own code")
    assert own_code == ("done" if known else "PermissionError")
    assert found.pop("compute") == "done"
    assert found.pop("much memory") == "MemoryError"
    assert found.pop("more") in ("ValueError", "PermissionError")
    if not known:
        # Names can be listed without opening a file; what is in them cannot be read.
        found.pop("list")
    assert set(found.values()) == {"PermissionError"}, found
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("files", [True, False])
def test_the_filter_refuses_others_and_files_unless_they_are_watched(
    machine: Machine, files: bool
) -> None:
    steps = confined.program(machine, files=files)
    numbers = NUMBERS[machine]

    def asked(name: str, *arguments: int) -> int:
        return answer(steps, numbers[name], 0, *arguments)

    for name in ("execve", "execveat", "kill", "tgkill", "pidfd_open", "pidfd_send_signal"):
        assert asked(name) == REFUSED
    assert asked("openat") == (ALLOW if files else REFUSED)
    assert asked("clone", 0x3D0F00) == ALLOW  # a thread
    assert asked("clone", 0x1200011) == REFUSED  # a process
    assert asked("ioctl") == ALLOW
    if machine == "x86_64":
        assert asked("fork") == asked("vfork") == REFUSED


def test_a_thread_can_be_confined_by_itself() -> None:
    found: list[object] = []

    def work() -> None:
        confined.confine_thread(landlock.version())
        for attempt in (lambda: Path("/etc/hostname").read_bytes(), os.fork, socket.socket):
            try:
                found.append(attempt())
            except PermissionError:
                found.append("refused")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["refused"] * 3


def test_limits_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "setrlimit", given.__setitem__)
    confined.limit(1 << 30, 30)
    assert given == {
        resource.RLIMIT_AS: (1 << 30, 1 << 30),
        resource.RLIMIT_CPU: (30, 30),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
    }


def test_on_a_machine_that_is_not_known_the_rest_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def unknown() -> Machine:
        raise NoSuchMachine("no such machine")

    monkeypatch.setattr(confined, "this_machine", unknown)
    monkeypatch.setattr(privileges, "gain_nothing", lambda: given.append("gain"))
    monkeypatch.setattr(privileges, "drop_capabilities", lambda: given.append("drop"))
    monkeypatch.setattr(seccomp, "confine_thread", given.append)
    confined.confine_thread(0)
    assert given == ["gain", "drop"]
