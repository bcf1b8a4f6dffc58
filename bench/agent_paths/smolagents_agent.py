"""smolagents: `ToolCallingAgent.run`, one agent for all loops in turn; at once, one a thread.

It is synchronous, and it ends with a call of its own tool `final_answer`, which the server gives.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from smolagents import OpenAIModel, ToolCallingAgent, tool

from agent_paths import task


@tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second
    """
    return task.added(a, b)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    def made() -> ToolCallingAgent:
        model = OpenAIModel(task.MODEL, api_base=url, api_key=task.KEY)
        return ToolCallingAgent([add], model, verbosity_level=0)

    agent = made()
    agents: list[ToolCallingAgent] = []
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(task.CONCURRENT) as threads:

        async def once() -> str:
            return str(agent.run(task.QUESTION))

        async def many() -> list[str]:
            while len(agents) < task.CONCURRENT:
                agents.append(made())
            runs = [loop.run_in_executor(threads, one.run, task.QUESTION) for one in agents]
            return [str(said) for said in await asyncio.gather(*runs)]

        yield task.Loop("smolagents ToolCallingAgent.run (reused)", "peer", once, many)
