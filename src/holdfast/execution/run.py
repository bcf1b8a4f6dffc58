"""Running one permitted call: whatever the body does, an Outcome comes back.

This is the one place that meets any exception a tool body raises. It decides nothing about
permission and words no answers.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import aclosing
from types import CoroutineType
from typing import cast

import msgspec

from holdfast.contract.call import (
    Ask,
    Ending,
    Interrupted,
    Outcome,
    Permit,
    Raised,
    Returned,
    Verdict,
)
from holdfast.contract.json_value import plain
from holdfast.contract.person import Postponed
from holdfast.contract.ports import Answer, Approver, is_answer
from holdfast.contract.runtime import AbortSignal, Progress, ProgressSink, Runtime
from holdfast.contract.tool import Body, Tool
from holdfast.execution.drive import CancelledError, Suspended, Work
from holdfast.execution.threads import in_thread

_log = logging.getLogger("holdfast")

IN_PLACE = frozenset({"async", "inline"})
"""Styles whose first step is taken by whoever begins it, and not in a thread."""


class _Waiting(msgspec.Struct, frozen=True):
    """A body that took its first step and waits for something."""

    work: Work
    waiting_for: object


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A call that took its first step and has to be awaited."""

    permit: Permit
    runtime: Runtime
    waiting: _Waiting


def begin(permit: Permit, runtime: Runtime) -> Outcome | Begun:
    """Take the first step of a permitted call. Most calls end there, and nothing was awaited."""
    prepared = permit.prepared
    ending = _first_step(prepared.tool.body, prepared.values, runtime)
    if isinstance(ending, Returned) or not isinstance(ending, _Waiting):
        return Outcome(permit=permit, ending=ending)
    return Begun(permit=permit, runtime=runtime, waiting=ending)


async def finish(begun: Begun) -> Outcome:
    """Take a call that waits to its end."""
    ending = await _finish(begun.waiting, begun.permit.prepared.tool, begun.runtime)
    return Outcome(permit=begun.permit, ending=ending)


def give_up(begun: Begun) -> None:
    """End a call that waits, and must not go on."""
    _close(begun.waiting.work)


def _first_step(body: Body, values: Mapping[str, object], runtime: Runtime) -> Ending | _Waiting:
    """Take the first step. For most tools it is the only one."""
    if runtime.abort.aborted:
        return Interrupted()
    try:
        in_place = body.style in IN_PLACE
        given = body.invoke(values, runtime) if in_place else _elsewhere(body, values, runtime)
        if type(given) is not CoroutineType:
            return Returned(given)
        work = cast("Work", given)
        try:
            return _Waiting(work, work.send(None))
        except StopIteration as finished:
            return Returned(finished.value)
    except CancelledError:
        return Interrupted()
    except (Exception, SystemExit) as error:
        return Raised(error)


async def _finish(begun: _Waiting, tool: Tool, runtime: Runtime) -> Ending:
    abort = runtime.abort if tool.interrupt_behavior == "cancel" else None
    try:
        return await Suspended(begun.work, begun.waiting_for, tool.limits.wall_seconds, abort)
    except (Exception, SystemExit) as error:
        return Raised(error)
    finally:
        _close(begun.work)


def _close(work: Work) -> None:
    """End a body that was given up. What it says to that no longer matters."""
    try:
        work.close()
    except (Exception, SystemExit, CancelledError):
        return


def _elsewhere(body: Body, values: Mapping[str, object], runtime: Runtime) -> Work:
    match body.style:
        case "generator":
            return _in_thread(lambda: _drain(body.invoke(values, runtime), runtime.progress))
        case "async_generator":
            return _drain_async(body.invoke(values, runtime), runtime.progress)
        case _:
            return _in_thread(lambda: body.invoke(values, runtime))


async def driven(work: Work, seconds: float | None, abort: AbortSignal | None) -> Ending:
    """Take foreign work that is no tool to its end: its own, its deadline's or an abort's."""
    try:
        waiting_for = work.send(None)
    except StopIteration as finished:
        return Returned(finished.value)
    except CancelledError:
        return Interrupted()
    except (Exception, SystemExit) as error:
        return Raised(error)
    try:
        return await Suspended(work, waiting_for, seconds, abort)
    except (Exception, SystemExit) as error:
        return Raised(error)
    finally:
        _close(work)


async def verdict_of(judged: Awaitable[Verdict], abort: AbortSignal) -> Verdict | Interrupted:
    """Wait for a verdict that somebody outside has a say in; an abort ends the wait."""
    ending = await driven(_awaited(judged), None, abort)
    if isinstance(ending, Raised):
        raise ending.error
    given = ending.value if isinstance(ending, Returned) else Interrupted()
    return Interrupted() if abort.aborted else cast("Verdict | Interrupted", given)


async def _awaited(judged: Awaitable[Verdict]) -> object:
    return await judged


async def answer_to(
    ask: Ask, approver: Approver, abort: AbortSignal
) -> Answer | Postponed | Interrupted | None:
    """Put the question; an abort ends the wait. An approver that fails counts as nobody there."""
    ending = await driven(_asked(approver, ask), None, abort)
    if isinstance(ending, Returned) and ending.value is not None:
        return cast("Answer | Postponed", ending.value)
    return Interrupted() if abort.aborted else _unanswered(ending, ask)


def _unanswered(ending: Ending, ask: Ask) -> None:
    if not isinstance(ending, Returned):
        _log.error("the approver gave up; nobody answers for %s", ask.prepared.tool.name)


async def _asked(approver: Approver, ask: Ask) -> object:
    try:
        answer = cast("object", await approver(ask))
    except Exception:
        _log.exception("the approver failed; nobody answers for %s", ask.prepared.tool.name)
        return None
    if answer is None or isinstance(answer, Postponed) or is_answer(answer):
        return answer
    _log.error("the approver gave a %s, which is no Answer; it counts for nothing", type(answer))
    return None


async def _in_thread(call: Callable[[], object]) -> object:
    value = await in_thread(call)
    if type(value) is CoroutineType:
        return await cast("Work", value)
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
