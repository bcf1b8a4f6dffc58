"""While nothing may happen, nothing does: whichever way a process or a connection is wanted."""

import _posixsubprocess
import _thread
import multiprocessing
import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.util import spawnv_passfds
from pathlib import Path
from queue import SimpleQueue

import anyio
import pytest
from anyio import create_task_group, to_thread

from holdfast.execution.no_effects import EffectRefused, no_effects


def _way(name: str) -> Callable[..., object]:
    """One that nobody should take any more, and somebody will."""
    return getattr(os, name)


def _exec(mark: Path) -> None:
    os.execv("/bin/touch", ["touch", str(mark)])


def _forked(_mark: Path) -> None:
    if os.fork() == 0:
        os._exit(0)


def _spawned(mark: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=mark.touch)
    process.start()
    process.join()


def _bare(mark: Path) -> object:
    words = [b"touch", bytes(mark)]
    return spawnv_passfds(b"/bin/touch", words, [])


STARTS: dict[str, Callable[[Path], object]] = {
    "run": lambda mark: subprocess.run(["touch", str(mark)], check=True),
    "system": lambda mark: _way("system")(f"touch {mark}"),
    "exec": _exec,
    "fork": _forked,
    "forkpty": lambda _mark: pty.fork(),
    "posix_spawn": lambda mark: os.posix_spawn("/bin/touch", ["touch", str(mark)], {}),
    "spawn": lambda mark: _way("spawnv")(os.P_WAIT, "/bin/touch", ["touch", str(mark)]),
    "pty": lambda mark: pty.spawn(["touch", str(mark)]),
    "multiprocessing": _spawned,
    "what multiprocessing starts by": _bare,
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


def _refused() -> str:
    """Try; who was refused."""
    try:
        subprocess.run(["true"], check=True)
    except EffectRefused:
        return "refused"
    return "ran"


def _in_a_thread() -> str:
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(_refused()))
    thread.start()
    thread.join()
    return told[0]


def _in_a_bare_thread() -> str:
    told: SimpleQueue[str] = SimpleQueue()
    _thread.start_new_thread(lambda: told.put(_refused()), ())
    return told.get(timeout=10)


def _in_a_thread_of_a_thread() -> str:
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.append(_in_a_thread()))
    thread.start()
    thread.join()
    return told[0]


ELSEWHERE: dict[str, Callable[[], str]] = {
    "a thread": _in_a_thread,
    "a bare thread": _in_a_bare_thread,
    "a thread of a thread": _in_a_thread_of_a_thread,
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_threads_that_are_begun_inside_are_held_to_it(where: str) -> None:
    with no_effects():
        assert ELSEWHERE[where]() == "refused"
    assert ELSEWHERE[where]() == "ran"


def test_work_for_a_pool_that_was_there_before_is_held_to_it_and_other_work_is_not() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_refused).result() == "ran"
        with no_effects():
            assert pool.submit(_refused).result() == "refused"
        assert pool.submit(_refused).result() == "ran"


def test_a_pool_that_is_begun_inside_does_not_hold_what_others_hand_to_it() -> None:
    asked: SimpleQueue[str | None] = SimpleQueue()
    told: SimpleQueue[str] = SimpleQueue()
    with ThreadPoolExecutor(1) as pool:

        def others() -> None:
            while asked.get() is not None:
                told.put(pool.submit(_refused).result())

        stranger = threading.Thread(target=others)
        stranger.start()
        try:
            with no_effects():
                assert pool.submit(_refused).result() == "refused"
                asked.put("now")
                assert told.get(timeout=10) == "ran"
        finally:
            asked.put(None)
            stranger.join()


async def test_other_tasks_of_the_process_go_on_meanwhile() -> None:
    """A task that runs beside it, and threads that this uses, are free; its own are not."""
    begun, ended = anyio.Event(), anyio.Event()
    found: dict[str, str] = {}

    async def beside() -> None:
        await begun.wait()
        found["beside"] = _refused()
        found["beside, in a thread"] = await to_thread.run_sync(_refused)
        ended.set()

    async def its_own() -> None:
        found["its own"] = _refused()

    async with create_task_group() as tasks:
        tasks.start_soon(beside)
        await anyio.lowlevel.checkpoint()
        with no_effects():
            found["in a thread"] = await to_thread.run_sync(_refused)
            async with create_task_group() as inside:
                inside.start_soon(its_own)
            begun.set()
            await ended.wait()
            found["itself"] = _refused()
    assert found == {
        "in a thread": "refused",
        "its own": "refused",
        "beside": "ran",
        "beside, in a thread": "ran",
        "itself": "refused",
    }


def test_everywhere_means_threads_that_were_there_before_as_well() -> None:
    asked: SimpleQueue[str | None] = SimpleQueue()
    told: SimpleQueue[str] = SimpleQueue()

    def others() -> None:
        while asked.get() is not None:
            told.put(_refused())

    stranger = threading.Thread(target=others)
    stranger.start()
    try:
        for guard, expected in ((no_effects(), "ran"), (no_effects(everywhere=True), "refused")):
            with guard:
                asked.put("now")
                assert told.get(timeout=10) == expected
        asked.put("now")
        assert told.get(timeout=10) == "ran"
    finally:
        asked.put(None)
        stranger.join()


def test_what_is_left_behind_is_bound_as_long_as_somebody_around_it_holds() -> None:
    """A thread outlives the inner one of two: the outer one binds it still."""
    asked: SimpleQueue[str] = SimpleQueue()
    told: SimpleQueue[str] = SimpleQueue()

    def lingering() -> None:
        for _ in range(2):
            asked.get()
            told.put(_refused())

    with no_effects():
        with no_effects():
            thread = threading.Thread(target=lingering)
            thread.start()
        asked.put("now")
        assert told.get(timeout=10) == "refused"
    asked.put("now")
    assert told.get(timeout=10) == "ran"
    thread.join()


def test_what_starts_processes_without_a_word_is_asked_about_in_each_place_it_stands() -> None:
    with no_effects():
        for place in (_posixsubprocess, subprocess):
            with pytest.raises(EffectRefused):
                vars(place)["fork_exec" if place is _posixsubprocess else "_fork_exec"]()


def test_afterwards_everything_is_allowed_again_also_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), no_effects(), no_effects():
        raise ValueError("inside")
    with no_effects():
        with no_effects(), pytest.raises(EffectRefused):
            subprocess.run(["true"], check=True)
        with pytest.raises(EffectRefused):
            subprocess.run(["true"], check=True)
    assert subprocess.run([sys.executable, "-c", ""], check=True).returncode == 0
