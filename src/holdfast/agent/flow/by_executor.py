"""A loop on an executor that a program brings: its answers become texts, and nothing is journaled.

What the executor does with a call is its own affair: neither policy nor sandbox stands between.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import cast

from anyio import to_thread

from holdfast.agent.flow.ports import Executor, LookedUp, RefusedCall, Schema
from holdfast.contract.chunks import ChunkTable
from holdfast.contract.model import ModelReply
from holdfast.runtime.flow_calls import failure_text, raised, result_text
from holdfast.runtime.flow_session import Session


class ByExecutor:
    """Lets an executor complete and dispatch."""

    def __init__(self, executor: Executor, out: Session) -> None:
        self._executor = executor
        self._out = out

    def tool_schemas(self) -> Sequence[Schema]:
        """Those of the executor, if it has any."""
        return self._executor.tool_schemas()

    async def complete(self, rows: ChunkTable, tools: Sequence[Schema], /) -> ModelReply:
        """Ask it; TypeError when what it gives is no reply."""
        reply = await _given(self._executor.complete, rows, tools)
        if not isinstance(reply, ModelReply):
            raise TypeError(f"executor.complete must give a ModelReply, not {type(reply).__name__}")
        return reply

    async def settle(self, call: LookedUp, /) -> str:
        """What came of a call, as text."""
        if isinstance(call, RefusedCall):
            return failure_text(call.failure)
        try:
            call.tool.resource_key(call.arguments)
            value = await _given(self._executor.dispatch_tool, self._out, call.tool, call.arguments)
            return result_text(value)
        except Exception as error:  # noqa: BLE001 - a foreign tool may raise anything at all
            return failure_text(raised(error))


async def _given(function: Callable[..., object], *arguments: object) -> object:
    """What a function gives: awaited, or come to in a worker thread."""
    if iscoroutinefunction(function):
        return await cast("Awaitable[object]", function(*arguments))
    given = await to_thread.run_sync(partial(function, *arguments))
    return await given if isawaitable(given) else given
