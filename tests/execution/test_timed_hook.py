"""A hook in Python has its time, and takes neither the loop nor the process with it."""

import threading
from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio
import pytest
from support import make_call, make_judge, make_pipeline, make_tool

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.call import Prepared
from holdfast.contract.envelope import Envelope
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Hook, Inspection, Opinion
from holdfast.execution.drive import CancelledError
from holdfast.execution.timed_hook import TimedHook
from holdfast.policy.watchdog import Watchdog
from holdfast.runtime.abort import Abort

CALL = Inspection(
    prepared=Prepared(call=make_call(), tool=make_tool(), values={}, checked={}),
    manifest=NO_AGENT,
    uses=(),
)
LONG = 600.0
"""Longer than any test may take: whoever waits for it fails."""


def timed(hook: Any, seconds: float = LONG) -> TimedHook:
    return TimedHook(cast("Hook", hook), "probe", seconds)


async def asked(hook: Any, seconds: float = LONG) -> Opinion:
    opinion = Watchdog([timed(hook, seconds)]).consult(CALL)
    return opinion if isinstance(opinion, Opinion) else await opinion


async def waits(_inspection: Inspection, /) -> Opinion:
    await anyio.sleep(LONG)
    return NOTHING_AGAINST_IT


async def will_not_end(_inspection: Inspection, /) -> Opinion:
    while True:
        try:
            await anyio.sleep(LONG)
        except CancelledError:
            continue


class Blocking:
    """Blocks its thread until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.entered = threading.Event()
        self.thread: int | None = None

    def __call__(self, _inspection: Inspection, /) -> Opinion:
        self.thread = threading.get_ident()
        self.entered.set()
        self.released.wait(LONG)
        return NOTHING_AGAINST_IT


async def content(_inspection: Inspection, /) -> Opinion:
    await anyio.lowlevel.checkpoint()
    return NOTHING_AGAINST_IT


class Methodical:
    async def __call__(self, _inspection: Inspection, /) -> Opinion:
        return NOTHING_AGAINST_IT


def plain(_inspection: Inspection, /) -> Opinion:
    return NOTHING_AGAINST_IT


def plain_at_first(inspection: Inspection, /) -> Awaitable[Opinion]:
    return content(inspection)


@pytest.mark.parametrize(
    "hook",
    [content, Methodical(), plain, plain_at_first],
    ids=["async", "async object", "plain", "plain that gives something to await"],
)
@pytest.mark.parametrize("seconds", [LONG, float("inf")])
async def test_a_quick_hook_is_heard(hook: object, seconds: float) -> None:
    assert await asked(hook, seconds) is NOTHING_AGAINST_IT


@pytest.mark.parametrize("hook", [waits, will_not_end])
async def test_an_async_hook_that_takes_too_long_refuses(hook: object) -> None:
    opinion = await asked(hook, 0.01)
    assert opinion.verdict == "deny"
    assert opinion.reason == (
        "The watchdog 'probe' failed (TimeoutError: it took longer than 0.01 s)."
    )


async def test_a_hook_that_blocks_refuses_and_holds_up_nobody_else() -> None:
    hook = Blocking()
    try:
        opinion = await asked(hook, 0.05)
        assert "it took longer than 0.05 s" in opinion.reason
        assert hook.thread != threading.get_ident()
    finally:
        hook.released.set()


async def aborted_while(hook: Hook | Blocking) -> tuple[str, list[str]]:
    abort = Abort()
    ran: list[str] = []
    answers: list[Envelope] = []
    tool = make_tool(lambda _values, _runtime: ran.append("ran"))
    pipeline = make_pipeline(tool, judge=make_judge(hooks=[timed(hook)]))

    async def pull() -> None:
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        abort.set()

    async with anyio.create_task_group() as group:
        group.start_soon(pull)
        answers.append(await pipeline.settle(make_call(), abort))
    (failure,) = [answer.failure for answer in answers]
    assert failure is not None
    return failure.message, ran


async def test_an_abort_ends_the_wait_for_a_hook() -> None:
    blocking = Blocking()
    try:
        for hook in (waits, will_not_end, blocking):
            assert await aborted_while(hook) == ("Tool 'probe' was cancelled.", [])
    finally:
        blocking.released.set()


async def test_a_caller_that_is_cancelled_is_cancelled() -> None:
    with anyio.move_on_after(0.01) as scope:
        await asked(waits)
    assert scope.cancelled_caught


def _raising(error: BaseException) -> list[Callable[[Inspection], object]]:
    def at_once(_inspection: Inspection) -> Opinion:
        raise error

    async def first_step(_inspection: Inspection) -> Opinion:
        raise error

    async def later(_inspection: Inspection) -> Opinion:
        await anyio.lowlevel.checkpoint()
        raise error

    return [at_once, first_step, later]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise OSError("no words")

    __repr__ = __str__


BREAKING = [
    SystemExit(3),
    CancelledError(),
    KeyError("x"),
    Unspeakable(),
]


@pytest.mark.parametrize("error", BREAKING, ids=lambda one: type(one).__name__)
async def test_whatever_a_hook_raises_is_a_refusal(error: BaseException) -> None:
    for hook in _raising(error):
        opinion = await asked(hook)
        assert opinion.verdict == "deny"
        assert "The watchdog 'probe' failed (" in opinion.reason
        pipeline = make_pipeline(make_tool(), judge=make_judge(hooks=[timed(hook)]))
        envelope = await pipeline.settle(make_call(), Abort())
        assert envelope.failure is not None
        assert envelope.failure.kind == "rejected"
