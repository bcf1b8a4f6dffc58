"""The bus of a cluster: NATS, without anything that is kept.

How its connection is made and kept alive is not known here.
"""

from functools import partial
from hashlib import sha256

from anyio import CancelScope, Event, fail_after

from holdfast.contract.bus import Bus, BusPlace, BusUnavailable, Heard, OpenedBus
from holdfast.engine.cluster import door

_ANSWER_SECONDS = 5.0
"""How long a server may take to know that somebody listens."""


class NatsBus:
    """What is said and heard over one connection. Used on its event loop."""

    def __init__(self, client: door.Client) -> None:
        """``client``: closed by whoever made it."""
        self._client = client

    async def publish(self, subject: str, data: bytes, /, *, unheard: str | None = None) -> None:
        """Say something; BusUnavailable."""
        self._check()
        try:
            await self._client.publish(subject, data, reply=unheard or "", headers={})
        except door.LinkError as problem:
            raise BusUnavailable(str(problem)) from None

    async def subscribe(self, subject: str, heard: Heard, /) -> "_NatsListening":
        """Hear what is said from here on; BusUnavailable."""

        def hear(message: door.Heard) -> None:
            heard(message.subject, message.body)

        self._check()
        try:
            listening = _NatsListening(await self._client.subscribe(subject, hear))
            try:
                await self._wait_until_known()
            except BaseException:
                await listening.close()
                raise
        except TimeoutError:
            raise BusUnavailable("no server of NATS answers in time") from None
        except door.LinkError as problem:
            raise BusUnavailable(str(problem)) from None
        return listening

    def _check(self) -> None:
        """What waits for a lost connection is too late when there is one again."""
        if not self._client.is_connected:
            raise BusUnavailable("the connection to NATS is lost")

    async def _wait_until_known(self) -> None:
        """The server knows what was asked of it before: it has passed on a message behind that."""
        came, subject = Event(), self._client.inbox()
        listening = _NatsListening(await self._client.subscribe(subject, lambda _: came.set()))
        try:
            with fail_after(_ANSWER_SECONDS):
                await self._client.publish(subject, headers={})
                await came.wait()
        finally:
            await listening.close()


class _NatsListening:
    def __init__(self, end: door.Ends) -> None:
        self._end = end
        self._closed = False

    async def close(self) -> None:
        """Listen no longer; harmless when the connection is gone."""
        if not self._closed:
            self._closed = True
            with CancelScope(shield=True):
                await self._end()


async def opened_bus(servers: door.NatsServers) -> OpenedBus:
    """Join it; BusUnavailable."""
    try:
        client = await door.connected(servers, _nothing_is_kept)
    except door.LinkError as problem:
        raise BusUnavailable(str(problem)) from None
    bus: Bus = NatsBus(client)
    return OpenedBus(bus, client.close)


def bus_place(servers: door.NatsServers) -> BusPlace:
    """The bus of these servers. Nothing is joined before somebody is to be reached."""
    told = "\n".join((servers.namespace, servers.user or "", *servers.servers))
    name = sha256(told.encode()).hexdigest()  # addresses may hold passwords
    return BusPlace(name, servers.namespace, partial(opened_bus, servers))


def _nothing_is_kept() -> None:
    """What was said meanwhile is lost, and whoever waits for it finds that out."""
