"""Calls inside the bodies of calls, in one task: who is stopped, and who hears of it."""

from collections.abc import Awaitable, Callable, Mapping

import anyio
import anyio.lowlevel
import msgspec
import pytest
from support import make_tool, settle

from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, Tool
from holdfast.execution.drive import LoopCaller
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


def _tool(work: Callable[[], Awaitable[object]], seconds: float | None = None) -> Tool:
    async def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        return await work()

    tool = make_tool(body, style="async", limits=Limits(wall_seconds=seconds))
    return msgspec.structs.replace(tool, interrupt_behavior="cancel")


class _Nest:
    """A call whose body settles another one; keeps what both of them saw."""

    def __init__(self, inner_abort: Abort | None = None) -> None:
        self.abort = Abort()
        self.begun = anyio.Event()
        self.inner_abort = inner_abort
        self.log: list[str] = []
        self.inner: Envelope | None = None

    async def waits(self) -> object:
        self.begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.log.append("the inner body ended")

    async def settles(self) -> object:
        self.inner = await settle(_tool(self.waits), abort=self.inner_abort)
        self.log.append("the outer body went on")
        return "done"

    async def outer(self, seconds: float | None = None) -> Envelope:
        return await settle(_tool(self.settles, seconds), abort=self.abort)


async def _while_it_runs(nest: _Nest, then: Callable[[], object]) -> Envelope:
    answers: list[Envelope] = []

    async def call() -> None:
        answers.append(await nest.outer())
        await anyio.lowlevel.checkpoint()  # whoever called is left as it was

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await nest.begun.wait()
            then()
    return answers[0]


def _kind(envelope: Envelope | None) -> FailureKind | None:
    assert envelope is not None
    return None if envelope.failure is None else envelope.failure.kind


def _message(envelope: Envelope | None) -> str:
    assert envelope is not None
    assert envelope.failure is not None
    return envelope.failure.message


async def test_an_abort_of_the_outer_call_is_no_answer_of_the_inner_one() -> None:
    nest = _Nest()
    envelope = await _while_it_runs(nest, nest.abort.set)
    assert _message(envelope) == "Tool 'probe' was cancelled."
    assert nest.log == ["the inner body ended"]


async def test_a_deadline_of_the_outer_call_is_no_answer_of_the_inner_one() -> None:
    nest = _Nest()
    with anyio.fail_after(10):
        envelope = await nest.outer(0.05)
    assert _kind(envelope) is FailureKind.TIMEOUT
    assert nest.log == ["the inner body ended"]


async def test_an_abort_of_the_inner_call_is_its_answer_and_the_outer_one_goes_on() -> None:
    abort = Abort()
    nest = _Nest(abort)
    envelope = await _while_it_runs(nest, abort.set)
    assert envelope.result == {"text": "done"}
    assert _message(nest.inner) == "Tool 'probe' was cancelled."
    assert nest.log == ["the inner body ended", "the outer body went on"]


async def test_an_abort_that_both_share_stops_both() -> None:
    nest = _Nest()
    nest.inner_abort = nest.abort
    envelope = await _while_it_runs(nest, nest.abort.set)
    assert _message(envelope) == "Tool 'probe' was cancelled."
    assert nest.log == ["the inner body ended"]


async def test_an_inner_call_that_was_stopped_before_leaves_the_outer_one_stoppable() -> None:
    inner_abort = Abort()
    nest = _Nest(inner_abort)
    again = anyio.Event()

    async def twice() -> object:
        await nest.settles()
        again.set()
        nest.inner_abort = None
        await nest.settles()
        return "unreached"

    async def pull() -> None:
        await nest.begun.wait()
        inner_abort.set()
        await again.wait()
        await anyio.sleep(0.01)
        nest.abort.set()

    answers: list[Envelope] = []
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(pull)
            answers.append(await settle(_tool(twice), abort=nest.abort))
    assert _message(answers[0]) == "Tool 'probe' was cancelled."
    ended = "the inner body ended"
    assert nest.log == [ended, "the outer body went on", ended]


async def test_a_cancel_of_the_task_goes_through_both() -> None:
    nest = _Nest()
    over = anyio.Event()

    async def call() -> None:
        try:
            await nest.outer()
            nest.log.append("an answer")
        finally:
            over.set()

    with anyio.fail_after(10):
        _, cancel = LoopCaller().begin(call())
        await nest.begun.wait()
        cancel()
        await over.wait()
    assert nest.log == ["the inner body ended"]


async def test_a_callers_scope_goes_through_both() -> None:
    nest = _Nest()
    with anyio.fail_after(10):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(nest.outer)
                await nest.begun.wait()
                scope.cancel()
        await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert nest.log == ["the inner body ended"]


async def test_while_a_stopped_body_cleans_up_its_calls_run_as_ever() -> None:
    cleaned: list[object] = []

    async def quick() -> object:
        await anyio.sleep(0.001)
        return "cleaned"

    class _Tidy(_Nest):
        async def settles(self) -> object:
            try:
                return await super().settles()
            finally:
                cleaned.append((await settle(_tool(quick))).result)

    nest = _Tidy()
    envelope = await _while_it_runs(nest, nest.abort.set)
    assert _message(envelope) == "Tool 'probe' was cancelled."
    assert cleaned == [{"text": "cleaned"}]


async def test_an_inner_body_that_would_not_end_is_closed_with_the_outer_one() -> None:
    cancelled = anyio.get_cancelled_exc_class()

    class _Stubborn(_Nest):
        async def waits(self) -> object:
            self.begun.set()
            try:
                while True:
                    try:
                        await anyio.sleep_forever()
                    except cancelled:
                        self.log.append("no")
            except GeneratorExit:
                self.log.append("closed")
                raise

    nest = _Stubborn()
    envelope = await _while_it_runs(nest, nest.abort.set)
    assert _message(envelope) == "Tool 'probe' was cancelled."
    assert nest.log == ["no", "closed"]


async def test_an_outer_body_may_answer_with_what_it_has() -> None:
    class _Keeps(_Nest):
        async def settles(self) -> object:
            try:
                return await super().settles()
            except anyio.get_cancelled_exc_class():
                return "half of it"

    nest = _Keeps()
    envelope = await _while_it_runs(nest, nest.abort.set)
    assert envelope.result == {"text": "half of it"}
    assert nest.log == ["the inner body ended"]


async def test_an_abort_in_the_moment_after_a_deadline_does_not_shorten_it() -> None:
    abort = Abort()
    log: list[str] = []

    async def tidy() -> object:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                abort.set()
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
                log.append("cleaned up")

    envelope = await settle(_tool(tidy, 0.02), abort=abort)
    assert _kind(envelope) is FailureKind.TIMEOUT
    assert log == ["cleaned up"]
