"""Commits for everybody: in the order they were asked for."""

import asyncio  # noqa: TID251 - turns of the event loop itself are counted
import threading
from collections.abc import Callable, Sequence

import anyio
import pytest

from holdfast.contract.journal import JournalError, JournalUnavailable
from holdfast.record.group_commit import MOST_GATHERED, GroupCommit, Work, result_of

pytestmark = pytest.mark.anyio


class Slow:
    """A store whose thread can be held up where it holds no lock."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.looked = threading.Event()
        self.may_go_on = threading.Event()

    def commit(
        self, works: Sequence[Work[list[str]]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        del wait
        return [result_of(work, self.done) for work in works]

    def is_untidy(self) -> bool:
        if threading.current_thread().name == "holdfast journal":
            self.looked.set()
            assert self.may_go_on.wait(10)
        return False

    def tidy(self) -> None:
        raise AssertionError

    def end_tidying(self) -> None:
        raise AssertionError

    def close(self) -> None:
        self.done.append("closed")


def named(name: str) -> Callable[[list[str]], None]:
    def work(done: list[str]) -> None:
        done.append(name)

    return work


async def test_nobody_overtakes_what_was_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gave up in the middle relies on it: what it writes next comes behind."""
    monkeypatch.setattr("holdfast.record.group_commit._LOOK_EVERY", 1)
    store = Slow()
    commits = GroupCommit(store, at_once=True)

    async def do(name: str, *, at_once: bool) -> None:
        await commits.do(named(name), at_once=at_once)

    async with anyio.create_task_group() as group:
        await do("first", at_once=False)
        await anyio.to_thread.run_sync(store.looked.wait, 10)  # its thread is busy, without a lock
        for name, at_once in (("handed over", False), ("at once", True)):
            group.start_soon(lambda name=name, at_once=at_once: do(name, at_once=at_once))
            await anyio.wait_all_tasks_blocked()
        assert store.done == ["first"]
        store.may_go_on.set()
    assert store.done == ["first", "handed over", "at once"]
    await do("alone", at_once=True)
    commits.close()
    assert store.done[-2:] == ["alone", "closed"]


class Counting(Slow):
    """Tells how many works shared a commit; another process may have it locked."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on.set()
        self.sizes: list[int] = []
        self.is_locked = False

    def commit(
        self, works: Sequence[Work[list[str]]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        if self.is_locked and not wait:
            return None
        self.sizes.append(len(works))
        return super().commit(works, wait=wait)


async def test_tasks_that_ask_in_one_turn_share_a_commit() -> None:
    store = Counting()
    commits = GroupCommit(store, at_once=True)
    async with anyio.create_task_group() as group:
        for number in range(2 * MOST_GATHERED + 3):
            group.start_soon(commits.do, named(str(number)))
    commits.close()
    assert store.done == [*map(str, range(2 * MOST_GATHERED + 3)), "closed"]
    assert store.sizes == [MOST_GATHERED, MOST_GATHERED, 3]


async def test_one_task_that_asks_again_and_again_waits_for_nobody() -> None:
    store = Counting()
    commits = GroupCommit(store, at_once=True)
    await commits.do(named("first"))  # that it is alone is found out here
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "turn")
    for number in range(20):
        await commits.do(named(str(number)))
    assert turns == []
    commits.close()
    assert set(store.sizes) == {1}


async def test_tasks_that_take_turns_wait_for_each_other_ever_more_rarely() -> None:
    store = Counting()
    commits = GroupCommit(store, at_once=True)
    waited = 0
    for number in range(100):

        async def one(number: int = number) -> None:
            nonlocal waited
            turns: list[str] = []
            asyncio.get_running_loop().call_soon(turns.append, "turn")
            await commits.do(named(str(number)))
            waited += len(turns)

        async with anyio.create_task_group() as group:
            group.start_soon(one)
    commits.close()
    assert set(store.sizes) == {1}
    assert waited < 20


async def test_one_that_fails_among_several_fails_alone() -> None:
    store = Counting()
    commits = GroupCommit(store, at_once=True)
    refused: list[str] = []

    def bad(_done: list[str]) -> None:
        raise JournalError("no")

    async def do(work: Callable[[list[str]], None]) -> None:
        try:
            await commits.do(work)
        except JournalError as problem:
            refused.append(str(problem))

    async with anyio.create_task_group() as group:
        for work in (named("a"), bad, named("b")):
            group.start_soon(do, work)
    commits.close()
    assert store.done == ["a", "b", "closed"]
    assert refused == ["no"]


async def test_what_was_gathered_goes_to_the_thread_where_another_process_writes() -> None:
    store = Counting()
    store.is_locked = True
    commits = GroupCommit(store, at_once=True)
    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(commits.do, named(name))
    commits.close()
    assert store.done == ["a", "b", "c", "closed"]


async def test_a_large_work_does_not_overtake_what_was_gathered_before_it() -> None:
    """Whoever gave up in the middle relies on it: what it writes next comes behind."""
    store = Counting()
    commits = GroupCommit(store, at_once=True)

    async def large() -> None:
        await commits.do(named("large"), at_once=False)

    async with anyio.create_task_group() as group:
        group.start_soon(commits.do, named("small"))
        group.start_soon(large)
    commits.close()
    assert store.done == ["small", "large", "closed"]


async def test_after_it_was_closed_nothing_is_gathered_any_more() -> None:
    store = Counting()
    commits = GroupCommit(store, at_once=True)
    commits.close()
    with pytest.raises(JournalUnavailable, match="closed"):
        await commits.do(named("late"))
    assert store.done == ["closed"]
