"""Session in, session out: loops and compressions on the journal, the policy and the models here.

By default the calls of a loop are settled as all others are, under the id of its output session.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Unpack

from anyio import to_thread

from holdfast.agent.flow import compressing
from holdfast.agent.flow.asking import asked, model_tool
from holdfast.agent.flow.background import BACKGROUND, refuse_event_loop
from holdfast.agent.flow.by_executor import ByExecutor
from holdfast.agent.flow.loop import awaited_loop, begin_loop
from holdfast.agent.flow.loop_session import LoopSession
from holdfast.agent.flow.ports import Executor, Ground, LookedUp, Opening, RefusedCall, Schema
from holdfast.agent.flow.rounds import Rounds
from holdfast.app.flow_file import opened_file
from holdfast.app.flow_holdfast import FlowHoldfast
from holdfast.app.flow_model import Provider, chosen_model, used
from holdfast.app.flow_options import (
    MOST_ROUNDS,
    LoopOptions,
    SettlingOptions,
    checked,
    checked_settling,
    settling,
)
from holdfast.contract.chunks import ChunkTable
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.model import ChatModel, Heard, ModelReply, ModelTool
from holdfast.runtime.flow_session import Session
from holdfast.runtime.flow_table import build_table
from holdfast.tools.flow import FLOW_BUILTINS


def run_session_loop(
    user: Session,
    agent: Session,
    agent_provider: Provider = None,
    tools: Iterable[FlowToolCall] = (),
    **options: Unpack[LoopOptions],
) -> LoopSession:
    """Let a model go on with the user's session until it is done; the output is there at once.

    Its rows come in the background: reading them waits. A table of the built-in tools and ``tools``
    is built for this run alone; ToolNameConflictError for a name taken twice. The model may be one
    that is configured, by its name; without one, the only one there is: ConfigurationError.
    """
    refuse_event_loop("run_session_loop", "run_session_loop_async")
    checked(options, "run_session_loop")
    if isinstance(user, LoopSession):
        user.wait()
    wanted, opening = _prepared(agent, agent_provider, tools, options)
    return begin_loop(user, agent, wanted, opening)


async def run_session_loop_async(
    user: Session,
    agent: Session,
    agent_provider: Provider = None,
    tools: Iterable[FlowToolCall] = (),
    **options: Unpack[LoopOptions],
) -> LoopSession:
    """The same in the event loop of whoever awaits it; what comes back is done."""
    checked(options, "run_session_loop_async")
    wanted, opening = _prepared(agent, agent_provider, tools, options)
    return await awaited_loop(user, agent, wanted, opening)


def run_session_compress(
    user: Session,
    agent: Session,
    agent_provider: Provider = None,
    instruction: str = compressing.INSTRUCTION,
    **options: Unpack[SettlingOptions],
) -> Session:
    """Have a model tell a session again in short; gives a session with that as its one USER row.

    RuntimeError when the model called tools although it was given none, or said nothing.
    """
    refuse_event_loop("run_session_compress", "run_session_compress_async")
    made: list[Session] = []

    async def work() -> None:
        made.append(
            await run_session_compress_async(user, agent, agent_provider, instruction, **options)
        )

    begun = BACKGROUND.start(work)
    begun.wait()
    error = begun.error()
    if error is not None:
        raise error
    return made[0]


async def run_session_compress_async(
    user: Session,
    agent: Session,
    agent_provider: Provider = None,
    instruction: str = compressing.INSTRUCTION,
    **options: Unpack[SettlingOptions],
) -> Session:
    """The same in the event loop of whoever awaits it."""
    checked_settling(options, "run_session_compress")
    async with used(chosen_model(agent_provider, options), agent_provider) as model:
        made = await compressing.compress(user, agent, model, instruction)
    async with FlowHoldfast(made, {}, settling(options)) as journal:
        await journal.ended(made)
    return made


def _prepared(
    agent: Session,
    provider: Provider,
    tools: Iterable[FlowToolCall],
    options: LoopOptions,
) -> tuple[Rounds, Opening]:
    table = build_table(FLOW_BUILTINS, tools)
    wanted = Rounds(
        agent=agent.chunk_table.rows,
        table=table,
        most=options.get("max_tool_rounds", MOST_ROUNDS),
        budget=options.get("budget_total_tokens"),
        on_budget=options.get("on_budget_exceeded"),
    )
    executor = options.get("executor")
    if executor is not None:
        return wanted, partial(_on_executor, executor=executor, options=options)
    model = chosen_model(provider, options)
    return wanted, partial(_on_model, used=used(model, provider), table=table, options=options)


@asynccontextmanager
async def _on_executor(
    out: Session, *, executor: Executor, options: LoopOptions
) -> AsyncGenerator[Ground]:
    """What the program brings; nothing is judged or journaled."""
    with await to_thread.run_sync(opened_file, out, options) as file:
        yield Ground(ByExecutor(executor, out), (file,))


@asynccontextmanager
async def _on_model(
    out: Session,
    *,
    used: AbstractAsyncContextManager[ChatModel],
    table: Mapping[str, FlowToolCall],
    options: LoopOptions,
) -> AsyncGenerator[Ground]:
    """The model, and the pipeline for its calls."""
    with await to_thread.run_sync(opened_file, out, options) as file:
        async with used as model, FlowHoldfast(out, table, settling(options)) as session:
            if session.parts.telemetry is not None:
                session.parts.telemetry.asks_models_of(model.provider)
            yield Ground(_Settling(session, model, options.get("on_event")), (session, file))


class _Settling:
    """Asks the model, and has calls settled by the pipeline."""

    def __init__(self, session: FlowHoldfast, model: ChatModel, heard: Heard | None) -> None:
        self._session = session
        self._model = model
        self._heard = heard
        self._schemas: Sequence[Schema] = ()
        self._tools: tuple[ModelTool, ...] = ()

    def tool_schemas(self) -> Sequence[Schema]:
        return ()

    async def complete(self, rows: ChunkTable, tools: Sequence[Schema], /) -> ModelReply:
        if tools is not self._schemas:
            self._schemas, self._tools = tools, tuple(map(model_tool, tools))
        return await asked(self._model, rows, self._tools, self._heard, self._session.diary)

    async def settle(self, call: LookedUp, /) -> str:
        if isinstance(call, RefusedCall):
            return await self._session.refused_text(call.asked, call.failure)
        return await self._session.row_text(call.asked, call.tool, call.arguments)
