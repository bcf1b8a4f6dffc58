"""Running one permitted call: whatever the body does, an Outcome comes back.

This is the one place that meets any exception a tool body raises. It decides nothing about
permission and words no answers.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from contextlib import aclosing
from types import CoroutineType
from typing import cast

from anyio import to_thread

from holdfast.contract.call import Ending, Outcome, Permit, Raised, Returned
from holdfast.contract.json_value import plain
from holdfast.contract.runtime import Progress, ProgressSink, Runtime
from holdfast.contract.tool import Tool
from holdfast.execution.drive import drive


async def run(permit: Permit, runtime: Runtime, ticks: Callable[[], int]) -> Outcome:
    """Run the call that was permitted."""
    started = ticks()
    prepared = permit.prepared
    try:
        ending = await _ending(prepared.tool, prepared.values, runtime)
    except (Exception, SystemExit) as error:
        ending = Raised(error)
    return Outcome(permit=permit, ending=ending, duration_ns=ticks() - started)


async def _ending(tool: Tool, values: Mapping[str, object], runtime: Runtime) -> Ending:
    body = tool.body
    limits = tool.limits
    match body.style:
        case "inline":
            value = body.invoke(values, runtime)
            if type(value) is not CoroutineType:
                return Returned(value)
            work = cast("Coroutine[object, object, object]", value)
        case "async":
            work = cast("Coroutine[object, object, object]", body.invoke(values, runtime))
        case "thread":
            work = _in_thread(lambda: body.invoke(values, runtime))
        case "generator":
            work = _in_thread(lambda: _drain(body.invoke(values, runtime), runtime.progress))
        case "async_generator":
            work = _drain_async(body.invoke(values, runtime), runtime.progress)
    abort = runtime.abort if tool.interrupt_behavior == "cancel" else None
    return await drive(work, limits.wall_seconds, abort)


async def _in_thread(call: Callable[[], object]) -> object:
    # Abandoned at the deadline: a thread cannot be stopped, but nobody waits for it.
    value = await to_thread.run_sync(call, abandon_on_cancel=True)
    if type(value) is CoroutineType:
        return await cast("Coroutine[object, object, object]", value)
    return value


def _drain(items: object, progress: ProgressSink) -> object:
    """Report each item; the generator's return value counts, else the last item that is one."""
    generator = cast("Generator[object, None, object]", items)
    last: object = None
    while True:
        try:
            item = next(generator)
        except StopIteration as finished:
            return last if finished.value is None else finished.value
        last = _report(item, last, progress)


async def _drain_async(items: object, progress: ProgressSink) -> object:
    last: object = None
    async with aclosing(cast("AsyncGenerator[object, None]", items)) as generator:
        async for item in generator:
            last = _report(item, last, progress)
    return last


def _report(item: object, last: object, progress: ProgressSink) -> object:
    if isinstance(item, Progress):
        progress(item)
        return last
    progress(Progress(partial=plain(item)))
    return item
