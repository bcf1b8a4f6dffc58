"""What every engine must do; each passes the same kit, on a journal of its own choice.

The runner of the kit takes what waits into account and says nothing: how a run goes is not what an
engine is about.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import TypeAlias

from anyio import Event, create_task_group, fail_after, to_thread
from anyio.lowlevel import checkpoint

from holdfast.contract.events import (
    EventsProcessed,
    Payload,
    SessionCreated,
    StatusChanged,
    StatusIdle,
    UserMessage,
)
from holdfast.contract.journal import Journal, Lease, LeaseHeld
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import Priority, WakeQueued, WakesCompleted
from holdfast.contract.wakes import Engine, WakeEnd, WakeRunner

EngineMaker: TypeAlias = Callable[[WakeRunner, int], AbstractAsyncContextManager[Engine]]
"""Opens an engine for a runner, which runs at most so many sessions at once."""

_PATIENCE_SECONDS = 10.0
_WORD = UserMessage(message="go")
_LEASE_SECONDS = 30.0


class ToyRunner:
    """Runs a session by taking into account what waits, under its lease, and tells what it saw."""

    def __init__(self, journal: Journal, holder: str = "kit") -> None:
        self._journal = journal
        self._holder = holder
        self.order: list[str] = []
        self.running: Counter[str] = Counter()
        self.most_at_once = 0
        self.twice_at_once: list[str] = []

    async def __call__(self, session_id: str, /) -> WakeEnd:
        """Run it once."""
        self.order.append(session_id)
        if self.running[session_id]:
            self.twice_at_once.append(session_id)
        self.running[session_id] += 1
        self.most_at_once = max(self.most_at_once, self.running.total())
        try:
            return await self._run(session_id)
        finally:
            self.running[session_id] -= 1

    async def leased(self, session_id: str) -> Lease:
        """The right to run it; LeaseHeld."""
        return await self._journal.lease(session_id, self._holder, _LEASE_SECONDS)

    async def works(self, session_id: str) -> None:
        """What a run does while it runs; for others to say."""
        del session_id
        await checkpoint()

    async def _run(self, session_id: str) -> WakeEnd:
        journal = self._journal
        try:
            lease = await self.leased(session_id)
        except LeaseHeld:
            return WakeEnd(session_id=session_id, executed=False, reason="lease_contended")
        wake_id = f"wak_{self._holder}_{len(self.order)}"
        try:
            state = (await journal.session(session_id)).state
            if due_micros(state) is None:
                return WakeEnd(session_id=session_id, executed=False, reason="idle")
            runs = StatusChanged(from_status=state.status, to_status="running", reason="kit")
            await journal.append(session_id, [runs], epoch=lease.epoch, wake_id=wake_id)
            await self.works(session_id)
            over: list[Payload] = [
                EventsProcessed(event_ids=state.pending),
                WakesCompleted(queued_wake_ids=tuple(one.id for one in state.wakes)),
                StatusIdle(reason="idle", summary="done"),
            ]
            await journal.append(session_id, over, epoch=lease.epoch, wake_id=wake_id)
        finally:
            await journal.release(lease)
        return WakeEnd(session_id=session_id, executed=True, wake_id=wake_id)


async def check_engine(journal: Journal, make: EngineMaker, prefix: str = "ses_kit") -> None:
    """Runs what is due and nothing else, in its order, each session by itself, and survives.

    ``prefix`` begins the ids of sessions that nobody has used; nothing else in the journal is due.
    """
    with fail_after(6 * _PATIENCE_SECONDS):
        await _check_due(journal, make, f"{prefix}_due")
        await _check_order(journal, make, f"{prefix}_order")
        await _check_bound(journal, make, f"{prefix}_bound")
        await _check_more(journal, make, f"{prefix}_more")
        await _check_failing(journal, make, f"{prefix}_failing")
        await _check_running(journal, make, f"{prefix}_running")


async def _check_due(journal: Journal, make: EngineMaker, name: str) -> None:
    runner = ToyRunner(journal)
    async with make(runner, 4) as engine:
        _expect(await engine.run_until_idle() == 0, "something ran, and nothing was due")
        await _made(journal, f"{name}_word", _WORD)
        await _made(journal, f"{name}_wake", _wake(1))
        await _made(journal, f"{name}_later", _wake(4_000_000_000))
        await _made(journal, f"{name}_nothing")
        await journal.create(f"{name}_nobodys", [SessionCreated(), _WORD])
        _expect(await engine.run_until_idle() == 2, f"there ran {runner.order}")
        _expect({*runner.order} == {f"{name}_word", f"{name}_wake"}, f"there ran {runner.order}")
        _expect(await engine.run_until_idle() == 0, "what was over ran again")


async def _check_order(journal: Journal, make: EngineMaker, name: str) -> None:
    await _made(journal, f"{name}_low", _wake(1, "low"))
    await _made(journal, f"{name}_late", _wake(3))
    await _made(journal, f"{name}_early", _wake(2))
    await _made(journal, f"{name}_high", _wake(9, "high"))
    await _made(journal, f"{name}_word_b", _WORD, _WORD)
    await _made(journal, f"{name}_word_a", _WORD, _wake(1, "low"))
    runner = ToyRunner(journal)
    async with make(runner, 1) as engine:
        ran = await engine.run_until_idle()
    wanted = ("word_a", "word_b", "high", "early", "late", "low")
    order = [f"{name}_{what}" for what in wanted]
    _expect((ran, runner.order) == (6, order), f"there ran {runner.order}, not {order}")


async def _check_bound(journal: Journal, make: EngineMaker, name: str) -> None:
    for number in range(12):
        await _made(journal, f"{name}_{number}", _WORD)
    runner = ToyRunner(journal)
    async with make(runner, 3) as engine:
        ran = await engine.run_until_idle()
    _expect(ran == len(runner.order) == 12, f"{ran} of 12 ran: {runner.order}")
    _expect(runner.most_at_once == 3, f"{runner.most_at_once} ran at once, of 3 that may")


async def _check_more(journal: Journal, make: EngineMaker, name: str) -> None:
    """What comes while a session runs is run behind it, and never beside it."""

    class Talked(ToyRunner):
        async def works(self, session_id: str) -> None:
            if self.order.count(session_id) < 3:
                await journal.append(session_id, [_WORD])
                engine.poke(session_id)
            for _ in range(20):
                await checkpoint()

    await _made(journal, name, _WORD)
    runner = Talked(journal)
    async with make(runner, 4) as engine:
        ran = await engine.run_until_idle()
    _expect(ran == 3, f"it ran {ran} times, and was talked to 3 times")
    _expect(runner.twice_at_once == [], "a session ran twice at once")


async def _check_failing(journal: Journal, make: EngineMaker, name: str) -> None:
    """Neither what raises nor what nothing comes of keeps others from running, nor goes on."""

    class Failing(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            if session_id.endswith("well"):
                return await super().__call__(session_id)
            self.order.append(session_id)
            await checkpoint()
            if session_id.endswith("raises"):
                raise RuntimeError("a bug")
            contended = session_id.endswith("contended")
            reason = "lease_contended" if contended else "idle"
            return WakeEnd(session_id=session_id, executed=False, reason=reason)

    names = [f"{name}_{what}" for what in ("raises", "contended", "vain", "well")]
    for one in names:
        await _made(journal, one, _WORD)
    runner = Failing(journal)
    async with make(runner, 2) as engine:
        await engine.run_until_idle()
        await engine.run_until_idle()
        _expect(sorted(runner.order) == sorted(names), f"there ran {runner.order}, each once")
    over = ToyRunner(journal)
    async with make(over, 2) as engine:
        _expect(await engine.run_until_idle() == 3, f"another one ran {over.order}")


async def _check_running(journal: Journal, make: EngineMaker, name: str) -> None:
    """It goes on until it is stopped, hears of what comes, and ends what it began."""
    begun, may_end = Event(), Event()

    class Long(ToyRunner):
        async def works(self, session_id: str) -> None:
            del session_id
            begun.set()
            await may_end.wait()

    runner = Long(journal)
    await _made(journal, name)
    await _made(journal, f"{name}_after")
    stopped = Event()

    async def stop() -> None:
        await engine.stop()
        stopped.set()

    async with make(runner, 4) as engine, create_task_group() as group:
        group.start_soon(engine.run)
        await journal.append(name, [_WORD])
        await to_thread.run_sync(engine.poke, name)
        await begun.wait()
        group.start_soon(stop)
        for _ in range(20):
            await checkpoint()
        _expect(not stopped.is_set(), "it did not wait for what runs")
        await journal.append(f"{name}_after", [_WORD])
        engine.poke(f"{name}_after")
        may_end.set()
        await stopped.wait()
    _expect(runner.order == [name], f"there ran {runner.order}")
    state = (await journal.session(name)).state
    _expect((state.status, state.pending) == ("idle", ()), f"it was left {state.status}")


async def _made(journal: Journal, name: str, *payloads: Payload) -> None:
    await journal.create(name, [SessionCreated(agent_id="kit"), *payloads])


def _wake(seconds: int, priority: Priority = "normal") -> WakeQueued:
    due = datetime.fromtimestamp(seconds, UTC)
    return WakeQueued(queued_wake_id="qwk_kit", due_at=due, reason="kit", priority=priority)


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition is what it takes
    if not holds:
        raise AssertionError(otherwise)
