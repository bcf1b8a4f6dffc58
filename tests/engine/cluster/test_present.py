"""Who works in a cluster: all who can answer, as they are at that moment, and nobody else."""

import anyio
import msgspec
import pytest
from engine.cluster.fleets import SELDOM, WORD, Fleet, running, until
from msgspec.structs import replace

from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.present import Worker, present
from holdfast.engine.cluster.tenants import Who
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio


class Long(ToyRunner):
    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet.journal)
        self.goes = anyio.Event()

    async def works(self, session_id: str) -> None:
        await self.goes.wait()


def worker(fleet: Fleet, runner: ToyRunner, name: str) -> ClusterEngine:
    pace = replace(SELDOM, concurrency=3, labels=("gpu",))
    who = Who(name=name, host="h", version="1.2")
    return ClusterEngine(fleet.link, [fleet.tenant(runner)], fleet.clock, pace, who)


async def test_each_says_what_it_does_also_while_it_ends(fleet: Fleet) -> None:
    assert await present(fleet.link, 0.2) == ()
    runner = Long(fleet)
    await fleet.made("ses_1", WORD)
    before = fleet.clock.unix_ns() // 1000
    one, two = worker(fleet, runner, "a/1-2"), worker(fleet, Long(fleet), "b/1-2")
    async with running(one):
        one.poke("ses_1")
        await until(lambda: bool(runner.order))
        async with running(two):
            found = await _all(fleet, 2)
        assert [worker.name for worker in found] == ["a/1-2", "b/1-2"]
        first = found[0]
        assert (first.host, first.version, first.labels) == ("h", "1.2", ("gpu",))
        assert (first.concurrency, first.in_hand, first.ends) == (3, 1, False)
        assert (first.tenants, first.since >= before) == (("one",), True)
        async with anyio.create_task_group() as group:
            group.start_soon(one.stop)
            with anyio.fail_after(12):
                while not (await present(fleet.link, 0.2))[0].ends:
                    pass
            runner.goes.set()
    assert await present(fleet.link, 0.2) == ()


async def _all(fleet: Fleet, count: int) -> tuple[Worker, ...]:
    with anyio.fail_after(12):
        while len(found := await present(fleet.link, 0.2)) != count:
            pass
    return found


async def test_what_others_say_is_left_out_and_what_newer_ones_add_too(fleet: Fleet) -> None:
    """Who may speak may say anything, and is not believed in what makes no sense."""
    link = fleet.link

    async def answers() -> None:
        heard = anyio.Event()
        replies: list[str] = []

        def hear(message: object) -> None:
            replies.append(str(getattr(message, "reply", "")))
            heard.set()

        end = await link.client.subscribe(link.names.present, hear)
        await heard.wait()
        newer = msgspec.json.encode({"name": "newer", "of_later": [1], "version": "9"})
        for body in (b"garbage", b"[]", b'{"host":"nameless"}', newer, newer):
            await link.client.publish(replies[0], body, headers={})
        await end()

    async with anyio.create_task_group() as group:
        group.start_soon(answers)
        assert await _all(fleet, 1) == (Worker(name="newer", version="9"),)
