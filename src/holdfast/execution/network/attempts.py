"""Every attempt to reach a host is written down: what was decided, and what came of it.

Nothing is connected before it is written down. Where that goes is not known here.
"""

import logging
from collections import deque
from itertools import count

import msgspec

from holdfast.contract.gates import Refusal
from holdfast.contract.net import AttemptKind, AttemptSink, HostAttempt
from holdfast.contract.ports import Clock

_log = logging.getLogger("holdfast")

MOST_KEPT = 1000


class Attempts:
    """Numbers attempts and tells a sink of them."""

    def __init__(self, clock: Clock, sink: AttemptSink) -> None:
        self._clock = clock
        self._sink = sink
        self._numbers = count(1)

    def begin(self, how: AttemptKind, host: str, port: int) -> "Attempt":
        """Somebody asks for a host. Nothing is told yet."""
        asked = HostAttempt(
            number=next(self._numbers),
            at=self._clock.now(),
            how=how,
            host=host,
            port=port,
            decision="allowed",
        )
        return Attempt(asked, self._sink)


class Attempt:
    """One attempt, from being asked for to its end."""

    def __init__(self, asked: HostAttempt, sink: AttemptSink) -> None:
        self._told = asked
        self._sink = sink

    def refused(self, refusal: Refusal) -> None:
        """It is out of reach."""
        self._tell(
            decision="refused",
            reason=refusal.reason,
            requirement=refusal.requirement,
            sent=0,
            received=0,
        )

    def failed(self, reason: str) -> None:
        """It was allowed, and nothing came of it."""
        self._tell(reason=reason, sent=0, received=0)

    def connected(self, address: str) -> None:
        """It is allowed, and this address is what it leads to."""
        self._tell(address=address)

    def ended(self, sent: int, received: int, reason: str | None = None) -> None:
        """The connection is over."""
        self._tell(sent=sent, received=received, reason=reason)

    def _tell(self, **news: object) -> None:
        self._told = msgspec.structs.replace(self._told, **news)
        self._sink(self._told)


class SessionAttempts:
    """What a session asked of the network, the latest of it, and a line in the log for each."""

    def __init__(self) -> None:
        self._latest: deque[HostAttempt] = deque(maxlen=MOST_KEPT)
        self.count = 0
        """How many were told so far."""

    def __call__(self, attempt: HostAttempt, /) -> None:
        """Write down."""
        self._latest.append(attempt)
        self.count += 1
        _log.info(
            "%s of %s:%s %s%s",
            attempt.how,
            attempt.host,
            attempt.port,
            attempt.decision,
            "" if attempt.reason is None else f" ({attempt.reason})",
        )

    def refused_since(self, count: int) -> tuple[Refusal, ...]:
        """What was refused after so many were told, each host once."""
        new = min(self.count - count, len(self._latest))
        told = list(self._latest)[len(self._latest) - new :]
        found = {one.target: one for one in (attempt.refusal for attempt in told) if one}
        return tuple(found.values())
