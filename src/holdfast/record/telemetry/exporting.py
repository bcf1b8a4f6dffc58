"""Where spans and metrics go: to a collector over HTTP, by threads of their own.

Nothing here stops a call: what cannot be sent is dropped, and said in the log by OpenTelemetry.
"""

from collections.abc import Mapping
from threading import Thread
from typing import Protocol

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from holdfast._version import __version__
from holdfast.record.telemetry.opened import Opened

SENDING_SECONDS = 10.0
"""For one batch, trying again included."""


class _Ends(Protocol):
    def shutdown(self) -> None: ...


class Collector(Opened):
    """Tells providers of our own that send to one collector, and that nobody else uses."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], service_name: str) -> None:
        where = endpoint.rstrip("/")
        resource = Resource.create({SERVICE_NAME: service_name, SERVICE_VERSION: __version__})
        spans = OTLPSpanExporter(f"{where}/v1/traces", headers=headers, timeout=SENDING_SECONDS)
        metrics = OTLPMetricExporter(
            f"{where}/v1/metrics", headers=headers, timeout=SENDING_SECONDS
        )
        self._exporters: tuple[_Ends, ...] = (spans, metrics)
        # Whoever closes says so in time; at the end of the program nothing is waited for.
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        self._meters = MeterProvider(
            (PeriodicExportingMetricReader(metrics),),
            resource=resource,
            shutdown_on_exit=False,
        )
        super().__init__(self._tracers, self._meters)

    def close(self, seconds: float, /) -> bool:
        """Send what is left, for so long at most; whether that was enough. Blocking."""
        ending = Thread(target=self._shut_down, name="holdfast-telemetry", daemon=True)
        ending.start()
        ending.join(seconds)
        if not ending.is_alive():
            return True
        for exporter in self._exporters:
            exporter.shutdown()  # what waits to try again gives up
        return False

    def _shut_down(self) -> None:
        self._tracers.shutdown()
        self._meters.shutdown()
