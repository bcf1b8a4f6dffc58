"""Whatever a body does, one Outcome comes back."""

import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import NoReturn

import anyio
import anyio.lowlevel
import pytest
from support import make_call, make_tool

from holdfast.contract.call import (
    Ending,
    Interrupted,
    Outcome,
    Permit,
    Prepared,
    Raised,
    Returned,
    TimedOut,
)
from holdfast.contract.runtime import AbortSignal, Progress, Runtime, SessionFacts
from holdfast.contract.tool import Limits, RunStyle, Tool
from holdfast.execution.drive import Suspended
from holdfast.execution.run import Begun, begin, finish
from holdfast.runtime.abort import Abort
from holdfast.testing.fakes import FakeProgress

pytestmark = pytest.mark.anyio


def _runtime(abort: AbortSignal | None = None, progress: FakeProgress | None = None) -> Runtime:
    return Runtime(
        call_id="cal_test",
        session=SessionFacts(id="ses_test"),
        progress=progress or FakeProgress(),
        abort=abort or Abort(),
    )


async def _run(tool: Tool, runtime: Runtime | None = None, **values: object) -> Outcome:
    prepared = Prepared(call=make_call(), tool=tool, checked={}, values=values)
    permit = Permit(prepared=prepared, grounds="a test")
    begun = begin(permit, runtime or _runtime())
    return await finish(begun) if isinstance(begun, Begun) else begun


def _tool(
    style: RunStyle,
    invoke: Callable[[Mapping[str, object], Runtime], object],
    *,
    seconds: float | None = 120.0,
) -> Tool:
    return make_tool(invoke, style=style, limits=Limits(wall_seconds=seconds))


async def test_an_async_body_is_awaited() -> None:
    async def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.lowlevel.checkpoint()
        return values["x"]

    outcome = await _run(_tool("async", body), x=7)
    assert outcome.ending == Returned(7)


async def test_a_body_that_never_waits_arms_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    armed: list[float] = []
    arm = Suspended._arm  # pyright: ignore[reportPrivateUsage] - the arming itself is what counts

    def noticed(suspended: Suspended, seconds: float, ending: Ending) -> None:
        armed.append(seconds)
        arm(suspended, seconds, ending)

    monkeypatch.setattr(Suspended, "_arm", noticed)

    async def quick(_values: Mapping[str, object], _runtime: Runtime) -> object:
        return "done"

    async def slow(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.sleep(0.001)
        return "done"

    assert (await _run(_tool("async", quick))).ending == Returned("done")
    assert armed == []
    await _run(_tool("async", slow))
    assert armed == [120.0]


async def test_a_sync_body_runs_in_a_worker_thread_and_an_inline_one_in_place() -> None:
    def where(_values: Mapping[str, object], _runtime: Runtime) -> object:
        return threading.current_thread().name

    here = threading.current_thread().name
    threaded = await _run(_tool("thread", where))
    inline = await _run(_tool("inline", where))
    assert isinstance(threaded.ending, Returned)
    assert threaded.ending.value != here
    assert inline.ending == Returned(here)


async def test_a_sync_body_that_gives_a_coroutine_is_awaited_too() -> None:
    async def later() -> str:
        await anyio.lowlevel.checkpoint()
        return "later"

    def body(_values: Mapping[str, object], _runtime: Runtime) -> Coroutine[object, object, str]:
        return later()

    assert (await _run(_tool("inline", body))).ending == Returned("later")
    assert (await _run(_tool("thread", body))).ending == Returned("later")


def _boom(_values: Mapping[str, object], _runtime: Runtime) -> NoReturn:
    raise LookupError("no such thing")


def _exit(_values: Mapping[str, object], _runtime: Runtime) -> NoReturn:
    sys.exit(3)


def _stop(_values: Mapping[str, object], _runtime: Runtime) -> NoReturn:
    raise StopIteration("odd")


async def _async_boom(_values: Mapping[str, object], _runtime: Runtime) -> object:
    raise LookupError("no such thing")


async def _late_boom(_values: Mapping[str, object], _runtime: Runtime) -> object:
    await anyio.lowlevel.checkpoint()
    raise LookupError("no such thing")


async def _failing_future(_values: Mapping[str, object], _runtime: Runtime) -> object:
    await anyio.to_thread.run_sync(lambda: _boom({}, _runtime))
    return "unreached"


@pytest.mark.parametrize(
    ("style", "body", "error"),
    [
        ("inline", _boom, LookupError),
        ("thread", _boom, LookupError),
        ("async", _async_boom, LookupError),
        ("async", _late_boom, LookupError),
        ("async", _failing_future, LookupError),
        ("inline", _exit, SystemExit),
        ("thread", _exit, SystemExit),
        ("inline", _stop, StopIteration),
    ],
)
async def test_whatever_a_body_raises_is_a_value(
    style: RunStyle, body: Callable[..., object], error: type[BaseException]
) -> None:
    ending = (await _run(_tool(style, body))).ending
    assert isinstance(ending, Raised)
    assert isinstance(ending.error, error)


async def test_stop_iteration_out_of_a_thread_does_not_hang() -> None:
    ending = (await _run(_tool("thread", _stop))).ending
    assert isinstance(ending, Raised)


async def test_an_awaiting_body_is_stopped_at_its_deadline() -> None:
    cleaned: list[str] = []

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.sleep(60)
        finally:
            cleaned.append("up")
        return "unreached"

    outcome = await _run(_tool("async", body, seconds=0.05))
    assert outcome.ending == TimedOut(0.05)
    assert cleaned == ["up"]


async def test_a_body_that_ignores_its_cancellation_is_given_up() -> None:
    swallowed: list[str] = []

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        while True:
            try:
                await anyio.sleep(60)
            except anyio.get_cancelled_exc_class():
                swallowed.append("cancellation")

    with anyio.fail_after(5):
        outcome = await _run(_tool("async", body, seconds=0.05))
    assert outcome.ending == TimedOut(0.05)
    assert swallowed == ["cancellation"]


async def test_a_body_may_clean_up_after_its_deadline() -> None:
    steps: list[str] = []

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.sleep(60)
        finally:
            await anyio.sleep(0.01)
            steps.append("cleaned up")
        return "unreached"

    outcome = await _run(_tool("async", body, seconds=0.05))
    assert outcome.ending == TimedOut(0.05)
    assert steps == ["cleaned up"]


async def test_a_value_returned_after_the_deadline_does_not_count() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        with anyio.CancelScope(shield=True):
            try:
                await anyio.sleep(60)
            except anyio.get_cancelled_exc_class():
                return "too late"
        return "unreached"

    assert (await _run(_tool("async", body, seconds=0.05))).ending == TimedOut(0.05)


async def test_an_error_after_the_deadline_is_still_the_deadline() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            raise ValueError("cleanup failed") from None
        return "unreached"

    assert (await _run(_tool("async", body, seconds=0.05))).ending == TimedOut(0.05)


async def test_a_thread_is_abandoned_at_its_deadline() -> None:
    release = threading.Event()

    def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        release.wait(10)
        return "late"

    try:
        outcome = await _run(_tool("thread", body, seconds=0.05))
    finally:
        release.set()
    assert outcome.ending == TimedOut(0.05)


async def test_a_tool_that_opted_out_has_no_deadline() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.sleep(0.02)
        return "in its own time"

    assert (await _run(_tool("async", body, seconds=None))).ending == Returned("in its own time")


async def test_task_groups_inside_a_body_end_with_it() -> None:
    ended: list[str] = []

    async def child() -> None:
        try:
            await anyio.sleep(60)
        finally:
            ended.append("child")

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        async with anyio.create_task_group() as group:
            group.start_soon(child)
            await anyio.sleep(60)
        return "unreached"

    assert (await _run(_tool("async", body, seconds=0.05))).ending == TimedOut(0.05)
    assert ended == ["child"]


async def test_time_limits_inside_a_body_still_work() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        with anyio.move_on_after(0.01):
            await anyio.sleep(60)
        return "went on"

    assert (await _run(_tool("async", body))).ending == Returned("went on")


async def test_a_generator_reports_items_and_returns_its_value() -> None:
    def body(_values: Mapping[str, object], _runtime: Runtime) -> Iterator[object]:
        yield Progress(message="half way", done=1, total=2)
        yield {"rows": 1}
        return "the end"

    progress = FakeProgress()
    outcome = await _run(_tool("generator", body), _runtime(progress=progress))
    assert outcome.ending == Returned("the end")
    assert progress.heard == [
        Progress(message="half way", done=1, total=2),
        Progress(partial={"rows": 1}),
    ]


async def test_an_async_generator_answers_with_its_last_item() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> AsyncIterator[object]:
        yield "first"
        await anyio.lowlevel.checkpoint()
        yield "second"
        yield Progress(message="tidying up")

    progress = FakeProgress()
    outcome = await _run(_tool("async_generator", body), _runtime(progress=progress))
    assert outcome.ending == Returned("second")
    assert [item.partial for item in progress.heard] == ["first", "second", None]


async def test_a_generator_without_items_or_value_answers_nothing() -> None:
    def body(_values: Mapping[str, object], _runtime: Runtime) -> Iterator[object]:
        yield from ()

    assert (await _run(_tool("generator", body))).ending == Returned(None)


async def test_a_generator_that_raises_is_a_value_like_any_other() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> AsyncIterator[object]:
        yield 1
        raise LookupError("gone")

    ending = (await _run(_tool("async_generator", body))).ending
    assert isinstance(ending, Raised)


async def test_a_cancelled_body_without_anyone_cancelling_is_interrupted() -> None:
    async def at_once(_values: Mapping[str, object], _runtime: Runtime) -> object:
        raise anyio.get_cancelled_exc_class()

    async def later(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.lowlevel.checkpoint()
        raise anyio.get_cancelled_exc_class()

    assert (await _run(_tool("async", at_once))).ending == Interrupted()
    assert (await _run(_tool("async", later))).ending == Interrupted()
