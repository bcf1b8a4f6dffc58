"""holdfast: a session made, run once and closed for each loop. Beside the row of a wake."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_paths import holdfast, task


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    async with holdfast.holdfast_at(url) as hf:
        name = "holdfast, a session made, run and closed (journal on)"
        yield task.Loop(name, "also ours", lambda: holdfast.whole(hf))
