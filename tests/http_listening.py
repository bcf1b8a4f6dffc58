"""Listening to streams as clients do."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import anyio
from served_home import PATIENCE, Served, StreamEvent, told_by


async def told_until(
    home: Served,
    path: str,
    fits: Callable[[StreamEvent], object],
    headers: dict[str, str] | None = None,
    **query: Any,
) -> list[StreamEvent]:
    """What a stream tells, up to what fits."""
    found: list[StreamEvent] = []
    with anyio.fail_after(PATIENCE):
        async with aclosing(told_by(home.client, path, headers, **query)) as told:
            async for one in told:
                found.append(one)
                if fits(one):
                    return found
    raise AssertionError(f"the stream ended, and never told that: {found}")


def is_event(kind: str) -> Callable[[StreamEvent], bool]:
    """Whether it tells an event of this kind."""
    return lambda one: one.kind == "event" and one.data["type"] == kind


def numbers(found: list[StreamEvent]) -> list[int]:
    """The numbers of the events that were told."""
    return [one.id for one in found if one.id is not None]


def live_text(found: list[StreamEvent]) -> str:
    """What was said live."""
    return "".join(one.data["text"] for one in found if one.kind == "live")
