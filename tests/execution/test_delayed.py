"""Work that begins after a while: most of it never does."""

import anyio
import pytest

from holdfast.execution.drive import Delayed

pytestmark = pytest.mark.anyio


class Counted:
    """Counts how often it began, and how it ended."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.count = 0
        self.was_cancelled = False

    async def __call__(self) -> None:
        self.count += 1
        self.begun.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise


async def test_it_begins_by_itself_and_ends_when_it_is_ended() -> None:
    work = Counted()
    delayed = Delayed(0.001, work)
    assert not delayed.is_under_way
    with anyio.fail_after(5):
        await work.begun.wait()
    assert delayed.is_under_way
    await delayed.end(5)
    assert (work.count, work.was_cancelled, delayed.is_under_way) == (1, True, False)


async def test_it_begins_at_once_when_it_is_told_so_and_only_once() -> None:
    work = Counted()
    delayed = Delayed(3600, work)
    delayed.now()
    delayed.now()
    with anyio.fail_after(5):
        await work.begun.wait()
    assert work.count == 1
    await delayed.end(5)


async def test_what_is_called_off_never_begins() -> None:
    work = Counted()
    delayed = Delayed(0.001, work)
    delayed.call_off()
    delayed.now()
    await anyio.sleep(0.01)
    assert work.count == 0
    await delayed.end(5)


async def test_calling_it_off_leaves_what_has_begun() -> None:
    work = Counted()
    delayed = Delayed(3600, work)
    delayed.now()
    delayed.call_off()
    with anyio.fail_after(5):
        await work.begun.wait()
    assert delayed.is_under_way
    await delayed.end(5)
