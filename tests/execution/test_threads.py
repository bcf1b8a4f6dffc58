"""Threads for bodies that block: reused, given up, never waited for."""

import contextvars
import os
import subprocess
import sys
import threading
import time

import anyio
import pytest
from anyio import CancelScope, create_task_group, fail_after, move_on_after, sleep

from holdfast.contract.errors import Unavailable
from holdfast.execution import threads
from holdfast.execution.drive import LoopCaller
from holdfast.execution.threads import in_thread, wait_in_thread


async def test_a_value_or_an_error_comes_back() -> None:
    def fails() -> None:
        raise ValueError("no")

    assert await in_thread(lambda: 7) == 7
    with pytest.raises(ValueError, match="no"):
        await in_thread(fails)


async def test_a_thread_is_used_again() -> None:
    threads: list[object] = []  # themselves: the number of one that ended is given to another
    for _ in range(30):
        threads.append(await in_thread(threading.current_thread))
        await sleep(0.002)
    # Not always the one before: another that was still busy may have come back meanwhile.
    assert len(set(threads)) < len(threads)


async def test_context_goes_along() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("mine")
    assert await in_thread(variable.get) == "mine"


async def test_only_so_many_run_at_once_and_few_threads_stay() -> None:
    running: list[int] = []
    most = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal most
        with lock:
            running.append(1)
            most = max(most, len(running))
        time.sleep(0.02)
        with lock:
            running.pop()

    async with create_task_group() as group:
        for _ in range(threads.MOST_AT_ONCE * 2):
            group.start_soon(in_thread, work)
    assert 1 < most <= threads.MOST_AT_ONCE
    with fail_after(5):
        while sum(one.name == "holdfast tool" for one in threading.enumerate()) > threads.MOST_IDLE:
            await sleep(0.01)


async def test_work_of_the_loop_can_be_waited_for() -> None:
    async def work() -> str:
        await sleep(0.01)
        return "done"

    assert await in_thread(lambda: wait_in_thread(work())) == "done"


async def test_who_gives_up_cancels_what_the_body_waits_for() -> None:
    heard: list[str] = []

    async def work() -> None:
        try:
            await sleep(60)
        except BaseException:
            heard.append("cancelled")
            raise

    def body() -> None:
        try:
            wait_in_thread(work())
        finally:
            heard.append("body over")

    with move_on_after(0.1):
        await in_thread(body)
    with fail_after(5):
        while len(heard) < 2:
            await sleep(0.01)
    assert sorted(heard) == ["body over", "cancelled"]


async def test_a_body_that_was_given_up_waits_for_nothing_more() -> None:
    go = threading.Event()
    said: list[str] = []

    async def work() -> None:
        said.append("ran")

    def body() -> None:
        go.wait()
        try:
            wait_in_thread(work())
        except RuntimeError as problem:
            said.append(str(problem))

    with move_on_after(0.05):
        await in_thread(body)
    go.set()
    with fail_after(5):
        while not said:
            await sleep(0.01)
    assert "the call is over" in said[0]


async def test_outside_of_a_tools_thread_there_is_nothing_to_wait_in() -> None:
    async def work() -> None:
        return None

    with pytest.raises(RuntimeError, match="await it instead"):
        wait_in_thread(work())


async def test_too_many_given_up_bodies_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST_GIVEN_UP", 2)
    go = threading.Event()
    for _ in range(2):
        with move_on_after(0.05):
            await in_thread(go.wait)
    with pytest.raises(Unavailable, match="still run"):
        await in_thread(lambda: None)
    go.set()
    with fail_after(5):
        while True:
            try:
                assert await in_thread(lambda: "again") == "again"
                break
            except Unavailable:
                await sleep(0.01)


async def test_a_body_that_ended_in_the_moment_it_was_given_up_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    class Told(threads._Errand):  # pyright: ignore[reportPrivateUsage] - only there is its end seen
        """Says when its thread is through with it."""

        def run(self) -> None:
            super().run()
            ended.set()

    def body() -> None:
        begun.set()
        go.wait()

    monkeypatch.setattr(threads, "_Errand", Told)
    with CancelScope() as scope:
        async with create_task_group() as group:
            group.start_soon(in_thread, body)
            while not begun.is_set():
                await sleep(0.001)
            # The loop is busy while the body ends: it hears of the end and of the abort at once.
            go.set()
            assert ended.wait(10)
            scope.cancel()
    given_up = threads._given_up  # pyright: ignore[reportPrivateUsage] - the count itself
    assert not [errand for errand in given_up if isinstance(errand, Told)]


def test_a_body_that_never_ends_keeps_no_process_from_exiting() -> None:
    code = (
        "import anyio, time\n"
        "from holdfast.execution.threads import in_thread\n"
        "async def main():\n"
        "    with anyio.move_on_after(0.1): await in_thread(lambda: time.sleep(600))\n"
        "anyio.run(main)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=15)


@pytest.mark.measured
def test_after_a_fork_new_threads_are_made() -> None:
    code = (
        "import anyio, os\n"
        "from holdfast.execution.threads import in_thread\n"
        "async def main(): await in_thread(os.getpid); await anyio.sleep(0.05)\n"
        "anyio.run(main)\n"
        "child = os.fork()\n"
        "anyio.run(main)\n"
        "os._exit(0 if not child else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=15)


def test_work_for_a_loop_that_has_ended_is_closed() -> None:
    async def caller() -> LoopCaller:
        return LoopCaller()

    work = sleep(60)
    ended = anyio.run(caller)
    with pytest.raises(RuntimeError, match="closed"):
        ended.begin(work)
    assert work.cr_frame is None, "so nobody warns of it"


def test_a_forked_child_begins_with_threads_of_its_own() -> None:
    async def leaves_a_thread() -> None:
        await in_thread(lambda: None)
        await sleep(0.05)

    anyio.run(leaves_a_thread)
    assert threads._idle  # pyright: ignore[reportPrivateUsage] - nothing else tells
    child = os.fork()
    if not child:
        os._exit(len(threads._idle) + len(threads._given_up))  # pyright: ignore[reportPrivateUsage] - nothing else tells
    assert os.waitpid(child, 0)[1] == 0
