"""Tools whose calls are written down, and a look into the journal of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from holdfast import Holdfast, tool
from holdfast.app.settings import (
    Settings,
    Surroundings,
)
from holdfast.app.store import open_store
from holdfast.contract.call import Ask
from holdfast.contract.events import (
    Event,
)
from holdfast.contract.journal import Journal
from holdfast.contract.ports import Answer
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

YES = Answer(allowed=True, by="ada", note="go on")
SECRET = "s3cr3t-of-the-house"


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def pages() -> str:
    """Write much."""
    return "page\n" * 1000


@tool(permission_policy="always_ask")
async def launch(name: str) -> str:
    """Launch something."""
    LAUNCHED.append(name)
    return f"{name} is on its way"


@tool
async def broken() -> None:
    """Fail."""
    raise ValueError("it broke")


@tool
async def forever() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


LAUNCHED: list[str] = []


async def willing(_ask: Ask) -> Answer | None:
    return YES


async def unwilling(_ask: Ask) -> Answer | None:
    return Answer(allowed=False, by="ada", note="not today")


def around(root: Path, *secrets: str) -> Surroundings:
    return Surroundings(data_home=root / "data", state_home=root / "state", secrets=secrets)


@asynccontextmanager
async def store_of(root: Path) -> AsyncGenerator[Store]:
    clock = SystemClock()
    store = open_store(Settings(), around(root), clock, TimeIds(clock))
    try:
        yield store
    finally:
        await store.journal.close()


@asynccontextmanager
async def journal_of(root: Path) -> AsyncGenerator[Journal]:
    async with store_of(root) as store:
        yield store.journal


async def events_of(root: Path, session_id: str) -> tuple[Event, ...]:
    async with journal_of(root) as journal:
        return await journal.events(session_id)


def kinds(events: tuple[Event, ...]) -> list[str]:
    return [event.type for event in events]


def opened(root: Path, *secrets: str, **options: object) -> Holdfast:
    tools = [add, pages, launch, broken, forever]
    chosen = {"settings": Settings(), "surroundings": around(root, *secrets), **options}
    return Holdfast(tools=tools, **chosen)  # type: ignore[arg-type] - options of the tests
