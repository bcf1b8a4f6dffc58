"""A collector of telemetry on loopback: keeps what it is sent, and answers as it is told."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collected:
    """What came."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.url = ""
        self.headers: list[dict[str, str]] = []
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.metrics: list[str] = []

    async def traces(self, request: web.Request) -> web.Response:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        message: Any = ExportTraceServiceRequest.FromString(await request.read())
        for resource in message.resource_spans:
            attributes = {one.key: one.value.string_value for one in resource.resource.attributes}
            self.resources.append(attributes)
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return web.Response(status=self.status)

    async def measured(self, request: web.Request) -> web.Response:
        message: Any = ExportMetricsServiceRequest.FromString(await request.read())
        for resource in message.resource_metrics:
            for scope in resource.scope_metrics:
                self.metrics += [metric.name for metric in scope.metrics]
        return web.Response(status=self.status)


@asynccontextmanager
async def collecting(status: int = 200) -> AsyncGenerator[Collected]:
    """A collector that answers with this status."""
    collected = Collected(status)
    app = web.Application()
    app.router.add_post("/base/v1/traces", collected.traces)
    app.router.add_post("/base/v1/metrics", collected.measured)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    collected.url = f"http://127.0.0.1:{runner.addresses[0][1]}/base/"
    try:
        yield collected
    finally:
        await runner.cleanup()
