"""inspect-ai: `Model.generate_loop` over its OpenAI provider, chat completions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model
from inspect_ai.tool import Tool, tool

from agent_paths import task


@tool
def add() -> Tool:
    """The tool, as this library wants it made."""

    async def execute(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: the first
            b: the second
        """
        return task.added(a, b)

    return execute


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    model = get_model(
        f"openai/{task.MODEL}",
        # It would let ten at a time through by itself.
        config=GenerateConfig(max_connections=task.CONCURRENT),
        base_url=url,
        api_key=task.KEY,
        responses_api=False,
    )
    tools = [add()]

    async def once() -> str:
        _, output = await model.generate_loop([ChatMessageUser(content=task.QUESTION)], tools)
        return output.completion

    async with model:
        yield task.Loop("inspect-ai Model.generate_loop", "peer", once)
