"""The bus of a cluster: NATS, without anything that is kept.

Whose connection it is, and how it is made and kept alive, is not known here.
"""

import logging

from anyio import CancelScope, move_on_after
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error, MaxPayloadError

from holdfast.contract.bus import BusUnavailable, Heard

_log = logging.getLogger("holdfast")

_ANSWER_SECONDS = 5.0
"""How long a server may take to know that somebody listens."""
_MOST_UNHEARD_BYTES = 16 * 1024 * 1024
"""What comes faster than it is taken is lost beyond that."""


class NatsBus:
    """What is said and heard over one connection. Used on its event loop."""

    def __init__(self, client: Client) -> None:
        """``client``: it is connected, and closed by whoever made it."""
        self._client = client

    @property
    def most_bytes(self) -> int:
        """How much can be said at once."""
        return self._client.max_payload

    async def publish(self, subject: str, data: bytes, /, *, unheard: str | None = None) -> None:
        """Say something; BusUnavailable."""
        try:
            await self._client.publish(subject, data, reply=unheard or "")
        except MaxPayloadError:
            told = f"{len(data)} bytes are more than the {self.most_bytes} that can be said at once"
            raise BusUnavailable(told) from None
        except (Error, OSError) as problem:
            raise _unavailable(problem) from None

    async def subscribe(self, subject: str, heard: Heard, /) -> "_NatsListening":
        """Hear what is said from here on; BusUnavailable."""

        async def hear(message: Msg) -> None:
            heard(message.subject, message.data)

        try:
            subscription = await self._client.subscribe(  # pyright: ignore[reportUnknownMemberType] - of a future that is not given
                subject, cb=hear, pending_bytes_limit=_MOST_UNHEARD_BYTES
            )
            # Who says something from here on is heard: the server knows of it. Twice, as the client
            # sends the first question at once, and what was said before it may still wait there.
            for _ in range(2):
                await self._client.flush(int(_ANSWER_SECONDS))
        except (Error, OSError, TimeoutError) as problem:
            raise _unavailable(problem) from None
        return _NatsListening(subscription)


class _NatsListening:
    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._closed = False

    async def close(self) -> None:
        """Listen no longer; harmless when the connection is gone."""
        if self._closed:
            return
        self._closed = True
        with CancelScope(shield=True), move_on_after(_ANSWER_SECONDS):
            try:
                await self._subscription.unsubscribe()
            except (Error, OSError) as problem:
                _log.debug("the bus is gone already: %s", problem)


def _unavailable(problem: Exception) -> BusUnavailable:
    return BusUnavailable(f"NATS: {problem or type(problem).__name__}")
