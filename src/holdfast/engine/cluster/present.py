"""Who works in a cluster: each worker answers when somebody asks who is there.

Nobody keeps a list: who stands still, or has ended, does not answer. What leases say of such a one
is not known here.
"""

import logging
from collections.abc import Callable, Mapping
from math import inf

import msgspec
from anyio import create_memory_object_stream, move_on_after, sleep

from holdfast.engine.cluster.door import Heard, LinkError
from holdfast.engine.cluster.link import Link

_log = logging.getLogger("holdfast")

ANSWER_SECONDS = 1.0
_MOST_ASKING = 16
"""So many may wait for an answer; others ask again."""
_AGAIN_SECONDS = 1.0
_NO_HEADERS: Mapping[str, str] = {}


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """What one says of itself. One of another version may say more, or less."""

    name: str
    """Its process, as leases have it."""
    host: str = ""
    version: str = ""
    labels: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    concurrency: int = 0
    in_hand: int = 0
    since: int = 0
    """When it began, in microseconds since 1970."""
    ends: bool = False
    """It was asked to end, and finishes what runs."""


_read = msgspec.json.Decoder(Worker).decode


async def answer(link: Link, told: Callable[[], Worker]) -> None:
    """Say who this is to each who asks; never ends, whatever becomes of the connection."""
    asking, asked = create_memory_object_stream[str](_MOST_ASKING)

    def hear(heard: Heard) -> None:
        if heard.reply and asking.statistics().current_buffer_used < _MOST_ASKING:
            asking.send_nowait(heard.reply)

    with asking, asked:
        while True:
            try:
                end = await link.client.subscribe(link.names.present, hear)
                break
            except LinkError as problem:
                _log.info("nobody can ask who works here: %s", problem)
                await sleep(_AGAIN_SECONDS)
        try:
            async for reply in asked:
                await _say(link, reply, told())
        finally:
            await end()


async def present(link: Link, seconds: float = ANSWER_SECONDS) -> tuple[Worker, ...]:
    """Whoever answers in time; LinkError."""
    found: dict[str, Worker] = {}
    inbox = link.client.inbox()
    incoming, heard = create_memory_object_stream[bytes](inf)
    end = await link.client.subscribe(inbox, lambda one: incoming.send_nowait(one.body))
    try:
        await link.client.publish(link.names.present, reply=inbox, headers=_NO_HEADERS)
        with incoming, heard, move_on_after(seconds):
            async for body in heard:
                one = _worker(body)
                if one is not None:
                    found[one.name] = one
    finally:
        await end()
    return tuple(sorted(found.values(), key=lambda one: (one.host, one.since, one.name)))


async def _say(link: Link, reply: str, who: Worker) -> None:
    try:
        await link.client.publish(reply, msgspec.json.encode(who), headers=_NO_HEADERS)
    except LinkError as problem:
        _log.info("whoever asked who works here is not answered: %s", problem)


def _worker(body: bytes) -> Worker | None:
    """None: it is none that we understand, or nobody listens."""
    try:
        return _read(body)
    except msgspec.DecodeError:
        return None
