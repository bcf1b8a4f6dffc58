"""`rt.net`: one request of a tool, hop by hop.

Each hop is judged before anything is looked up, resolved, judged again by address, and sent to
exactly that address under the name it was judged by. What HTTP is made of is not known here.
"""

import asyncio
from collections.abc import Mapping

from holdfast.contract.errors import (
    OperationFailed,
    OperationTimedOut,
    PolicyDenied,
    Unavailable,
)
from holdfast.contract.gates import HostGate, Refusal
from holdfast.contract.net import USUAL_LIMITS, Fetched, FetchLimits, Resolver
from holdfast.execution.network.admission import Admitted, Unresolved, admit
from holdfast.execution.network.attempts import Attempt, Attempts
from holdfast.execution.network.exchanging import (
    Broken,
    Exchange,
    Exchanged,
    Pinned,
    Unconnected,
    Wanted,
    load_exchange,
)
from holdfast.execution.network.web_request import WebRequest, first_request, redirected


class Web:
    """What all calls of a runtime fetch with."""

    def __init__(
        self, resolver: Resolver, attempts: Attempts, certificates: str | None = None
    ) -> None:
        self.resolver = resolver
        self.attempts = attempts
        self._certificates = certificates
        self._exchange: Exchange | None = None

    async def exchange(self) -> Exchange:
        """The client, loaded when it is first needed and off the event loop."""
        if self._exchange is None:
            self._exchange = await asyncio.to_thread(load_exchange, self._certificates)
        return self._exchange


class HttpNet:
    """Hosts within the reach of one call: a `Net`."""

    def __init__(self, gate: HostGate, web: Web) -> None:
        self._gate = gate
        self._web = web

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
        """One request, its redirects included."""
        request = first_request(url, method, headers, body)
        try:
            async with asyncio.timeout(limits.seconds):
                return await self._follow(request, limits)
        except TimeoutError:
            raise OperationTimedOut(
                f"{request.url} did not answer in full within {limits.seconds:g} s."
            ) from None

    async def _follow(self, request: WebRequest, limits: FetchLimits) -> Fetched:
        hops: list[str] = []
        wanted = Wanted(limits.max_bytes, limits.max_redirects > 0)
        while True:
            answer, address = await self._hop(request, wanted, hops)
            onward = self._onward(request, answer) if wanted.follows else None
            if onward is None:
                return _fetched(request, answer, hops, address)
            hops.append(str(request.url))
            if len(hops) > limits.max_redirects:
                raise OperationFailed(
                    f"{hops[0]} leads to more than {limits.max_redirects} redirects."
                )
            request = onward

    def _onward(self, request: WebRequest, answer: Exchanged) -> WebRequest | None:
        try:
            return redirected(request, answer.status, answer.location)
        except PolicyDenied as denied:
            target = str(denied.extras["target"])
            attempt = self._web.attempts.begin("fetch", target, 0)
            attempt.refused(Refusal(reason=str(denied), target=target))
            raise

    async def _hop(
        self, request: WebRequest, wanted: Wanted, hops: list[str]
    ) -> tuple[Exchanged, str]:
        place = request.url.place
        record = _Record(self._web.attempts.begin("fetch", request.url.host, request.url.port))
        admitted = await admit(self._gate, self._web.resolver, request.url.host, request.url.port)
        if isinstance(admitted, Refusal):
            record.attempt.refused(admitted)
            raise _denied(request, admitted, hops)
        if isinstance(admitted, Unresolved):
            record.attempt.failed(admitted.reason)
            raise Unavailable(f"{place} cannot be reached: {admitted.reason}.")
        try:
            return await self._dialled(request, admitted, wanted, record)
        except Unconnected as problem:
            record.reason = str(problem)
            raise Unavailable(f"{place} cannot be connected to: {problem}.") from None
        except Broken as problem:
            record.reason = str(problem)
            raise Unavailable(f"{place} gave no answer: {problem}.") from None
        finally:
            record.over(len(request.body or b""))

    async def _dialled(
        self, request: WebRequest, admitted: Admitted, wanted: Wanted, record: "_Record"
    ) -> tuple[Exchanged, str]:
        """Ask at one address after the other; Unconnected when none answers."""
        exchange = await self._web.exchange()
        problem = Unconnected()
        for address in admitted.addresses:
            record.address = address
            try:
                answer = await exchange(request, Pinned(admitted.name, address), wanted, record)
            except Unconnected as last:
                problem = last
            else:
                record.reason = None
                return answer, address
        raise problem


class _Record:
    """What came of one hop, written down whatever happens: a `Watcher`."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.address = ""
        self.reason: str | None = "it was given up"
        self._received = 0
        self._stands = False

    def connected(self) -> None:
        """The connection stands."""
        self.attempt.connected(self.address)
        self._stands = True

    def received(self, count: int, /) -> None:
        """So many bytes came."""
        self._received += count

    def over(self, sent: int) -> None:
        """It has ended, well or not."""
        if self._stands:
            self.attempt.ended(sent, self._received, self.reason)
        else:
            self.attempt.failed(self.reason or "")


def _fetched(request: WebRequest, answer: Exchanged, hops: list[str], address: str) -> Fetched:
    return Fetched(
        url=str(request.url),
        status=answer.status,
        headers=answer.headers,
        body=answer.body,
        truncated=answer.truncated,
        hops=tuple(hops),
        address=address,
    )


def _denied(request: WebRequest, refusal: Refusal, hops: list[str]) -> PolicyDenied:
    way = f"The redirect from {hops[-1]} to {request.url}" if hops else f"{request.url.place}"
    return PolicyDenied(
        f"{way} is out of reach. {refusal.reason}",
        extras={"target": request.url.place, "requirement": refusal.requirement},
    )
