"""Work without a task group: begun, and ended by whoever began it."""

from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest

from holdfast.execution.drive import PlainTasks

pytestmark = pytest.mark.anyio


async def test_work_goes_on_side_by_side_and_what_is_left_is_cancelled() -> None:
    tasks, told = PlainTasks(), list[str]()
    first, second = anyio.Event(), anyio.Event()

    async def meet(mine: anyio.Event, other: anyio.Event) -> None:
        mine.set()
        await other.wait()
        told.append("met")

    async def stay() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            told.append("left")

    tasks.begin(meet(first, second))
    tasks.begin(meet(second, first))
    tasks.begin(stay())
    await first.wait()
    await anyio.wait_all_tasks_blocked()
    assert told == ["met", "met"]
    await tasks.end(20)
    assert told == ["met", "met", "left"]


async def test_it_is_waited_for_what_takes_a_while_to_end() -> None:
    tasks, told = PlainTasks(), list[str]()

    async def stay() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.02)
            told.append("cleaned up")

    tasks.begin(stay())
    await anyio.wait_all_tasks_blocked()
    await tasks.end(20)
    assert told == ["cleaned up"]


async def test_an_error_is_logged_and_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    tasks, told = PlainTasks(), list[str]()

    async def fail() -> None:
        raise LookupError("gone")

    async def go_on() -> None:
        await anyio.lowlevel.checkpoint()
        told.append("done")

    tasks.begin(fail())
    tasks.begin(go_on())
    await anyio.wait_all_tasks_blocked()
    assert told == ["done"]
    assert "LookupError: gone" in caplog.text
    await tasks.end(20)


async def test_a_cancellation_that_is_swallowed_comes_again() -> None:
    tasks, swallowed = PlainTasks(), list[int]()

    async def stubborn() -> None:
        for number in range(3):
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                swallowed.append(number)
        raise LookupError("over")

    tasks.begin(stubborn())
    await anyio.wait_all_tasks_blocked()
    await tasks.end(20)
    assert (swallowed, len(tasks)) == ([0, 1, 2], 0)


async def test_what_never_ends_is_left_after_a_while(caplog: pytest.LogCaptureFixture) -> None:
    tasks, may_end = PlainTasks(), list[bool]()

    async def deaf() -> None:
        while not may_end:
            with suppress(anyio.get_cancelled_exc_class()):
                await anyio.sleep_forever()

    tasks.begin(deaf())
    await anyio.wait_all_tasks_blocked()
    await tasks.end(0.15)
    assert len(tasks) == 1
    assert "1 pieces of work do not end" in caplog.text
    may_end.append(True)
    await tasks.end(20)
    assert len(tasks) == 0
