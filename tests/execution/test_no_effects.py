"""While nothing may happen, nothing does: whichever way a process or a connection is wanted."""

import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.execution.no_effects import EffectRefused, no_effects


def _way(name: str) -> Callable[..., object]:
    """One that nobody should take any more, and somebody will."""
    return getattr(os, name)


def _exec(mark: Path) -> None:
    os.execv("/bin/touch", ["touch", str(mark)])


def _forked(_mark: Path) -> None:
    if os.fork() == 0:
        os._exit(0)


STARTS: dict[str, Callable[[Path], object]] = {
    "run": lambda mark: subprocess.run(["touch", str(mark)], check=True),
    "system": lambda mark: _way("system")(f"touch {mark}"),
    "exec": _exec,
    "fork": _forked,
    "forkpty": lambda _mark: pty.fork(),
    "posix_spawn": lambda mark: os.posix_spawn("/bin/touch", ["touch", str(mark)], {}),
    "spawn": lambda mark: _way("spawnv")(os.P_WAIT, "/bin/touch", ["touch", str(mark)]),
    "pty": lambda mark: pty.spawn(["touch", str(mark)]),
}


@pytest.mark.parametrize("way", STARTS)
def test_no_process_is_started(way: str, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    with no_effects(), pytest.raises(EffectRefused, match="a replay starts no process"):
        STARTS[way](mark)
    assert not mark.exists()


@pytest.fixture
def server() -> socket.socket:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    return listening


def _sent(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.sendto(b"x", ("127.0.0.1", port))


def _bound(_port: int) -> None:
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))


def _connected(port: int) -> None:
    with socket.socket() as ours:
        ours.connect_ex(("127.0.0.1", port))


CALLS: dict[str, Callable[[int], object]] = {
    "connect": lambda port: socket.create_connection(("127.0.0.1", port)).close(),
    "connect_ex": _connected,
    "look up": lambda _port: socket.getaddrinfo("localhost", 80),
    "by name": lambda _port: socket.gethostbyname("localhost"),
    "by address": lambda _port: socket.gethostbyaddr("127.0.0.1"),
    "name of": lambda _port: socket.getnameinfo(("127.0.0.1", 80), 0),
    "send": _sent,
    "bind": _bound,
}


@pytest.mark.parametrize("way", CALLS)
def test_nobody_is_called(way: str, server: socket.socket) -> None:
    with no_effects(), pytest.raises(EffectRefused, match="a replay reaches no network"):
        CALLS[way](server.getsockname()[1])
    with server, pytest.raises(TimeoutError):
        server.accept()


def test_other_threads_are_held_to_it() -> None:
    problems: list[BaseException] = []

    def attempt() -> None:
        try:
            subprocess.run(["true"], check=True)
        except EffectRefused as problem:
            problems.append(problem)

    with no_effects():
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(problems) == 1


def test_afterwards_everything_is_allowed_again_also_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), no_effects(), no_effects():
        raise ValueError("inside")
    with no_effects():
        with no_effects(), pytest.raises(EffectRefused):
            subprocess.run(["true"], check=True)
        with pytest.raises(EffectRefused):
            subprocess.run(["true"], check=True)
    assert subprocess.run([sys.executable, "-c", ""], check=True).returncode == 0
