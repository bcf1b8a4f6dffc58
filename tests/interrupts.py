"""How long a call takes to end once it is interrupted."""

import time
from collections.abc import Callable

from anyio import create_task_group, sleep

from holdfast.app.holdfast import Holdfast
from holdfast.contract.envelope import Envelope
from holdfast.runtime.abort import Abort

TRIES = 5
"""A busy machine may be late once, and is not late every time."""


async def until(true: Callable[[], bool]) -> None:
    """Look until it is so: what is waited for happens in another process."""
    while not true():  # noqa: ASYNC110 - nobody there sets an event of ours
        await sleep(0.01)


async def interrupted(
    hf: Holdfast, tool: str, arguments: dict[str, object], runs: Callable[[], bool]
) -> tuple[Envelope, float]:
    """Interrupt a call once it runs; its answer, and the seconds until it came."""
    abort = Abort()
    at: list[float] = []
    answers: list[Envelope] = []
    async with create_task_group() as group:

        async def interrupt() -> None:
            await until(runs)
            at.append(time.monotonic())
            abort.set()

        group.start_soon(interrupt)
        answers.append(await hf.settle(tool, arguments, abort=abort))
        at.append(time.monotonic())
        if len(at) == 1:
            group.cancel_scope.cancel()
    return answers[0], at[-1] - at[0]
