"""The floor: aiohttp by hand, with msgspec."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from agent_paths import by_hand, task


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {task.KEY}"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as client:

        async def once() -> str:
            messages = by_hand.first()
            while True:
                asked = by_hand.asked(messages)
                async with client.post(f"{url}/chat/completions", data=asked) as answer:
                    body = await answer.read()
                said = by_hand.step(messages, body)
                if said is not None:
                    return said

        yield task.Loop("aiohttp by hand + msgspec", "floor", once)
