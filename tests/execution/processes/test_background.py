"""A loop in the background: any thread may wait for it, and nobody has to end it."""

import asyncio
import os
import threading

import pytest

from holdfast.execution.processes.background import BackgroundLoop


async def _thread() -> int:
    return threading.get_ident()


def test_all_work_is_done_in_one_thread_that_is_not_ours() -> None:
    loop = BackgroundLoop()
    seen: list[int] = []
    together = threading.Barrier(4)

    def wait() -> None:
        together.wait()
        seen.append(loop.wait_for(_thread))

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


def test_what_the_work_raises_is_raised_where_it_is_waited_for() -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        BackgroundLoop().wait_for(fail)


def test_it_may_be_waited_for_while_another_loop_runs() -> None:
    loop = BackgroundLoop()

    async def outer() -> int:
        return loop.wait_for(_thread)

    assert asyncio.run(outer()) != threading.get_ident()


def test_it_does_not_wait_for_itself() -> None:
    loop = BackgroundLoop()

    async def inner() -> int:
        return loop.wait_for(_thread)

    with pytest.raises(RuntimeError, match="cannot wait for itself"):
        loop.wait_for(inner)


def test_an_interrupt_takes_the_work_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = BackgroundLoop()
    cancelled = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def interrupted(_self: object, _timeout: object = None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("concurrent.futures.Future.result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.wait_for(work)
    assert cancelled.wait(15)


def test_a_forked_child_begins_anew() -> None:
    loop = BackgroundLoop()
    parent = loop.wait_for(_thread)
    loop.forget()
    assert loop.wait_for(_thread) not in (parent, threading.get_ident())
    assert os.getpid() > 0
