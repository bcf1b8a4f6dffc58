"""Commits for everybody: in the order they were asked for."""

import threading
from collections.abc import Callable, Sequence

import anyio
import pytest

from holdfast.record.group_commit import GroupCommit, Work, result_of

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
