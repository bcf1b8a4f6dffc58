"""Tools that tell when they ran, and sessions recorded with them, held against what is now."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from holdfast import Agent, Holdfast, Image, Limits, OutputBound, tool
from holdfast.app.agent_settings import RuleSettings
from holdfast.app.configuration import Configuration
from holdfast.app.replaying import Now, recording, replay_strictly
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.app.store import journal_key, open_store
from holdfast.contract.events import Event
from holdfast.execution.no_effects import no_effects
from holdfast.record.codec import Chain
from holdfast.record.divergence import Divergence
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.replaying import Replayed
from holdfast.sources.intake import to_tool

RAN: list[str] = []
"""Every body that really ran."""


@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers. a: e.g. 1. b: e.g. 2."""
    RAN.append("add")
    return {"sum": a + b}


@tool(permission_policy="always_ask")
def wipe(path: str) -> str:
    """Wipe a path. path: e.g. 'x'."""
    RAN.append("wipe")
    return f"wiped {path}"


@tool
def crash(text: str = "boom") -> None:
    """Fail. text: e.g. 'boom'."""
    RAN.append("crash")
    raise RuntimeError(text)


@tool(limits=Limits(output=OutputBound(max_bytes=50, max_items=9)))
def flood(lines: int) -> dict[str, list[str]]:
    """Write lines. lines: e.g. 9."""
    RAN.append("flood")
    return {"lines": [f"line {number}" for number in range(lines)]}


@tool(limits=Limits(wall_seconds=0.05))
async def slow(seconds: float) -> str:
    """Wait. seconds: e.g. 0.5."""
    RAN.append("slow")
    await anyio.sleep(seconds)
    return "awake"


@tool
def picture() -> Image:
    """Draw."""
    RAN.append("picture")
    return Image(b"\x89PNG", "image/png")


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
def save(path: str) -> str:
    """Save a file. path: e.g. 'x'."""
    RAN.append("save")
    return path


TOOLS = (add, wipe, crash, flood, slow, picture, save)


def around(home: Path, *secrets: str) -> Surroundings:
    return Surroundings(data_home=home, state_home=home / "state", secrets=secrets)


Call = tuple[str, Any]


async def record(home: Path, calls: Sequence[Call], **options: Any) -> str:
    options.setdefault("tools", TOOLS)
    options.setdefault("settings", Settings())
    options.setdefault("surroundings", around(home))
    async with Holdfast(keep_outputs=True, **options) as hf:
        for name, arguments in calls:
            await hf.settle(name, arguments)
        return hf.session_id


async def recorded(home: Path, session: str) -> tuple[Event, ...]:
    clock = SystemClock()
    store = open_store(Settings(), around(home), clock, TimeIds(clock))
    try:
        return await recording(store.journal, store.archive, session)
    finally:
        await store.journal.close()


async def strictly(
    home: Path,
    session: str,
    *,
    tools: Sequence[object] = TOOLS,
    now: Settings | None = None,
    secrets: Sequence[str] = (),
    agents: Sequence[Agent] = (),
) -> Replayed:
    events = await recorded(home, session)
    ran = list(RAN)
    with no_effects():
        found = await replay_strictly(
            events,
            Now(
                tools=[to_tool(one) for one in tools],
                configuration=Configuration(settings=now or Settings()),
                surroundings=around(home, *secrets),
                chain=Chain(journal_key(home / "state")),
                agents=agents,
            ),
        )
    assert ran == RAN, "a body was run"
    return found


async def diverged(home: Path, session: str, **now: Any) -> Divergence:
    found = await strictly(home, session, **now)
    assert found.divergence is not None
    return found.divergence


def denying(name: str) -> Settings:
    rule = RuleSettings(permission=name, pattern="*", action="deny", reason="not any more")
    return Settings(profile={"bare": ProfileSettings(rules=(rule,))})
