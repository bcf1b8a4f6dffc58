"""What a worker counts: runs, runs in vain, what is in hand, and how long what was due waited."""

import anyio

from holdfast.app.meter import Meter, metered
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import UnknownSession
from holdfast.contract.wakes import WakeEnd
from holdfast.testing.fake_journal import FakeJournal


def _value(meter: Meter, name: str) -> float:
    (line,) = [one for one in meter.lines().splitlines() if one.startswith(f"{name} ")]
    return float(line.split()[1])


async def test_runs_are_counted_and_so_are_those_in_vain() -> None:
    meter, journal = Meter(), FakeJournal()
    await journal.create("one", [SessionCreated(agent_id="kit"), UserMessage(message="go")])
    runs, goes_on = anyio.Event(), anyio.Event()

    async def run(session_id: str, /) -> WakeEnd:
        runs.set()
        await goes_on.wait()
        return WakeEnd(session_id=session_id, executed=session_id == "one")

    counted = metered(run, journal, meter)
    async with anyio.create_task_group() as group:
        group.start_soon(counted, "one")
        await runs.wait()
        assert _value(meter, "holdfast_worker_in_hand") == 1
        goes_on.set()
    end = await counted("gone")
    assert not end.executed
    assert _value(meter, "holdfast_worker_in_hand") == 0
    assert _value(meter, "holdfast_worker_runs_total") == 1
    assert _value(meter, "holdfast_worker_runs_in_vain_total") == 1


async def test_what_breaks_off_is_in_hand_no_longer() -> None:
    meter = Meter()

    async def run(session_id: str, /) -> WakeEnd:
        raise UnknownSession(session_id)

    try:
        await metered(run, FakeJournal(), meter)("one")
    except UnknownSession:
        assert (meter.in_hand, meter.runs, meter.in_vain) == (0, 0, 0)
    else:
        raise AssertionError


def test_it_is_ready_while_it_hears_and_takes_what_is_due() -> None:
    meter = Meter()
    assert not meter.is_ready
    meter.ready = lambda: True
    assert _value(meter, "holdfast_worker_ready") == 1
    meter.drain()
    assert not meter.is_ready
