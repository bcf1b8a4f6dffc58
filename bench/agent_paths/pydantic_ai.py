"""pydantic-ai: `Agent.run`, with an async tool that runs in place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agent_paths import task


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return task.added(a, b)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    model = OpenAIChatModel(task.MODEL, provider=OpenAIProvider(base_url=url, api_key=task.KEY))
    agent = Agent(model, tools=[add])

    async def once() -> str:
        return (await agent.run(task.QUESTION)).output

    yield task.Loop("pydantic-ai Agent.run", "peer", once)
