"""How many sessions an engine runs at once, with runs that last: each one once, and no more."""

from collections import defaultdict
from collections.abc import AsyncGenerator

import anyio
import pytest
from anyio.lowlevel import checkpoint

from holdfast.contract.events import EventsProcessed, SessionCreated, UserMessage
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

CREATED = SessionCreated(agent_id="coder")
WORD = UserMessage(message="go")


class Held:
    """Runs that last until they are let go."""

    def __init__(self, journal: FakeJournal) -> None:
        self._journal = journal
        self.began: list[str] = []
        self._so_many: defaultdict[int, anyio.Event] = defaultdict(anyio.Event)
        self.running: set[str] = set()
        self.goes = anyio.Event()

    async def __call__(self, session_id: str, /) -> WakeEnd:
        self.began.append(session_id)
        self._so_many[len(self.began)].set()
        self.running.add(session_id)
        await self.goes.wait()
        state = (await self._journal.session(session_id)).state
        await self._journal.append(session_id, [EventsProcessed(event_ids=state.pending)])
        self.running.discard(session_id)
        return WakeEnd(session_id=session_id, executed=True)

    async def until_begun(self, number: int) -> None:
        """Wait until so many have begun."""
        with anyio.fail_after(10):
            await self._so_many[number].wait()


@pytest.fixture
async def journal() -> AsyncGenerator[FakeJournal]:
    journal = FakeJournal(FakeClock())
    yield journal
    await journal.close()


async def _looked_again(engine: EmbeddedEngine, journal: FakeJournal, session_id: str) -> None:
    """Have it look at what is due a few times, and give it as long as it may need for that: it asks
    the same journal as we do, one after the other."""
    for _ in range(5):
        engine.poke(session_id)
        for _ in range(20):
            await journal.session(session_id)
            await checkpoint()


async def test_no_more_run_at_once_than_may(journal: FakeJournal) -> None:
    names = [f"ses_{number}" for number in range(6)]
    for name in names:
        await journal.create(name, [CREATED, WORD])
    runner = Held(journal)
    pace = EnginePace(concurrency=2, look_seconds=3600)
    engine = EmbeddedEngine(journal, runner, FakeClock(), pace)
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        await runner.until_begun(2)
        await _looked_again(engine, journal, names[-1])
        assert len(runner.began) == 2, "a third one began although two run"
        runner.goes.set()
        await runner.until_begun(6)
        assert sorted(runner.began) == names
        await engine.stop()


async def test_a_session_that_runs_is_not_begun_again_beside_itself(journal: FakeJournal) -> None:
    await journal.create("ses_1", [CREATED, WORD])
    runner = Held(journal)
    pace = EnginePace(concurrency=8, look_seconds=3600)
    engine = EmbeddedEngine(journal, runner, FakeClock(), pace)
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        await runner.until_begun(1)
        await journal.append("ses_1", [WORD])
        await _looked_again(engine, journal, "ses_1")
        assert runner.began == ["ses_1"]
        runner.goes.set()
        await engine.stop()
    assert runner.running == set()
