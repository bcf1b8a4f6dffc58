"""Behind the run of an agent Ctrl-C ends the program as it ends any other."""

import signal
from collections.abc import Generator

import anyio
import pytest

from holdfast.surfaces.cli.interrupts import end_by_an_interrupt
from holdfast.surfaces.cli.stopping import Ladder, Stops, heed_signals

pytestmark = pytest.mark.anyio


class Nobody:
    def interrupt_call(self) -> bool:
        return False

    async def interrupt(self, note: str | None = None) -> None:
        del note


@pytest.fixture
def interrupts() -> Generator[None]:
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
async def test_once_nobody_heeds_signals_an_interrupt_is_no_exception() -> None:
    """As one, it would break off the closing of the event loop, and the program would hang."""
    said: list[str] = []
    stops = Stops(say=said.append, end_now=lambda: None, hang_up=lambda: None)
    async with anyio.create_task_group() as group:
        group.start_soon(heed_signals, Nobody(), Ladder(), stops)
        await anyio.wait_all_tasks_blocked()
        assert signal.getsignal(signal.SIGINT) is not signal.SIG_DFL
        group.cancel_scope.cancel()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


@pytest.mark.usefixtures("interrupts")
async def test_who_ignores_interrupts_goes_on_ignoring_them() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_by_an_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
