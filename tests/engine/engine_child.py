"""A process that runs an engine on a store until it is killed.

python engine_child.py PATH          prints a line when a run begins, and one when it ends
"""

import os
import sys
from pathlib import Path

import anyio

from holdfast.app.holders import is_gone, new_holder
from holdfast.contract.journal import Journal, Lease, LeaseHeld
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.engine_kit import ToyRunner

KEY = b"k" * 32


class Taking(ToyRunner):
    """Takes a session over from a process that is gone."""

    def __init__(self, journal: Journal) -> None:
        self._name = new_holder()
        super().__init__(journal, self._name)
        self._of = journal

    async def __call__(self, session_id: str, /) -> WakeEnd:
        end = await super().__call__(session_id)
        if end.executed:
            os.write(1, f"ended {session_id}\n".encode())
        return end

    async def leased(self, session_id: str) -> Lease:
        try:
            return await super().leased(session_id)
        except LeaseHeld as held:
            if not is_gone(held.lease.holder):
                raise
            return await self._of.take_over(held.lease, self._name, 60)

    async def works(self, session_id: str) -> None:
        os.write(1, f"begun {session_id}\n".encode())
        await anyio.sleep(0.1)


async def main(path: Path) -> None:
    clock = SystemClock()
    journal = open_sqlite(path, Chain(KEY), clock, TimeIds(clock)).journal
    pace = EnginePace(concurrency=2, look_seconds=0.05)
    await EmbeddedEngine(journal, Taking(journal), clock, pace).run()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
