"""What fetching needs of a client of HTTP: one request to one address, as values.

Which library does it is not known here. It is loaded when it is first needed: most runs never
fetch anything, and it takes longer to load than everything else together (design/0009).
"""

import importlib
from typing import NamedTuple, Protocol, cast

from holdfast.execution.network.web_request import WebRequest

_IMPLEMENTATION = "holdfast.execution.network.aiohttp_exchange"


class Pinned(NamedTuple):
    """Where a request is sent: the name it was judged by, the one address it is dialled at."""

    name: str
    address: str


class Wanted(NamedTuple):
    """How much of an answer is wanted."""

    max_bytes: int
    follows: bool
    """Redirects are followed: their bodies are not read."""


class Exchanged(NamedTuple):
    """An answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool

    @property
    def location(self) -> str | None:
        """Where a redirect leads."""
        return next((value for name, value in self.headers if name.lower() == "location"), None)


class Unconnected(Exception):
    """There is no connection: nothing was sent, another address may do."""


class Broken(Exception):
    """The answer did not come, or not as a whole."""


class Watcher(Protocol):
    """Hears how far an exchange has come."""

    def connected(self) -> None:
        """The connection stands; nothing was sent yet."""
        ...

    def received(self, count: int, /) -> None:
        """So many bytes of the body came, as they were sent."""
        ...


class Exchange(Protocol):
    """Sends one request to one address."""

    async def __call__(
        self,
        request: WebRequest,
        pinned: Pinned,
        wanted: Wanted,
        watcher: Watcher,
        /,
    ) -> Exchanged:
        """Raises Unconnected or Broken."""
        ...


def load_exchange(certificates: str | None) -> Exchange:
    """The client. ``certificates``: a file of those to trust instead of the system's."""
    module = importlib.import_module(_IMPLEMENTATION)
    return cast("Exchange", module.AiohttpExchange(certificates))
