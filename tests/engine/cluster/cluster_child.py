"""A process that is a worker of a cluster, until it is killed.

python cluster_child.py URL SERVERS NAMESPACE NAME SECONDS

prints a line when a run begins, when one ends, and when one is refused because another has taken
the session over. SECONDS: how long each run lasts.
"""

import os
import sys

import anyio

from holdfast.contract.journal import Journal, Lease, StaleEpoch
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.engine_kit import ToyRunner

KEY = b"k" * 32
LEASE_SECONDS = 2.5
PACE = ClusterPace(look_seconds=1, sweep_seconds=600, ack_seconds=1.0)


class Telling(ToyRunner):
    """Says what it does."""

    def __init__(self, journal: Journal, name: str, seconds: float) -> None:
        super().__init__(journal, name)
        self._of = journal
        self._name = name
        self._seconds = seconds

    async def __call__(self, session_id: str, /) -> WakeEnd:
        try:
            end = await super().__call__(session_id)
        except StaleEpoch:
            _say(f"refused {session_id}")
            raise
        if end.executed:
            _say(f"ended {session_id}")
        return end

    async def leased(self, session_id: str) -> Lease:
        return await self._of.lease(session_id, self._name, LEASE_SECONDS)

    async def works(self, session_id: str) -> None:
        _say(f"begun {session_id}")
        await anyio.sleep(self._seconds)


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def main(url: str, servers: str, namespace: str, name: str, seconds: float) -> None:
    clock = SystemClock()
    store = open_postgres(url, Chain(KEY), clock, TimeIds(clock))
    assert store.outbox is not None
    runner = Telling(store.journal, name, seconds)
    async with linked(NatsServers(servers=tuple(servers.split(",")), namespace=namespace)) as link:
        tenant = Tenant(name="one", journal=store.journal, outbox=store.outbox, runner=runner)
        await ClusterEngine(link, [tenant], clock, PACE).run()


if __name__ == "__main__":
    URL, SERVERS, NAMESPACE, NAME, SECONDS = sys.argv[1:]
    anyio.run(main, URL, SERVERS, NAMESPACE, NAME, float(SECONDS))
