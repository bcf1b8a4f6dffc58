"""Sessions in the store of a home, made the way a runner makes them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
from msgspec import Raw

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract import events
from holdfast.contract.events import Event, Payload
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

_T = TypeVar("_T")

ASKED = events.CallAsked(call_id="cal_1", tool="bash", arguments='{"command":"make test"}')
SETTLED = events.CallSettled(
    call_id="cal_1",
    tool="bash",
    envelope=Raw(b'{"kind":"timeout","message":"the tests took too long","ok":false}'),
)
TALK: tuple[Payload, ...] = (
    # Of no workspace: it is the last one wherever somebody asks for that.
    events.SessionCreated(agent_id="coder", profile="code"),
    events.UserMessage(message="Fix the flaky test\nplease"),
    ASKED,
    SETTLED,
    events.AgentMessage(message="\n".join(f"line {n}" for n in range(12)), summary="tried"),
)


def in_store(home: Path, work: Callable[[Store], Awaitable[_T]]) -> _T:
    """What comes of a work on the store of a home."""

    async def main() -> _T:
        clock = SystemClock()
        around = Surroundings(data_home=home / "data", state_home=home / "state")
        store = open_store(Settings(), around, clock, TimeIds(clock))
        try:
            return await work(store)
        finally:
            await store.journal.close()

    return anyio.run(main)


def made(home: Path, session_id: str, payloads: Sequence[Payload] = TALK) -> tuple[Event, ...]:
    """A session with these events."""

    async def work(store: Store) -> tuple[Event, ...]:
        return await store.journal.create(session_id, payloads)

    return in_store(home, work)


def appended(home: Path, session_id: str, *payloads: Payload) -> tuple[Event, ...]:
    """Further events."""

    async def work(store: Store) -> tuple[Event, ...]:
        return await store.journal.append(session_id, payloads)

    return in_store(home, work)


def answered(result: bytes, call_id: str = "cal_1") -> tuple[Payload, ...]:
    """A call that brought this."""
    envelope = Raw(b'{"call_id":"%s","ok":true,"result":%s}' % (call_id.encode(), result))
    settled = events.CallSettled(call_id=call_id, tool="bash", envelope=envelope)
    return (events.CallAsked(call_id=call_id, tool="bash", arguments="{}"), settled)
