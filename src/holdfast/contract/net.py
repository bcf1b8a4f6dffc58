"""The network as a tool reaches it: `rt.net`. Every hop is judged; what was judged is used."""

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What a request brought back."""

    url: str
    """Where it ended, after redirects."""
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    truncated: bool = False
    """There was more than ``max_bytes``."""
    hops: tuple[str, ...] = ()
    """The URLs on the way, the first included, the last one not."""
    address: str | None = None
    """The address that was connected to in the end."""


class FetchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request may use, redirects included."""

    seconds: float = 30.0
    max_bytes: int = 10 * 1024 * 1024
    """Of the body, unpacked; the rest is not read."""
    max_redirects: int = 10


USUAL_LIMITS = FetchLimits()


class Net(Protocol):
    """Hosts within a call's reach."""

    async def fetch(
        self,
        url: str,
        /,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: FetchLimits = USUAL_LIMITS,
    ) -> Fetched:
        """One request. PolicyDenied names a host out of reach; Unavailable, one that is not there.

        An answer of any status is an answer.
        """
        ...
