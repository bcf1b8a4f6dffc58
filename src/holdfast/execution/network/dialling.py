"""Connecting to one of several addresses that were judged, in order, each for a limited time."""

import asyncio
import os
import socket
from collections.abc import Iterable
from typing import NamedTuple

READ_AHEAD = 64 * 1024
"""How much is read before somebody takes it; what comes faster waits in the kernel."""


class Line(NamedTuple):
    """Both ends of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def drop(self) -> None:
        """Let go of it at once; what was not sent yet is lost."""
        self.writer.transport.abort()


class Dialled(NamedTuple):
    """A connection that stands."""

    address: str
    line: Line


class Unreached(NamedTuple):
    """Nobody answered."""

    reason: str
    in_time: bool
    """False: the time was over."""


async def dial(addresses: Iterable[str], port: int, seconds: float) -> Dialled | Unreached:
    """Connect to the first address that answers. They have to be addresses, not names."""
    said = Unreached("it has no address", in_time=True)
    for address in addresses:
        try:
            async with asyncio.timeout(seconds):
                streams = await asyncio.open_connection(
                    address, port, limit=READ_AHEAD, flags=socket.AI_NUMERICHOST
                )
        except TimeoutError:
            said = Unreached(f"{address} did not answer within {seconds:g} s", in_time=False)
        except OSError as problem:
            why = os.strerror(problem.errno) if problem.errno else type(problem).__name__
            said = Unreached(f"{address} cannot be connected to ({why})", in_time=True)
        else:
            return Dialled(address, Line(*streams))
    return said
