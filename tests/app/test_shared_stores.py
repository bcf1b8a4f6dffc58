"""Several of one process who write to the same store: it is open once, as long as one uses it."""

import asyncio  # noqa: TID251 - callers cancel tasks without anyio, whose shields do not hold then
import gc
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from weakref import ref

import anyio
import pytest
from anyio import to_thread
from app.recorded import add, around, events_of, kinds, opened

from holdfast import Holdfast
from holdfast.app.session_store import opened_store
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.shared_stores import SharedStores, StoreName
from holdfast.app.store import shared_store
from holdfast.contract.archive import SessionQuery
from holdfast.contract.envelope import Envelope
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.record.memory import memory_store
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio
POWER = Settings(store=StoreSettings(durability="power"))
NAME = StoreName("here", "process", None, None)


def writers() -> int:
    return sum(one.name == "holdfast journal" for one in threading.enumerate())


def handles(root: Path) -> int:
    """How often the database is open."""
    database = str(root / "data" / "holdfast.db")
    found = 0
    for handle in Path("/proc/self/fd").iterdir():
        try:
            found += str(handle.readlink()) == database
        except OSError:  # the one of this very listing
            continue
    return found


async def call(hf: Holdfast) -> Envelope:
    envelope = await hf.settle("add", {"a": 1, "b": 2})
    assert envelope.ok, envelope.failure
    return envelope


async def test_two_who_write_to_one_store_have_it_open_once(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    async with first:
        await call(first)
        alone = handles(tmp_path)
        async with second:
            await call(second)
            assert (handles(tmp_path), writers()) == (alone, 1)
            assert alone > 0
        await call(first)
        assert (handles(tmp_path), writers()) == (alone, 1)
    assert (handles(tmp_path), writers()) == (0, 0)
    for hf in (first, second):
        assert kinds(await events_of(tmp_path, hf.session_id))[-1] == "session.closed"


async def test_the_first_may_close_before_the_second(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    await first.__aenter__()
    await call(first)
    async with second:
        await call(second)
        await first.__aexit__(None, None, None)
        await call(second)
        assert writers() == 1
    assert (handles(tmp_path), writers()) == (0, 0)


async def test_one_that_was_closed_is_opened_anew(tmp_path: Path) -> None:
    for _ in range(3):
        async with opened(tmp_path) as hf:
            await call(hf)
            assert writers() == 1
        assert writers() == 0


async def test_many_at_once_wait_for_one_disk_together(tmp_path: Path) -> None:
    async with AsyncExitStack() as all_of_them:
        many = [
            await all_of_them.enter_async_context(opened(tmp_path, settings=POWER))
            for _ in range(32)
        ]
        async with anyio.create_task_group() as group:
            for hf in many:
                for _ in range(3):
                    group.start_soon(call, hf)
        assert writers() == 1
    assert (handles(tmp_path), writers()) == (0, 0)


def test_event_loops_in_several_threads_may_come_and_go(tmp_path: Path) -> None:
    problems: list[BaseException] = []

    async def work() -> None:
        for _ in range(6):
            async with opened(tmp_path) as hf:
                await call(hf)
                await call(hf)

    def run() -> None:
        try:
            anyio.run(work)
        except BaseException as problem:  # noqa: BLE001 - it is looked at below
            problems.append(problem)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert (handles(tmp_path), writers()) == (0, 0)


async def test_other_places_promises_and_clocks_are_other_stores(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    other_key = Surroundings(data_home=tmp_path / "data", state_home=elsewhere / "state")
    others = [
        opened(elsewhere),
        opened(tmp_path, settings=POWER),
        opened(tmp_path, surroundings=other_key),
        opened(tmp_path, clock=FakeClock()),
        opened(tmp_path, clock=FakeClock()),
    ]
    async with AsyncExitStack() as all_of_them:
        first = await all_of_them.enter_async_context(opened(tmp_path))
        await call(first)
        for number, other in enumerate(others, start=2):
            await call(await all_of_them.enter_async_context(other))
            assert writers() == number


async def test_a_failure_to_open_is_not_kept(tmp_path: Path) -> None:
    key = tmp_path / "state" / "journal.key"
    key.parent.mkdir(mode=0o700, parents=True)
    key.write_bytes(b"short")
    async with opened(tmp_path) as hf, opened(tmp_path) as other:
        for one in (hf, other):
            failed = await one.settle("add", {"a": 1, "b": 2})
            assert failed.failure is not None
            assert "is not a key" in failed.failure.message
        key.write_bytes(os.urandom(32))
        for one in (hf, other):
            await call(one)
        assert writers() == 1
    assert (handles(tmp_path), writers()) == (0, 0)


async def test_a_file_that_was_moved_away_is_not_written_by_those_who_come_later(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as before:
        await call(before)
        aside = tmp_path / "aside"
        (tmp_path / "data").rename(aside)
        async with opened(tmp_path) as after:
            await call(after)
            assert writers() == 2
    assert "session.closed" in kinds(await events_of(tmp_path, after.session_id))
    assert await events_of(tmp_path, before.session_id) == ()


async def test_who_looks_at_sessions_shares_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    async with Holdfast(tools=[add], workspace=tmp_path) as hf:
        await call(hf)
        async with opened_store() as store:
            assert (await store.journal.session(hf.session_id)).id == hf.session_id
            assert writers() == 1
        await call(hf)
    assert writers() == 0


async def test_one_that_is_closed_for_its_user_refuses_everything(tmp_path: Path) -> None:
    clock = SystemClock()
    async with opened(tmp_path) as hf:
        await call(hf)
        store = await shared_store(Settings(), around(tmp_path), clock, TimeIds(clock))
        lease = (await store.journal.session(hf.session_id)).lease
        assert lease is not None
        await store.journal.close()
        await store.journal.close()
        for asking in (
            store.journal.session(hf.session_id),
            store.journal.events(hf.session_id),
            store.journal.append(hf.session_id, []),
            store.journal.release(lease),
        ):
            with pytest.raises(JournalUnavailable, match="the journal is closed"):
                await asking
        await call(hf)


@pytest.mark.measured
async def test_a_forked_child_opens_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        await call(hf)
        read, write = os.pipe()
        number = os.fork()
        if number == 0:
            os.write(write, "\n".join(_in_the_child(tmp_path, hf)).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answers:
            said = answers.read().split("\n")
        assert os.waitpid(number, 0)[1] == 0  # noqa: ASYNC222 - it has said all
        assert said[:2] == ["True 1", "0 left"]
        assert "opened before this process was forked" in said[2]
        await call(hf)
    assert kinds(await events_of(tmp_path, hf.session_id)).count("call.settled") == 2


def _in_the_child(root: Path, parents: Holdfast) -> list[str]:
    said: list[str] = []

    async def use() -> None:
        async with opened(root) as own:
            envelope = await own.settle("add", {"a": 1, "b": 2})
            said.append(f"{envelope.ok} {writers()}")
        said.append(f"{writers()} left")
        refused = await parents.settle("add", {"a": 1, "b": 2})
        said.append("" if refused.failure is None else refused.failure.message)
        await parents.__aexit__(None, None, None)

    thread = threading.Thread(target=anyio.run, args=(use,))  # here, a loop runs already
    thread.start()
    thread.join()
    return said


class SlowOpening:
    """Opens a store when it is let to."""

    def __init__(self) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.opened = 0

    def __call__(self) -> Store:
        self.begun.set()
        assert self.may_go_on.wait(10)
        self.opened += 1
        return in_memory()


def in_memory() -> Store:
    clock = SystemClock()
    return memory_store(clock, TimeIds(clock))


async def test_whoever_gives_up_while_it_is_opened_leaves_it_to_the_next() -> None:
    stores, opening = SharedStores(), SlowOpening()
    waiting = asyncio.create_task(stores.opened(NAME, None, opening))
    await anyio.to_thread.run_sync(opening.begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    opening.may_go_on.set()
    store = await stores.opened(NAME, None, opening)
    assert (opening.opened, writers()) == (1, 1)
    await store.journal.close()
    assert writers() == 0


async def test_whoever_gives_up_when_it_was_just_opened_leaves_it_to_the_next() -> None:
    stores, opening = SharedStores(), SlowOpening()
    opening.may_go_on.set()
    waiting = asyncio.create_task(stores.opened(NAME, None, opening))
    for _ in range(5):
        await asyncio.sleep(0)
    assert opening.begun.wait(10)
    time.sleep(0.05)  # noqa: ASYNC251 - the loop must not hear of it before it is given up
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    store = await stores.opened(NAME, None, opening)
    assert (opening.opened, writers()) == (1, 1)
    await store.journal.close()
    assert writers() == 0


async def test_closing_that_is_given_up_goes_on_by_itself(tmp_path: Path) -> None:
    for _ in range(3):
        async with opened(tmp_path) as hf:
            await call(hf)
        clock = SystemClock()
        store = await shared_store(Settings(), around(tmp_path), clock, TimeIds(clock))
        await store.archive.sessions(SessionQuery())
        closing = asyncio.create_task(store.journal.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        for one in threading.enumerate():
            if one.name == "holdfast closing":
                one.join()
        assert (writers(), handles(tmp_path)) == (0, 0)


async def test_a_thread_that_begins_after_everybody_gave_up_opens_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stores, late = SharedStores(), list[Callable[[], Store]]()

    async def cancelled(
        work: Callable[[Callable[[], Store]], Store], opening: Callable[[], Store]
    ) -> Store:
        late.append(partial(work, opening))
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(to_thread, "run_sync", cancelled)
        with pytest.raises(asyncio.CancelledError):
            await stores.opened(NAME, None, in_memory)
    with pytest.raises(JournalUnavailable, match="given up"):
        late[0]()
    assert writers() == 0


async def test_what_the_parent_has_open_is_not_closed_by_being_forgotten() -> None:
    stores, journals = SharedStores(), list[Journal]()

    def opening() -> Store:
        store = in_memory()
        journals.append(store.journal)
        return store

    known = ref((await stores.opened(NAME, None, opening)).archive)
    stores.forget()
    await to_thread.run_sync(gc.collect)  # a thread remembers what it gave out last
    gc.collect()
    assert known() is not None
    await journals[0].close()


async def test_those_who_wait_for_a_failure_try_it_themselves() -> None:
    stores = SharedStores()
    tried: list[str] = []
    got: list[Store] = []

    def opening() -> Store:
        tried.append("once")
        if len(tried) < 3:
            raise JournalUnavailable("not yet")
        return in_memory()

    async def use() -> None:
        try:
            got.append(await stores.opened(NAME, None, opening))
        except JournalUnavailable:
            return

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(use)
    assert (len(got), len(tried), writers()) == (3, 3, 1)
    await close_all(got)
    assert writers() == 0


async def close_all(stores: Sequence[Store]) -> None:
    for store in stores:
        assert writers() == 1
        await store.journal.close()
