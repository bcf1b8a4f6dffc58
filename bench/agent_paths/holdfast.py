"""holdfast: runs of sessions that are open, all of it journaled (SQLite), over its own adapter.

A loop is one wake: what a person says goes into a session that has run before, and the agent runs
until it rests. Sessions are opened before the clock starts, as the agents of peers are; what a loop
costs that also opens and closes a session is measured beside it. The one file of this benchmark
that knows how a session is run.
"""

import asyncio
import gc
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_paths import task
from holdfast import Holdfast, tool
from holdfast.app.agent_session import AgentSession
from holdfast.app.model_settings import ModelSettings
from holdfast.app.settings import Settings, Surroundings

IDLE = 300


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return task.added(a, b)


@tool(name="add", read_only=True)
async def sum_of(a: int, b: int) -> int:
    """Add two numbers."""
    return task.added(a, b)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    async with holdfast_at(url) as hf, _sessions(hf) as sessions:
        yield task.Loop(
            "holdfast, a wake of an open session (journal on)",
            "ours",
            sessions.once,
            many=sessions.many,
            prepare=sessions.prepare,
            idle_bytes=lambda: _idle_bytes(hf),
        )


@asynccontextmanager
async def opened_reading(url: str) -> AsyncIterator[task.Loop]:
    """The same with a tool that says that it changes nothing."""
    async with holdfast_at(url, sum_of) as hf, _sessions(hf) as sessions:
        name = "holdfast, the same with a tool that only reads"
        yield task.Loop(
            name, "also ours", sessions.once, many=sessions.many, prepare=sessions.prepare
        )


@asynccontextmanager
async def holdfast_at(url: str, adds: object = add) -> AsyncIterator[Holdfast]:
    """With the model of this address, in a home of its own."""
    model = ModelSettings(kind="openai", model=task.MODEL, base_url=url)
    settings = Settings(model={task.MODEL: model})
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as work:
        around = Surroundings(data_home=Path(home))
        async with Holdfast(
            tools=[adds], workspace=work, settings=settings, surroundings=around
        ) as hf:
            yield hf


class _Sessions:
    """Sessions that ran once and wait, each for one loop."""

    def __init__(self, hf: Holdfast) -> None:
        self._hf = hf
        self._waiting: list[AgentSession] = []
        self._done: list[AgentSession] = []

    async def prepare(self, loops: int) -> None:
        """Have so many ready."""
        await self.close()
        self._waiting = [await _ran(self._hf) for _ in range(loops)]

    async def once(self) -> str:
        session = self._waiting.pop()
        self._done.append(session)
        return await _said(session)

    async def many(self) -> list[str]:
        return await asyncio.gather(*(self.once() for _ in range(task.CONCURRENT)))

    async def close(self) -> None:
        for session in (*self._waiting, *self._done):
            await session.close()
        self._waiting, self._done = [], []


@asynccontextmanager
async def _sessions(hf: Holdfast) -> AsyncIterator[_Sessions]:
    sessions = _Sessions(hf)
    yield sessions
    await sessions.close()


async def whole(hf: Holdfast) -> str:
    """A session made, run and closed."""
    session = await hf.new_session()
    said = await _said(session)
    await session.close()
    return said


async def _said(session: AgentSession) -> str:
    async for _ in session.run(task.QUESTION):
        pass
    assert session.last is not None
    return session.last.response


async def _idle_bytes(hf: Holdfast) -> float:
    """Sessions that ran once and are kept open: what each adds to resident memory."""
    kept = [await _ran(hf) for _ in range(20)]
    before = _resident()
    kept += [await _ran(hf) for _ in range(IDLE)]
    grown = _resident() - before
    for session in kept:
        await session.close()
    return grown / IDLE


async def _ran(hf: Holdfast) -> AgentSession:
    session = await hf.new_session()
    await _said(session)
    return session


def _resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
