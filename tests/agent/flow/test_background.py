"""Work in the background: its end is told, interrupts end nothing else, dead loops are replaced."""

import threading
from concurrent.futures import Future

import pytest
from anyio import sleep_forever

from holdfast.agent.flow.background import BackgroundLoop, Work, in_event_loop


@pytest.fixture
def loop() -> BackgroundLoop:
    return BackgroundLoop()


def _failing(error: BaseException) -> object:
    raise error


async def _nothing() -> None:
    return None


def test_work_runs_in_one_thread_that_is_not_ours(loop: BackgroundLoop) -> None:
    names: list[str] = []

    async def note() -> None:
        names.append(threading.current_thread().name)
        assert in_event_loop()

    for _ in range(3):
        begun = loop.start(note)
        begun.wait()
        assert begun.error() is None
    assert names == ["holdfast flow"] * 3
    assert not in_event_loop()
    loop.stop()


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(2)])
def test_an_error_is_told_once_and_ends_nothing_else(
    loop: BackgroundLoop, error: BaseException
) -> None:
    async def fail() -> None:
        _failing(error)

    begun = loop.start(fail)
    begun.wait()
    assert begun.failed_unheard is error
    assert begun.error() is error
    assert begun.error() is None
    assert begun.failed_unheard is None
    after = loop.start(_nothing)
    after.wait()
    assert after.error() is None
    loop.stop()


def test_what_is_cancelled_says_so_when_it_has_cleaned_up(loop: BackgroundLoop) -> None:
    entered, cleaned = threading.Event(), threading.Event()

    async def wait() -> None:
        try:
            entered.set()
            await sleep_forever()
        finally:
            cleaned.set()

    begun = loop.start(wait)
    entered.wait()
    begun.cancel()
    begun.wait()
    assert cleaned.is_set()
    assert "cancelled" in str(begun.error())
    begun.cancel()
    loop.stop()


def test_work_that_never_began_has_an_end_too() -> None:
    begun = Work()
    begun.cancel()
    task: Future[None] = Future()
    begun.started(task)
    begun.cancel()
    begun.wait()
    assert "before its end" in str(begun.error())


def test_stopping_cancels_what_runs_and_a_new_loop_begins_when_needed(loop: BackgroundLoop) -> None:
    loop.stop()
    entered = threading.Event()

    async def wait() -> None:
        entered.set()
        await sleep_forever()

    begun = loop.start(wait)
    entered.wait()
    loop.stop()
    begun.wait()
    assert isinstance(begun.error(), RuntimeError)
    loop.stop()
    after = loop.start(_nothing)
    after.wait()
    assert after.error() is None
    loop.stop()


def test_what_does_not_stop_in_time_is_left_behind(
    loop: BackgroundLoop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("holdfast.agent.flow.background._LAST_SECONDS", 0.05)
    entered, leave = threading.Event(), threading.Event()

    async def block() -> None:
        entered.set()
        leave.wait()

    begun = loop.start(block)
    entered.wait()
    loop.stop()
    assert "did not stop in time" in caplog.text
    leave.set()
    begun.wait()


async def test_work_that_was_cancelled_before_it_began_never_does() -> None:
    """The loop may come to it later than whoever reads why there is nothing."""
    work, task, ran = Work(), Future[None](), list[str]()
    work.started(task)
    task.cancel()
    assert isinstance(work.error(), RuntimeError)

    async def late() -> None:
        ran.append("late")

    await work.run(late)
    assert (ran, work.error(), work.done) == ([], None, True)
