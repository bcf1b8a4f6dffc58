"""One configured server: connected, lost, connected again, and its tools as they are offered.

What a server lists later is kept aside until the host takes it. Whether a tool may be used is
decided by its pin with every call, by the newest definition that is known.
"""

from collections.abc import Callable, Iterable
from functools import partial

from anyio import CancelScope, Event, get_cancelled_exc_class, move_on_after, to_thread

from holdfast.contract.errors import Unavailable
from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Runtime
from holdfast.sources.mcp.calls import OpenCall
from holdfast.sources.mcp.connection import Connection, Heard, Peer
from holdfast.sources.mcp.definitions import Definition, digest, offered
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.identity import identity_of
from holdfast.sources.mcp.pinning import Pins
from holdfast.sources.mcp.pins import Quarantined, fingerprint
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.quiet import be_quiet
from holdfast.sources.mcp.secrets import secrets_of
from holdfast.sources.mcp.setup import BadSetup, ServerSetup
from holdfast.sources.mcp.shelf import Shelf
from holdfast.sources.mcp.states import Status
from holdfast.sources.mcp.troubles import (
    changed_meanwhile,
    quarantined,
    timed_out,
    unavailable,
)

WAITS = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before it is connected again; the last one goes on."""
STEADY_SECONDS = 60.0
"""After so long a connection, waiting begins anew with the shortest."""
CLOSING_SECONDS = 5.0


class Server:
    """One server. Used on one event loop."""

    def __init__(self, setup: ServerSetup, ports: Ports, pins: Pins) -> None:
        self.setup = setup
        self._ports = ports
        self._pins = pins
        self._connection: Connection | None = None
        self._trying: Connection | None = None
        self._resting = CancelScope()
        self._closing = False
        self._cancel: Callable[[], object] | None = None
        self._ended = Event()
        self._settled = Event()
        self.meant = setup
        """The setup with its variables replaced, as they were when it was last connected."""
        self.identity = identity_of(setup, setup)
        """What it is, by what it is connected with."""
        self.status: Status = "disabled" if setup.disabled else "closed"
        self.problem: str | None = "it is disabled" if setup.disabled else "it was not opened"
        self.retry_seconds: float | None = None
        self._is_refused = False
        self.lasting = True
        """Whether it is not tried again; until it is opened, it is not."""
        self.peer: Peer | None = None
        """Who answered last."""
        self.shelf = Shelf(ports.redaction)
        """Its tools."""

    def begin(self) -> None:
        """Have it connected, and kept so."""
        if self.setup.disabled or self._cancel is not None:
            self._settled.set()
            return
        self.lasting = False
        self.status, self.problem = "connecting", "it is being connected"
        self._cancel = self._ports.begin(self._own())

    async def settled(self) -> None:
        """Return when it has listed its tools or failed, and at the latest after its time."""
        with move_on_after(self.setup.startup_seconds + CLOSING_SECONDS):
            await self._settled.wait()

    async def close(self) -> None:
        """End it and all it started, within a bound."""
        self._closing = self.lasting = True
        self._resting.cancel()
        if self._trying is not None:
            self._trying.leave()
        if self._cancel is None:
            return
        with move_on_after(CLOSING_SECONDS, shield=True):
            await self._ended.wait()
        if not self._ended.is_set():
            self._cancel()

    async def call(
        self, definition: Definition, arguments: JsonObject, runtime: Runtime
    ) -> JsonObject:
        """Call a tool as it was offered; gives the answer as it came."""
        connection = self._connection
        if connection is None:
            wait = self.retry_seconds
            soon = "" if wait is None else f"; it is connected again in {wait:g} s"
            why = f"{self.problem or ''}{soon}"
            raise unavailable(self.setup.name, why, lasting=self.lasting or self._is_refused)
        await self._admit(definition)
        call = OpenCall(definition.name, arguments, runtime)
        connection.hand(call)
        seconds = self.setup.seconds
        return await call.wait(
            seconds, partial(timed_out, self.setup.name, definition.name, seconds)
        )

    def quarantine(self, definition: Definition) -> Quarantined | None:
        """Why a tool may not be used; None: it may."""
        return self._pins.quarantine(self.setup.name, self.identity, definition)

    def fingerprints(self, definitions: Iterable[Definition]) -> dict[str, str]:
        """By tool, what stands for its definition."""
        return {one.name: fingerprint(one, self.identity) for one in definitions}

    async def _admit(self, offered: Definition) -> None:
        """Refuse a tool that is not what was accepted; the first call accepts it."""
        name = self.setup.name
        now = next((one for one in self.shelf.latest if one.name == offered.name), offered)
        for definition in (offered, now):
            held = self.quarantine(definition)
            if held is not None:
                raise quarantined(name, offered.name, held.summary)
        if self._pins.has(name, offered.name):
            return
        if digest(now) != digest(offered):
            raise changed_meanwhile(name, offered.name)
        try:
            await self._pins.first(name, self.identity, offered)
        except (OSError, ValueError) as problem:
            raise Unavailable(
                f"The tool {offered.name} of the MCP server {name} was not called: its definition"
                f" cannot be pinned ({problem})."
            ) from None
        held = self.quarantine(offered)
        if held is not None:  # another process was first, with another definition
            raise quarantined(name, offered.name, held.summary)

    async def _own(self) -> None:
        """The owner: connects, and connects again for as long as the server is wanted."""
        tries = 0
        be_quiet()
        try:
            while not self._closing:
                began = self._ports.clock.ticks()
                await self._once()
                if self.lasting or self._closing:
                    break
                if self._ports.clock.ticks() - began > STEADY_SECONDS * 1e9:
                    tries = 0
                wait = WAITS[min(tries, len(WAITS) - 1)]
                tries += 1
                self.retry_seconds = wait
                with CancelScope() as self._resting:
                    await self._ports.sleep(wait)
                self.retry_seconds = None
        finally:
            self.status = "closed" if self._closing else "failed"
            self._settled.set()
            self._ended.set()

    async def _once(self) -> None:
        """One connection, from its beginning to its end; why it is not there any more."""
        self.status = "connecting"
        try:
            now = await to_thread.run_sync(self._prepared)
            self.meant, self.identity = now, identity_of(now, self.setup)
            heard = Heard(self._connected, self.shelf.put_aside, self.shelf.remark, self._lost)
            self._trying = Connection(now, self._ports, heard)
        except BadSetup as problem:
            self.lasting = True
            self._failed(str(problem).removeprefix(f"mcp server {self.setup.name}: "))
            return
        trying = self._trying
        if self._closing:
            trying.leave()
        try:
            how = await trying.hold()
        except get_cancelled_exc_class():
            raise
        except BadSetup as problem:
            self.lasting = True
            how = str(problem).removeprefix(f"mcp server {self.setup.name}: ")
        except Exception as problem:  # noqa: BLE001 - whatever the SDK raises, the server is not there
            how = f"it could not be connected: {trying.why_not(problem)}"
        finally:
            self._is_refused = trying.is_refused
            self._connection = self._trying = None
        self._failed(how)

    def _prepared(self) -> ServerSetup:
        """The server as it is about to be connected; what it must not say is known from here on."""
        self._ports.redaction.learn(secrets_of(self.setup, self._ports.environment))
        now = expanded(self.setup, self._ports.environment)
        for objection in self._ports.objections(now):
            self.shelf.remark(objection)
        return now

    def _failed(self, how: str) -> None:
        self.status, self.problem = "failed", self._ports.redaction.text(how)
        self._settled.set()

    def _lost(self, how: str) -> None:
        self._connection = None
        self._failed(how)

    def _connected(self, peer: Peer) -> None:
        self._connection = self._trying
        clean = self._ports.redaction.text
        self.peer = peer._replace(
            name=offered(None if peer.name is None else clean(peer.name)),
            version=offered(None if peer.version is None else clean(peer.version)),
        )
        self.status, self.problem = "connected", None
        self.shelf.put_aside(peer.listing)
        self._settled.set()
