"""openai-agents: `Runner.run` over its chat-completions model, tracing off."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from agent_paths import task


@function_tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return task.added(a, b)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    config = RunConfig(tracing_disabled=True)
    async with AsyncOpenAI(base_url=url, api_key=task.KEY) as client:
        model = OpenAIChatCompletionsModel(task.MODEL, openai_client=client)
        agent = Agent(name="adder", tools=[add], model=model)

        async def once() -> str:
            return (await Runner.run(agent, task.QUESTION, run_config=config)).final_output

        yield task.Loop("openai-agents Runner.run (tracing off)", "peer", once)
