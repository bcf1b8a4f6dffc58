"""What is open towards a destination: providers of OpenTelemetry, and what is made with them."""

from opentelemetry.metrics import MeterProvider, get_meter_provider
from opentelemetry.trace import TracerProvider, get_tracer_provider

from holdfast.contract.events import SessionCreated
from holdfast.record.telemetry.instruments import Instruments
from holdfast.record.telemetry.session_spans import SessionSpans
from holdfast.record.telemetry.traced import TracedSession


class Opened:
    """Tells these providers."""

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self._instruments = Instruments(tracers, meters)

    def listening(self, session_id: str, created: SessionCreated, *, content: bool) -> SessionSpans:
        """To a session that begins so."""
        session = TracedSession(session_id, created, content=content)
        return SessionSpans(self._instruments, session)


class AsTheProgramHasIt(Opened):
    """Tells whatever the program around us has set up. It is not ours to end."""

    def __init__(self) -> None:
        super().__init__(get_tracer_provider(), get_meter_provider())

    def close(self, _seconds: float, /) -> bool:
        """There is nothing to wait for."""
        return True
