"""How long a call takes to end once it is interrupted."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from anyio import create_task_group, fail_after, sleep

from holdfast.app.holdfast import Holdfast
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.runtime.abort import Abort

TRIES = 12
"""A busy machine may be late often, and is not late every time."""
SOON = 0.25


class Running(NamedTuple):
    """A call to be interrupted."""

    arguments: dict[str, object]
    runs: Callable[[], bool]
    """Whether it has begun what it is interrupted in."""


async def until(true: Callable[[], bool]) -> None:
    """Look until it is so: what is waited for happens in another process."""
    while not true():  # noqa: ASYNC110 - nobody there sets an event of ours
        await sleep(0.01)


async def interrupted(hf: Holdfast, tool: str, running: Running) -> float:
    """Interrupt a call once it runs; the seconds until its answer came, which says so."""
    abort = Abort()
    at: list[float] = []
    answers: list[Envelope] = []
    with fail_after(15):
        async with create_task_group() as group:

            async def interrupt() -> None:
                await until(running.runs)
                at.append(time.monotonic())
                abort.set()

            group.start_soon(interrupt)
            answers.append(await hf.settle(tool, running.arguments, abort=abort))
            at.append(time.monotonic())
            group.cancel_scope.cancel()
    assert len(at) == 2, f"it ended before it was interrupted: {answers[0]}"
    failure = answers[0].failure
    assert failure is not None, answers[0]
    assert (failure.kind, failure.retryable) == (FailureKind.EXECUTION_ERROR, False)
    assert failure.message == f"Tool '{tool}' was cancelled."
    return at[1] - at[0]


async def ends_at_once(
    hf: Holdfast, tool: str, prepared: Callable[[int], Awaitable[Running]]
) -> None:
    """An interrupt ends the call within 250 ms, in one of several turns."""
    took: list[float] = []
    for turn in range(TRIES):
        took.append(await interrupted(hf, tool, await prepared(turn)))
        if took[-1] < SOON:
            return
    raise AssertionError(f"it took too long every time: {took}")
