"""Recorded calls settled once more: what overlapped, was cut off, or depended on the machine."""

from collections.abc import Awaitable
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from app.replay_kit import (
    TOOLS,
    add,
    around,
    crash,
    denying,
    diverged,
    record,
    recorded,
    strictly,
)
from support import make_judge

from holdfast import Answer, Envelope, Holdfast, tool
from holdfast.app.settings import Settings
from holdfast.app.store import open_store
from holdfast.contract.call import Prepared, Verdict
from holdfast.contract.events import SessionCreated
from holdfast.contract.runtime import SessionFacts
from holdfast.envelope.redact import Redactor
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.replaying import ReplayClock, ReplayParts, replayed
from holdfast.sources.intake import to_tool
from holdfast.testing.fakes import FakeApprover

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def test_of_calls_that_overlap_the_first_event_that_differs_is_named(home: Path) -> None:
    begun = anyio.Event()

    @tool
    async def nap() -> str:
        """Sleep."""
        begun.set()
        await anyio.sleep(0.05)
        return "sleepyhead"

    async with Holdfast(tools=[nap, add], settings=Settings(), surroundings=around(home)) as hf:
        async with anyio.create_task_group() as group:
            group.start_soon(hf.settle, "nap")
            await begun.wait()
            await hf.settle("add", {"a": 1})
        session = hf.session_id
    kinds = [event.type for event in await recorded(home, session)]
    assert kinds[1:7] == [*("call.asked", "call.intended") * 2, "call.settled", "call.settled"]
    own = (nap, add)
    assert (await diverged(home, session, tools=own, secrets=["sleepyhead"])).sequence == 7
    found = await diverged(home, session, tools=own, secrets=["sleepyhead"], now=denying("add"))
    assert found.sequence == 5


async def test_a_call_that_a_restart_ended_is_compared_up_to_there(home: Path) -> None:
    session = await record(home, [("add", '{"a": "3"}')])
    clock = SystemClock()
    store = open_store(Settings(), around(home), clock, TimeIds(clock))
    begun = (await store.journal.events(session))[:3]
    await store.archive.delete(session)
    await store.archive.restore(session, begun)  # as it was when the process died
    await store.journal.close()
    async with Holdfast(
        tools=TOOLS, settings=Settings(), surroundings=around(home), session=session
    ):
        pass
    assert [one.type for one in await recorded(home, session)][3:] == ["call.settled"]
    assert (await strictly(home, session)).divergence is None
    assert (await diverged(home, session, tools=[crash])).sequence == 3


async def test_many_warnings_are_not_cut_once_more(home: Path) -> None:
    @tool
    def warn() -> Envelope:
        """Warn."""
        return Envelope(warnings=tuple(f"number {number}" for number in range(40)))

    session = await record(home, [("warn", {})], tools=[warn])
    assert (await strictly(home, session, tools=[warn])).divergence is None


def _kept(_hand: object, _tool: str) -> bool:
    return True


def _unkept(_hand: object, _tool: str) -> bool:
    return False


async def test_whether_commands_were_kept_from_protected_places_is_a_fact_of_then(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @tool(
        requires={"fs": {"write": ["**"]}, "shell": [{"cmd": "*"}]}, uses={"command": "shell.run"}
    )
    def run(command: str) -> str:
        """Run a command. command: e.g. 'ls'."""
        return command

    kept = "holdfast.execution.processes.hand.SessionHand.protects"
    monkeypatch.setattr(kept, _unkept)
    given: dict[str, Any] = {"tools": [run], "workspace": tmp_path}
    answers = [Answer(allowed=True, by="ada")]
    asked = await record(
        home, [("run", {"command": "touch x"})], approver=FakeApprover(answers), **given
    )
    monkeypatch.setattr(kept, _kept)
    unasked = await record(home, [("run", {"command": "touch x"})], **given)
    for session, kind in ((asked, "approval.asked"), (unasked, "call.intended")):
        assert (await recorded(home, session))[2].type == kind
        assert (await strictly(home, session, tools=[run])).divergence is None


async def test_it_is_as_late_as_it_was(home: Path) -> None:
    session = await record(home, [("add", {"a": 1}), ("add", {"a": 2})])
    events = await recorded(home, session)
    clock, seen = ReplayClock(), list[datetime]()
    real = make_judge(standing={"add": ""})

    class Watching:
        def __call__(self, prepared: Prepared, /) -> Verdict | Awaitable[Verdict]:
            seen.append(clock.now())
            return real(prepared)

        answered = real.answered

    created = events[0].payload
    assert isinstance(created, SessionCreated)
    parts = ReplayParts(
        tools=[to_tool(add)],
        judge=Watching(),
        clock=clock,
        redactor=Redactor(),
        session=SessionFacts(id=session),
        created=created,
    )
    await replayed(events, parts)
    assert seen == [event.at for event in events if event.type == "call.asked"]
    assert clock.unix_ns() // 1000 == int(seen[-1].timestamp() * 1_000_000)
