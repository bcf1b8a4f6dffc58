"""How peers write the same call down: a checkpointer of langgraph, a session of openai-agents."""

import itertools
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import aiosqlite
from agents import SQLiteSession
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from journal_ways import ARGUMENTS, ENVELOPE, Call, Way


async def peers(folder: Path, opened: AsyncExitStack) -> AsyncGenerator[Way]:
    """All of them, opened."""
    yield Way("langgraph SqliteSaver, one thread", [langgraph(folder)], 150, "peer")
    saving = await langgraph_async(folder, opened)
    yield Way("langgraph AsyncSqliteSaver, one thread", [saving], 100, "peer")
    yield Way("openai-agents SQLiteSession", [openai_agents(folder)], 100, "peer")


def _checkpoint(number: int) -> tuple[dict, dict]:
    """The state after a tool's result: the call and the result are its last messages."""
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {
        "messages": [
            {"type": "ai", "tool_calls": [{"id": f"c{number}", "name": "add", "args": ARGUMENTS}]},
            {"type": "tool", "tool_call_id": f"c{number}", "content": ENVELOPE.decode()},
        ]
    }
    return checkpoint, {"source": "loop", "step": number, "parents": {}}


_CONFIG = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}


def langgraph(folder: Path) -> Call:
    """The call as pending writes of its step, then the checkpoint after it."""
    connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    numbers = itertools.count()
    config = _CONFIG

    async def call() -> None:
        nonlocal config
        checkpoint, metadata = _checkpoint(next(numbers))
        config = saver.put(config, checkpoint, metadata, {})
        saver.put_writes(config, [("messages", checkpoint["channel_values"]["messages"][1])], "t")

    return call


async def langgraph_async(folder: Path, opened: AsyncExitStack) -> Call:
    connection = await opened.enter_async_context(aiosqlite.connect(folder / "langgraph-async.db"))
    saver = AsyncSqliteSaver(connection)
    await saver.setup()
    numbers = itertools.count()
    config = _CONFIG

    async def call() -> None:
        nonlocal config
        checkpoint, metadata = _checkpoint(next(numbers))
        config = await saver.aput(config, checkpoint, metadata, {})
        message = checkpoint["channel_values"]["messages"][1]
        await saver.aput_writes(config, [("messages", message)], "t")

    return call


def openai_agents(folder: Path) -> Call:
    """The call, then its output, as the runner adds them."""
    session = SQLiteSession("bench", folder / "agents.db")
    numbers = itertools.count()

    async def call() -> None:
        name = f"call_{next(numbers)}"
        asked = {"type": "function_call", "call_id": name, "name": "add", "arguments": ARGUMENTS}
        result = {"type": "function_call_output", "call_id": name, "output": ENVELOPE.decode()}
        await session.add_items([asked])
        await session.add_items([result])

    return call
