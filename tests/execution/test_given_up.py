"""Bodies that would not end: the answer comes, and the caller is left as it was."""

import threading
from collections.abc import Callable, Mapping

import anyio
import msgspec
import pytest
from support import make_tool, settle

from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, Tool
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


async def _stubborn_child() -> None:
    with anyio.CancelScope(shield=True):
        await anyio.sleep(1)


async def _group(_values: Mapping[str, object], _runtime: Runtime) -> object:
    async with anyio.create_task_group() as group:
        group.start_soon(_stubborn_child)
        await anyio.sleep(60)
    return None


async def _shielded(_values: Mapping[str, object], _runtime: Runtime) -> object:
    try:
        await anyio.sleep(60)
    finally:
        with anyio.move_on_after(1, shield=True):
            await anyio.sleep(60)
    return None


async def _swallowing(_values: Mapping[str, object], _runtime: Runtime) -> object:
    with anyio.move_on_after(0.01):
        await anyio.sleep(60)
    while True:
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            continue


BODIES = [_group, _shielded, _swallowing]


def _tool(body: Callable[..., object], seconds: float | None = 0.05) -> Tool:
    tool = make_tool(body, style="async", limits=Limits(wall_seconds=seconds))
    return msgspec.structs.replace(tool, interrupt_behavior="cancel")


@pytest.mark.parametrize("body", BODIES)
async def test_a_deadline_is_a_timeout_and_never_the_callers_cancellation(
    body: Callable[..., object],
) -> None:
    with anyio.fail_after(10):
        envelope = await settle(_tool(body))
        await anyio.sleep(0.01)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TIMEOUT


@pytest.mark.parametrize("body", BODIES)
async def test_an_abort_is_an_interruption_and_never_the_callers_cancellation(
    body: Callable[..., object],
) -> None:
    abort = Abort()
    timer = threading.Timer(0.05, abort.set)
    timer.start()
    with anyio.fail_after(10):
        envelope = await settle(_tool(body, None), abort=abort)
        await anyio.sleep(0.01)
    timer.join()
    assert envelope.failure is not None
    assert envelope.failure.message == "Tool 'probe' was cancelled."


async def test_a_body_may_handle_the_failure_of_what_it_waits_for() -> None:
    def broken() -> None:
        raise LookupError("no such thing")

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        try:
            await anyio.to_thread.run_sync(broken)
        except LookupError:
            return "coped"
        return "unreached"

    assert (await settle(_tool(body, 5))).result == {"text": "coped"}


async def test_a_late_abort_does_not_cancel_what_the_caller_does_next() -> None:
    abort = Abort()

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.lowlevel.checkpoint()
        # Pulled in the last step: the news is queued when the call is already over.
        abort.set()
        return "done"

    envelope = await settle(_tool(body, 5), abort=abort)
    assert envelope.result == {"text": "done"}
    await anyio.sleep(0.02)


async def test_a_waiting_body_hears_an_abort_from_another_thread() -> None:
    abort = Abort()

    async def body(_values: Mapping[str, object], runtime: Runtime) -> object:
        await runtime.abort.wait()
        return "heard"

    timer = threading.Timer(0.05, abort.set)
    timer.start()
    tool = make_tool(body, style="async")
    with anyio.fail_after(5):
        envelope = await settle(tool, abort=abort)
    timer.join()
    assert envelope.result == {"text": "heard"}


def _asking(entered: list[object]) -> Tool:
    tool = make_tool(
        lambda values, _runtime: entered.append(dict(values)),
        schema={"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}},
    )
    return msgspec.structs.replace(tool, permission_policy="always_ask")


async def test_whoever_answers_cannot_change_the_call() -> None:
    async def meddling(ask: Ask) -> Answer | None:
        ask.prepared.arguments["n"] = 10**9
        return Answer(allowed=True, by="mallory")

    entered: list[object] = []
    envelope = await settle(_asking(entered), '{"n": 1}', approver=meddling)
    assert envelope.ok
    assert entered == [{"n": 1}]


async def test_an_approver_that_fails_counts_as_nobody_there() -> None:
    async def broken(_ask: Ask) -> Answer | None:
        raise RuntimeError("no terminal")

    async def broken_later(_ask: Ask) -> Answer | None:
        await anyio.lowlevel.checkpoint()
        raise RuntimeError("no terminal")

    for approver in (broken, broken_later):
        entered: list[object] = []
        envelope = await settle(_asking(entered), '{"n": 1}', approver=approver)
        assert envelope.failure is not None
        assert envelope.failure.kind is FailureKind.REJECTED
        assert entered == []


async def test_an_abort_ends_the_wait_for_an_answer() -> None:
    async def slow(_ask: Ask) -> Answer | None:
        await anyio.sleep(60)
        return Answer(allowed=True, by="ada")

    async def quick(_ask: Ask) -> Answer | None:
        await anyio.lowlevel.checkpoint()
        return Answer(allowed=True, by="ada")

    abort = Abort()
    timer = threading.Timer(0.05, abort.set)
    timer.start()
    entered: list[object] = []
    with anyio.fail_after(5):
        envelope = await settle(_asking(entered), '{"n": 1}', approver=slow, abort=abort)
    timer.join()
    assert envelope.failure is not None
    assert envelope.failure.message == "Tool 'probe' was cancelled."
    assert entered == []
    assert (await settle(_asking(entered), '{"n": 1}', approver=quick)).ok


async def test_a_body_that_refuses_to_be_closed_is_left_alone() -> None:
    refused: list[str] = []
    # Asked for here: the body may be collected when no loop runs any more.
    cancelled = anyio.get_cancelled_exc_class()

    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        while True:
            try:
                await anyio.sleep(60)
            except cancelled:
                continue
            except GeneratorExit:
                if refused:
                    raise
                refused.append("once")

    with anyio.fail_after(10):
        envelope = await settle(_tool(body))
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TIMEOUT
    assert refused == ["once"]
