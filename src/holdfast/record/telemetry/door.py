"""The door to OpenTelemetry: what is behind it is loaded when it is opened, as it is an extra.

Whoever composes imports this module alone.
"""

from importlib import import_module
from types import ModuleType
from typing import Protocol

import msgspec

from holdfast.contract.events import Event, SessionCreated


class TelemetryUnavailable(Exception):
    """OpenTelemetry is not installed; says what to do."""


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Where spans and metrics go."""

    endpoint: str | None = None
    """The address of a collector; None: wherever the program's own OpenTelemetry sends them."""
    headers: tuple[tuple[str, str], ...] = ()
    """What the collector wants to be told with every request: a key, as a rule."""
    service_name: str = "holdfast"

    def __repr__(self) -> str:
        """Without the headers: they hold a key."""
        return f"Destination(endpoint={self.endpoint!r}, service_name={self.service_name!r})"


class Listening(Protocol):
    """Hears the events of one session."""

    def asks_models_of(self, provider: str, /) -> None:
        """Say whose model it asks."""
        ...

    def hear(self, event: Event, /) -> None:
        """Take one event into account."""
        ...

    def close(self) -> None:
        """End what is open."""
        ...


class Telemetry(Protocol):
    """What is open towards one destination, for all sessions that tell it."""

    def listening(self, session_id: str, created: SessionCreated, *, content: bool) -> Listening:
        """To a session that begins so. ``content``: whether what is said in it may be told."""
        ...

    def close(self, seconds: float, /) -> bool:
        """Send what is left, for so long at most; whether that was enough. Blocking."""
        ...


def load(module: str) -> ModuleType:
    """A module of this package; TelemetryUnavailable where OpenTelemetry is not installed."""
    try:
        return import_module(f"holdfast.record.telemetry.{module}")
    except ImportError as problem:
        raise TelemetryUnavailable(
            f"telemetry needs a package more ({problem});"
            " install it with: pip install 'holdfast[telemetry]'"
        ) from None


def check_telemetry(destination: Destination) -> None:
    """Load what this destination needs, and open nothing; TelemetryUnavailable."""
    for module in ("opened", *(() if destination.endpoint is None else ("exporting",))):
        load(module)


def open_telemetry(destination: Destination) -> Telemetry:
    """Begin to tell it; TelemetryUnavailable. Nobody is reached before there is something to tell.

    A collector's own threads send what is told.
    """
    if destination.endpoint is None:
        opened: Telemetry = load("opened").AsTheProgramHasIt()
        return opened
    collector: Telemetry = load("exporting").Collector(
        destination.endpoint, dict(destination.headers), destination.service_name
    )
    return collector
