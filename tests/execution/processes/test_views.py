"""Views of what may be read: one for what lies there, and none for what lay there before."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from execution.processes.ground import running_in

from holdfast.contract.runtime import SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.sandbox_maker import SandboxMaker, Shared
from holdfast.execution.processes.started import Started, begin
from holdfast.execution.processes.views import Views
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.spool import Spool

pytestmark = pytest.mark.anyio


def no_spool(name: str) -> Spool:
    raise AssertionError(f"{name} keeps no output")


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[tuple[Views, Path]]:
    root = tmp_path / "root"
    root.mkdir()
    facts = SessionFacts(id="one", workspace=str(tmp_path))
    maker = SandboxMaker(Shared(facts, {}, no_spool, None, None), tmp_path / "session")
    views = Views(maker)
    try:
        yield views, root
    finally:
        await views.close()
        maker.remove()


def policy(*roots: Path) -> SandboxPolicy:
    return SandboxPolicy(readable=tuple(map(str, roots)))


def replace(root: Path) -> None:
    other = root.with_name("other")
    other.mkdir()  # while the first is there: it is not the same again
    shutil.rmtree(root)
    other.rename(root)


def begun(warden: Warden, root: Path, *argv: str) -> Started:
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        return begin(warden, argv, str(root), [nothing] * 3)
    finally:
        os.close(nothing)


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(10):
        while Path(f"/proc/{pid}").exists():
            await asyncio.sleep(0.01)


async def test_a_view_of_what_was_replaced_is_ended(tmp_path: Path) -> None:
    async with opened(tmp_path) as (views, root):
        keepers = set[int]()
        for _ in range(4):
            warden = await views.warden(policy(root))
            assert await begun(warden, root, "/bin/true").ended() == 0
            assert await views.warden(policy(root)) is warden
            keepers.add(warden.keeper)
            replace(root)
        last = await views.warden(policy(root))
        assert len(keepers) == 4
        for keeper in keepers:
            await until_gone(keeper)
        assert not last.lost


async def test_other_policies_keep_theirs(tmp_path: Path) -> None:
    async with opened(tmp_path) as (views, root):
        (tmp_path / "more").mkdir()
        other = await views.warden(policy(tmp_path / "more"))
        await views.warden(policy(root))
        replace(root)
        await views.warden(policy(root))
        assert await views.warden(policy(tmp_path / "more")) is other
        assert not other.lost


async def test_whoever_searches_in_it_comes_to_the_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as (views, root):
        first = await views.warden(policy(root))
        search = begun(first, root, "/bin/sleep", "60")
        replace(root)
        second = await views.warden(policy(root))
        assert second is not first
        assert not first.lost
        search.kill()
        assert await search.ended() == -9
        assert await views.warden(policy(root)) is second
        assert first.lost
    assert not running_in(root)


async def test_whoever_waits_for_one_gets_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as (views, root):

        async def searched() -> int | None:
            return await begun(await views.warden(policy(root)), root, "/bin/true").ended()

        searches: list[asyncio.Task[int | None]] = []
        for _ in range(3):
            searches.append(asyncio.create_task(searched()))
            await asyncio.sleep(0)  # until it waits
            replace(root)
        assert await asyncio.gather(*searches) == [0, 0, 0]
