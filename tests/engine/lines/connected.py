"""Two ends of a connection over a bus, in one process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from holdfast.contract.bus import Bus
from holdfast.engine.lines.addresses import Addresses
from holdfast.engine.lines.connecting import Lines, NobodyThere
from holdfast.engine.lines.streams import BusStream

PATIENCE = 10.0
FOR_EVER = 3600.0
PLACE = "hf.process.somebody.s1"
ADDRESSES = Addresses("hf")


@asynccontextmanager
async def lines_over(
    bus: Bus, beat: float = FOR_EVER, silence: float = FOR_EVER
) -> AsyncGenerator[Lines]:
    lines = Lines(bus, ADDRESSES, beat, silence)
    try:
        yield lines
    finally:
        await lines.close()


@asynccontextmanager
async def both_ends(here: Lines, there: Lines) -> AsyncGenerator[tuple[BusStream, BusStream]]:
    """The end that asked for it, and the one that was taken."""
    taken: list[BusStream] = []
    came = anyio.Event()

    def take(stream: BusStream) -> None:
        taken.append(stream)
        came.set()

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(there.serve, PLACE, take)
            asked = await asked_until_heard(here)
            await came.wait()
            try:
                yield asked, taken[0]
            finally:
                await asked.aclose()
                await taken[0].aclose()
                group.cancel_scope.cancel()


async def asked_until_heard(lines: Lines) -> BusStream:
    """Whoever listens may only just have begun to."""
    while True:
        try:
            return await lines.connect(PLACE)
        except NobodyThere:
            await anyio.sleep(0.005)
