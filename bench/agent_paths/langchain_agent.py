"""langchain: an agent of `create_agent`, its `ainvoke`, without a checkpointer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from agent_paths import task


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return task.added(a, b)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[task.Loop]:
    model = ChatOpenAI(model=task.MODEL, base_url=url, api_key=task.KEY)
    agent = create_agent(model, tools=[add])

    async def once() -> str:
        told = await agent.ainvoke({"messages": [{"role": "user", "content": task.QUESTION}]})
        return told["messages"][-1].content

    yield task.Loop("langchain create_agent ainvoke", "peer", once)
