"""The network as a tool reaches it: `rt.net`. Every hop is judged; what was judged is used."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from holdfast.contract.gates import Refusal


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What a request brought back."""

    url: str
    """Where it ended, after redirects."""
    status: int
    headers: tuple[tuple[str, str], ...]
    """Without those that speak of packing, where the body was unpacked."""
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
    """0: a redirect is an answer like any other."""


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
        """One request. PolicyDenied names a host out of reach; Unavailable, one that is not there;
        OperationTimedOut says that time was over; InvalidArguments, what is wrong with the request.

        An answer of any status is an answer.
        """
        ...


AttemptKind = Literal["connect", "http", "socks", "fetch"]
"""How a host was asked for: three ways of a confined process, and `rt.net`."""


class HostAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to reach a host, as it is written down.

    What was refused or came to nothing is told once. A connection is told twice, under one number:
    when it stands and when it has ended.
    """

    number: int
    at: datetime
    """When the host was asked for."""
    how: AttemptKind
    host: str
    """As it was asked for."""
    port: int
    """0: it did not come so far; the host is where a redirect led."""
    decision: Literal["allowed", "refused"]
    reason: str | None = None
    """Why it was refused, or why nothing came of it though it was allowed."""
    requirement: str | None = None
    """What would admit it, where anything would."""
    address: str | None = None
    """The address that was connected to."""
    sent: int | None = None
    """Bytes to the host; of `rt.net`, those of the body. None while the connection stands."""
    received: int | None = None

    @property
    def refusal(self) -> Refusal | None:
        """The refusal as a command's report names it."""
        if self.decision == "allowed":
            return None
        target = self.host
        if self.port:
            target = f"[{target}]:{self.port}" if ":" in target else f"{target}:{self.port}"
        return Refusal(reason=self.reason or "", target=target, requirement=self.requirement)


class AttemptSink(Protocol):
    """Where attempts are written down. Called on the event loop: it must not block."""

    def __call__(self, attempt: HostAttempt, /) -> None:
        """Write down."""
        ...


class Resolver(Protocol):
    """Says which addresses a name has. Asked only after the name itself was admitted."""

    async def __call__(self, name: str, /) -> tuple[str, ...]:
        """The addresses, the best one first. OSError says why there are none."""
        ...
