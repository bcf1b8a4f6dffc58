"""What the `[telemetry]` table makes of a session: somebody who hears its events and tells them to
OpenTelemetry. Used where it is switched on.

Whatever goes wrong with telling is said once in the log and reaches no call.
"""

import logging
import os
import threading
from collections.abc import Mapping
from typing import cast
from urllib.parse import unquote, urlsplit

from anyio import CancelScope, to_thread

from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings, TelemetrySettings
from holdfast.contract.events import Event, SessionCreated
from holdfast.contract.late_pattern import late_pattern
from holdfast.record.telemetry.door import (
    Destination,
    Listening,
    Telemetry,
    TelemetryUnavailable,
    check_telemetry,
    open_telemetry,
)
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")
_exporter_log = logging.getLogger("opentelemetry.exporter")

CLOSING_SECONDS = 2.0
"""How long closing waits for what is left to be sent."""
_HEADER = late_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = late_pattern(r"[\t\x20-\x7e]*")
_NOTHING_TO_TELL = (
    "telemetry.enabled: what is told is made of what is written down, and store.kind is none; set"
    " store.kind = 'sqlite', or telemetry.enabled = false"
)


class SharedTelemetry:
    """What is open in this process, one for each destination, counted by the sessions that tell it.

    The last to close ends it. Event loops in several threads may do so at the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, Destination], tuple[Telemetry, int]] = {}

    def opened(self, destination: Destination) -> Telemetry:
        """The one for this destination."""
        with self._lock:
            key = os.getpid(), destination  # a forked child has none of its parent's threads
            there = self._open.get(key)
            telemetry = _opened(destination) if there is None else there[0]
            self._open[key] = telemetry, 1 if there is None else there[1] + 1
            return telemetry

    def let_go(self, destination: Destination) -> Telemetry | None:
        """Use it no more; gives the one that nobody uses now, to be closed."""
        with self._lock:
            key = os.getpid(), destination
            telemetry, users = self._open.pop(key)
            if users == 1:
                return telemetry
            self._open[key] = telemetry, users - 1
            return None


SHARED = SharedTelemetry()


def _opened(destination: Destination) -> Telemetry:
    if destination.endpoint is not None and not _exporter_log.level:
        # It tells every try, and that it is closed; what could not be sent is said here, once.
        _exporter_log.setLevel(logging.ERROR)
    return open_telemetry(destination)


class SessionTelemetry:
    """Hears the events of one session while it is open."""

    def __init__(
        self, log: SessionLog, created: SessionCreated, destination: Destination, *, content: bool
    ) -> None:
        self._log = log
        self._created = created
        self._destination = destination
        self._content = content
        self._listening: Listening | None = None
        self._provider: str | None = None
        self._is_open = False

    def asks_models_of(self, provider: str) -> None:
        """Say whose model the session asks."""
        self._provider = provider
        if self._listening is not None:
            self._listening.asks_models_of(provider)

    def open(self) -> None:
        """Listen from here on."""
        telemetry = SHARED.opened(self._destination)
        self._is_open = True
        self._listening = telemetry.listening(
            self._log.session_id, self._created, content=self._content
        )
        if self._provider is not None:
            self._listening.asks_models_of(self._provider)
        self._log.listeners.append(self._hear)

    async def close(self) -> None:
        """Listen no more, and let what is left be sent for a moment."""
        if not self._is_open:
            return
        self._is_open = False
        self._log.listeners.remove(self._hear)
        self._end()
        unused = SHARED.let_go(self._destination)
        if unused is not None:
            with CancelScope(shield=True):
                if not await to_thread.run_sync(unused.close, CLOSING_SECONDS):
                    _log.warning(
                        "telemetry: not all of it could be sent to %s", self._destination.endpoint
                    )

    def _hear(self, event: Event) -> None:
        if self._listening is None:
            return
        try:
            self._listening.hear(event)
        except Exception as problem:  # noqa: BLE001 - the program's own processors and exporters
            self._give_up(problem)

    def _end(self) -> None:
        try:
            if self._listening is not None:
                self._listening.close()
        except Exception as problem:  # noqa: BLE001 - the same
            self._give_up(problem)
        self._listening = None

    def _give_up(self, problem: Exception) -> None:
        self._listening = None
        _log.warning(
            "telemetry of session %s ends here: %s: %s",
            self._log.session_id,
            type(problem).__name__,
            problem,
        )


def session_telemetry(
    settings: Settings, surroundings: Surroundings, created: SessionCreated, log: SessionLog | None
) -> SessionTelemetry | None:
    """Who hears the events of a session that begins so; ConfigurationError where nobody can."""
    destination = checked(settings, surroundings.parent_environment)
    content = settings.telemetry.content
    return None if log is None else SessionTelemetry(log, created, destination, content=content)


def checked(settings: Settings, environment: Mapping[str, str]) -> Destination:
    """Where it goes; ConfigurationError where nothing can be told as things are configured."""
    if settings.store.kind == "none":
        raise ConfigurationError(_NOTHING_TO_TELL)
    destination = destination_of(settings.telemetry, environment)
    try:
        check_telemetry(destination)
    except TelemetryUnavailable as problem:
        raise ConfigurationError(f"telemetry.enabled: {problem}") from None
    return destination


def destination_of(telemetry: TelemetrySettings, environment: Mapping[str, str]) -> Destination:
    """Where it goes; ConfigurationError where an address or a header cannot be used."""
    _check_endpoint(telemetry.endpoint, "telemetry.endpoint")
    headers: tuple[tuple[str, str], ...] = ()
    name = telemetry.headers_variable
    if name is not None:
        if telemetry.endpoint is None:
            raise ConfigurationError(
                "telemetry.headers_variable: without telemetry.endpoint nobody is told any headers;"
                " set telemetry.endpoint, or take it out"
            )
        if not environment.get(name):
            raise ConfigurationError(
                f"telemetry.headers_variable: the environment variable {name} is not set; set it"
                " where holdfast is started, or take it out"
            )
        headers = headers_in(environment[name], name)
    return Destination(
        endpoint=telemetry.endpoint, headers=headers, service_name=telemetry.service_name
    )


def headers_in(text: str, name: str) -> tuple[tuple[str, str], ...]:
    """The headers in a variable, written as OpenTelemetry writes them; ConfigurationError.

    No value is shown: it may be a key.
    """
    found: list[tuple[str, str]] = []
    for part in filter(None, map(str.strip, text.split(","))):
        header, equals, value = part.partition("=")
        told = unquote(value).strip()
        if not equals or not _HEADER.fullmatch(header.strip()) or not _VALUE.fullmatch(told):
            raise ConfigurationError(
                f"telemetry.headers_variable: {name} holds something else than headers; write"
                " name=value, several of them with commas between, and %2C for a comma in a value"
            )
        found.append((header.strip(), told))
    return tuple(found)


def check_table(table: Table, origin: str) -> None:
    """Raise ConfigurationError for an address that is none."""
    endpoint = cast("Table", table.get("telemetry", {})).get("endpoint")
    _check_endpoint(cast("str | None", endpoint), f"{origin}: telemetry.endpoint")


def _check_endpoint(endpoint: str | None, where: str) -> None:
    problem = None if endpoint is None else _problem_with(endpoint)
    if problem is not None:
        raise ConfigurationError(
            f'{where}: {problem}; write endpoint = "http://localhost:4318", the address without'
            " /v1/traces"
        )


def _problem_with(endpoint: str) -> str | None:
    """What is wrong with an address; it is not shown, as it may hold a password."""
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not endpoint.isprintable() or " " in endpoint:
        return "it is no address of a collector that speaks OTLP over HTTP"
    if "@" in urlsplit(endpoint).netloc:
        return "it holds a name or a password, which belong into the variable of headers_variable"
    if "?" in endpoint or "#" in endpoint:
        return "it holds more than an address"
    if endpoint.rstrip("/").endswith(("/v1/traces", "/v1/metrics")):
        return "it names one kind of what is sent, and both kinds are"
    return None
