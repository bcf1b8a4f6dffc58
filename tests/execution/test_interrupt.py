"""Aborts reach the calls that allow it; a caller's own cancellation is never swallowed."""

import threading
from collections.abc import Mapping

import anyio
import msgspec
import pytest
from support import make_call, make_tool

from holdfast.contract.call import Ending, Interrupted, Permit, Prepared, Returned, TimedOut
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.contract.tool import InterruptBehavior, Tool
from holdfast.execution.run import Begun, begin, finish
from holdfast.runtime.abort import Abort, Either
from holdfast.testing.fakes import FakeProgress

pytestmark = pytest.mark.anyio


def _waiting(log: list[str], behavior: InterruptBehavior) -> Tool:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.sleep(0.2)
        finally:
            log.append("ended")
        return "done"

    return msgspec.structs.replace(make_tool(body, style="async"), interrupt_behavior=behavior)


async def _run(tool: Tool, abort: Abort) -> Ending:
    prepared = Prepared(call=make_call(), tool=tool, checked={}, values={})
    runtime = Runtime(
        call_id="cal_test",
        session=SessionFacts(id="ses_test"),
        progress=FakeProgress(),
        abort=abort,
    )
    permit = Permit(prepared=prepared, grounds="a test")
    begun = begin(permit, runtime)
    if isinstance(begun, Begun):
        return (await finish(begun)).ending
    return begun.ending


async def _aborted(tool: Tool, abort: Abort) -> Ending:
    """Run the tool and pull the switch while it waits."""
    endings: list[Ending] = []

    async def call() -> None:
        endings.append(await _run(tool, abort))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.sleep(0.02)
        abort.set()
    return endings[0]


async def test_an_abort_stops_a_call_that_may_be_cancelled() -> None:
    log: list[str] = []
    abort = Abort()
    ending = await _aborted(_waiting(log, "cancel"), abort)
    assert ending == Interrupted()
    assert log == ["ended"]


async def test_an_abort_from_another_thread_arrives() -> None:
    abort = Abort()
    timer = threading.Timer(0.02, abort.set)
    timer.start()
    assert await _run(_waiting([], "cancel"), abort) == Interrupted()
    timer.join()


async def test_an_abort_waits_for_a_call_that_blocks() -> None:
    abort = Abort()
    ending = await _aborted(_waiting([], "block"), abort)
    assert ending == Returned("done")


async def test_a_call_after_the_abort_does_not_start() -> None:
    abort = Abort()
    abort.set()
    log: list[str] = []
    assert await _run(_waiting(log, "block"), abort) == Interrupted()
    assert log == []


async def test_an_interrupted_body_may_answer_with_what_it_has() -> None:
    async def body(_values: Mapping[str, object], runtime: Runtime) -> object:
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            return "half of it"
        return "unreached"

    tool = msgspec.structs.replace(make_tool(body, style="async"), interrupt_behavior="cancel")
    abort = Abort()
    ending = await _aborted(tool, abort)
    assert ending == Returned("half of it")


async def test_a_body_can_watch_the_signal_itself() -> None:
    async def body(_values: Mapping[str, object], runtime: Runtime) -> object:
        await runtime.abort.wait()
        return "stopped by itself"

    abort = Abort()
    ending = await _aborted(make_tool(body, style="async"), abort)
    assert ending == Returned("stopped by itself")


@pytest.mark.parametrize("rude", [False, True])
async def test_the_callers_own_cancellation_goes_through(rude: bool) -> None:
    reached: list[str] = []

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            reached.append("body")
            if not rude:
                raise
        return "swallowed"

    with anyio.move_on_after(0.05) as scope:
        await _run(make_tool(body, style="async"), Abort())
        reached.append("caller")
    assert scope.cancelled_caught
    assert reached == ["body"]


async def test_a_caller_is_not_cancelled_after_its_call_timed_out() -> None:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.sleep(60)
        return None

    tool = msgspec.structs.replace(
        make_tool(body, style="async"),
        limits=msgspec.structs.replace(make_tool().limits, wall_seconds=0.02),
    )
    survived: list[Ending] = []
    with anyio.CancelScope() as scope:
        survived.append(await _run(tool, Abort()))
        await anyio.sleep(0.01)
        survived.append(await _run(tool, Abort()))
    assert survived == [TimedOut(0.02), TimedOut(0.02)]
    assert not scope.cancelled_caught


async def test_many_calls_at_once_keep_their_own_deadlines() -> None:
    endings: dict[int, Ending] = {}

    async def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.sleep(0.01)
        return "done"

    async def one(number: int) -> None:
        endings[number] = await _run(make_tool(body, style="async"), Abort())

    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(one, number)
    assert set(map(repr, endings.values())) == {repr(Returned("done"))}


async def test_pulling_the_switch_twice_is_harmless_and_unsubscribing_works() -> None:
    abort = Abort()
    heard: list[str] = []
    forget = abort.subscribe(lambda: heard.append("forgotten"))
    forget()
    forget()
    abort.subscribe(lambda: heard.append("once"))
    abort.set()
    abort.set()
    abort.subscribe(lambda: heard.append("at once"))
    assert heard == ["once", "at once"]
    assert abort.aborted


@pytest.mark.parametrize("pulled", ["one", "other", "both"])
async def test_two_signals_are_one_and_it_is_heard_once(pulled: str) -> None:
    one, other = Abort(), Abort()
    either = Either(one, other)
    heard: list[str] = []
    forget = either.subscribe(lambda: heard.append("forgotten"))
    forget()
    either.subscribe(lambda: heard.append("once"))
    assert not either.aborted
    if pulled != "other":
        one.set()
    if pulled != "one":
        other.set()
    either.subscribe(lambda: heard.append("at once"))
    assert heard == ["once", "at once"]
    assert either.aborted
    with anyio.fail_after(5):
        await either.wait()
