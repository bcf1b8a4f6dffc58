"""`holdfast worker --health`: what is asked over HTTP, and what is answered."""

import socket
from pathlib import Path

import anyio
import pytest
from command import Cli
from prometheus_client.parser import text_string_to_metric_families

from holdfast.app.meter import Meter
from holdfast.surfaces.cli.health import answering
from holdfast.surfaces.cli.parsing import UsageError

LOCAL = "127.0.0.1"


async def _said(port: int, text: str) -> str:
    stream = await anyio.connect_tcp(LOCAL, port)
    async with stream:
        await stream.send(text.encode())
        said = b""
        try:
            while True:
                said += await stream.receive()
        except anyio.EndOfStream:
            return said.decode()


async def _got(port: int, path: str) -> str:
    return await _said(port, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")


def _read_by_prometheus(text: str) -> dict[tuple[str, str], float]:
    """Each sample with the kind of its family, as Prometheus reads them; all are explained."""
    families = list(text_string_to_metric_families(text))
    assert all(one.documentation for one in families)
    return {(one.name, family.type): one.value for family in families for one in family.samples}


async def test_it_lives_is_ready_or_not_and_tells_what_it_counted() -> None:
    meter = Meter()
    async with answering(LOCAL, 0, meter) as port:
        assert (await _got(port, "/healthz")).startswith("HTTP/1.1 200 OK\r\n")
        not_yet = await _got(port, "/readyz")
        assert not_yet.startswith("HTTP/1.1 503 ")
        assert not_yet.endswith("it cannot hear what is due now\n")
        meter.ready = lambda: True
        assert (await _got(port, "/readyz?verbose")).startswith("HTTP/1.1 200 OK\r\n")
        metrics = await _got(port, "/metrics")
        assert "Content-Type: text/plain; version=0.0.4" in metrics
        assert "\nholdfast_worker_runs_total 0\n" in metrics
        meter.runs, meter.waits, meter.waited_seconds, meter.in_hand = 3, 2, 1.5, 1
        _, _, text = (await _got(port, "/metrics")).partition("\r\n\r\n")
        assert _read_by_prometheus(text) == {
            ("holdfast_worker_runs_total", "counter"): 3.0,
            ("holdfast_worker_runs_in_vain_total", "counter"): 0.0,
            ("holdfast_worker_in_hand", "gauge"): 1.0,
            ("holdfast_worker_ready", "gauge"): 1.0,
            ("holdfast_worker_wake_wait_seconds_sum", "summary"): 1.5,
            ("holdfast_worker_wake_wait_seconds_count", "summary"): 2.0,
        }
        meter.drain()
        assert (await _got(port, "/readyz")).endswith("it ends\n")


async def test_whatever_else_is_asked_gets_nothing_and_ends_nothing() -> None:
    async with answering(LOCAL, 0, Meter()) as port:
        assert (await _got(port, "/secrets")).startswith("HTTP/1.1 404 ")
        assert (await _said(port, "POST /metrics HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 405 ")
        head = await _said(port, "HEAD /healthz HTTP/1.1\r\n\r\n")
        assert head.endswith("\r\n\r\n")
        assert await _said(port, "x" * 10_000) == ""
        async with await anyio.connect_tcp(LOCAL, port):
            pass
        assert (await _got(port, "/healthz")).startswith("HTTP/1.1 200 ")


async def test_a_port_that_is_taken_is_told() -> None:
    async with answering(LOCAL, 0, Meter()) as port:
        with pytest.raises(ExceptionGroup) as raised:
            async with anyio.create_task_group(), answering(LOCAL, port, Meter()):
                raise AssertionError
        assert isinstance(raised.value.exceptions[0], UsageError)


def test_the_worker_listens_while_it_runs(cli: Cli, home: Path) -> None:
    answer = cli("worker", "--once", "--health", "0", "--concurrency", "3")
    assert answer.status == 0, answer.err
    assert "answers at http://127.0.0.1:" in answer.err
    assert cli("worker", "--once", "--health", "nowhere").status == 2
    with socket.create_server((LOCAL, 0)) as taken:
        port = str(taken.getsockname()[1])
        busy = cli("worker", "--once", "--health", port)
    assert (busy.status, f"--health {LOCAL}:{port}: " in busy.err) == (2, True)
    assert "choose another port" in busy.err
    wrong = cli("worker", "--once", "--concurrency", "none")
    assert wrong.status == 2
    assert "engine.concurrency" in wrong.err


def test_a_label_without_a_cluster_is_not_passed_over(cli: Cli, home: Path) -> None:
    """Whoever gives one believes that it counts."""
    answer = cli("worker", "--once", "--label", "gpu")
    assert answer.status == 2
    assert "--label is for workers of a cluster, and engine.kind is embedded" in answer.err
    alone = cli("worker", "--label", "gpu", "--set", "engine.kind=cluster")
    assert alone.status == 2
    assert "no cluster is configured" in alone.err
    assert "Ctrl-C" not in alone.err  # nothing was begun


def test_a_server_of_a_cluster_that_is_not_configured_never_listens(cli: Cli, home: Path) -> None:
    answer = cli("serve", "--cluster", "--port", "0")
    assert answer.status == 2
    assert "no cluster is configured" in answer.err
    assert answer.out == ""
