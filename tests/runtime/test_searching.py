"""The searches of a session: whatever calls do, what searches is made once."""

import threading
from typing import cast

import anyio
import pytest

from holdfast.contract.errors import Unavailable
from holdfast.contract.runtime import Runtime
from holdfast.contract.searching import NotSearched, SearchHit
from holdfast.runtime.searching import SessionSearch

pytestmark = pytest.mark.anyio

NO_RUNTIME = cast("Runtime", None)
HIT = SearchHit(title="t", url="https://a.example/", snippet="s")


class Documents:
    """A provider that takes its time to be made."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.made = 0

    def make(self) -> "Documents":
        self.begun.release()
        assert self.go_on.wait(15)
        self.made += 1
        return self

    def find(self, _query: str, _count: int, /) -> tuple[SearchHit, ...]:
        return (HIT,)


async def begun(documents: Documents) -> None:
    assert await anyio.to_thread.run_sync(documents.begun.acquire, True, 15)


async def test_calls_side_by_side_have_it_made_once() -> None:
    documents = Documents()
    session = SessionSearch(documents.make, 10, 15.0)
    found: list[tuple[SearchHit, ...]] = []

    async def search() -> None:
        found.append(await session.search(NO_RUNTIME, "x", 1))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(search)
        await begun(documents)
        await anyio.wait_all_tasks_blocked()
        documents.go_on.set()
    assert found == [(HIT,)] * 5
    assert documents.made == 1


async def test_what_was_made_for_a_call_that_is_gone_serves_the_next() -> None:
    documents = Documents()
    session = SessionSearch(documents.make, 10, 15.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.search, NO_RUNTIME, "x", 1)
        await begun(documents)
        tasks.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.search, NO_RUNTIME, "x", 1)
        await anyio.wait_all_tasks_blocked()
        documents.go_on.set()
    assert documents.made == 1


async def test_one_that_cannot_be_made_is_tried_again() -> None:
    documents = Documents()
    documents.go_on.set()
    troubles = [NotSearched("no documents")]

    def make() -> Documents:
        if troubles:
            raise troubles.pop()
        return documents.make()

    session = SessionSearch(make, 10, 15.0)
    with pytest.raises(Unavailable, match="no documents"):
        await session.search(NO_RUNTIME, "x", 1)
    assert await session.search(NO_RUNTIME, "x", 1) == (HIT,)
