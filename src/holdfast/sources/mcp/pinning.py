"""The pins of all servers, as a running session has them: read once, kept as they are given."""

from collections.abc import Sequence

from anyio import to_thread

from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Clock
from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.pins import Pin, PinStore, Quarantined, pin_of, quarantine


class Pins:
    """What is pinned."""

    def __init__(self, store: PinStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._by_server: dict[str, dict[str, Pin]] = {}

    async def load(self) -> None:
        """Read them; OSError or ValueError."""
        self._take(await to_thread.run_sync(self._store.load))

    def _take(self, pins: Sequence[Pin]) -> None:
        found: dict[str, dict[str, Pin]] = {}
        for pin in pins:
            found.setdefault(pin.server, {})[pin.tool] = pin
        self._by_server = found

    def has(self, server: str, tool: str) -> bool:
        """Whether a tool is pinned."""
        return tool in self._by_server.get(server, {})

    def quarantine(
        self, server: str, identity: JsonObject, definition: Definition
    ) -> Quarantined | None:
        """Why a tool may not be used; None: it may."""
        return quarantine(definition, identity, self._by_server.get(server, {}))

    async def first(self, server: str, identity: JsonObject, definition: Definition) -> None:
        """Pin a tool that has no pin; one that another process has given counts. OSError."""
        pin = pin_of(server, identity, definition, self._clock.now())
        for kept in await to_thread.run_sync(self._store.first, (pin,)):
            self._by_server.setdefault(server, {})[kept.tool] = kept

    async def accept(
        self, server: str, identity: JsonObject, definitions: Sequence[Definition], *, whole: bool
    ) -> None:
        """Pin these as they are now; ``whole``: they are all that the server has. OSError."""
        pins = [pin_of(server, identity, one, self._clock.now()) for one in definitions]

        def keep() -> tuple[Pin, ...]:
            self._store.accept(server, pins, all_others_go=whole)
            return self._store.load()

        self._take(await to_thread.run_sync(keep))
