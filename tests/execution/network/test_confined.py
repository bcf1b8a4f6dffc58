"""Real programs in real sandboxes: the proxy is their only way out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from execution.network.town import LOOPBACK, Gate, Names, Site, identity, served, until
from execution.processes.conftest import measured_wardens as measured_wardens
from execution.processes.ground import Ground, each, opened

from holdfast.contract.net import HostAttempt
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.conversation import Ways
from holdfast.execution.network.egress_proxy import EgressProxy
from holdfast.execution.network.proxy_environment import proxy_environment
from holdfast.execution.processes.command import Limits, Report
from holdfast.runtime.clock import SystemClock

PATIENCE = Limits(wall=15)
PYTHON = "/usr/bin/python3"
needs_curl = pytest.mark.system("curl")


class Confined(NamedTuple):
    """A sandbox with a proxy."""

    ground: Ground
    names: Names
    told: list[HostAttempt]
    port: int

    async def run(self, text: str) -> Report:
        settings = "".join(
            f"export {name}={value}; " for name, value in proxy_environment(self.port).items()
        )
        return await self.ground.run(settings + text, PATIENCE)


@asynccontextmanager
async def confined(tmp_path: Path, kind: str, gate: Gate, names: Names) -> AsyncGenerator[Confined]:
    workspace = str(tmp_path.resolve() / "workspace")
    policy = SandboxPolicy(
        network="hosts", hosts=(("*",),), readable=(workspace,), writable=(workspace,)
    )
    async with opened(tmp_path, kind, policy) as ground:
        listener = ground.warden.listener
        assert listener is not None
        told: list[HostAttempt] = []
        ways = Ways(gate, names, Attempts(SystemClock(), told.append))
        proxy = EgressProxy(listener, ways)
        try:
            yield Confined(ground, names, told, proxy.port)
        finally:
            await proxy.close()


def _names() -> Names:
    return Names({"site.example": [[LOOPBACK]], "bare.example": [[LOOPBACK]]})


def _gate() -> Gate:
    return Gate("site.example", "bare.example", LOOPBACK)


@needs_curl
@each("namespaces", "bubblewrap")
async def test_curl_reaches_admitted_hosts_by_every_way(tmp_path: Path, kind: str) -> None:
    site = Site()
    async with served(site) as port, confined(tmp_path, kind, _gate(), _names()) as inside:
        url = f"http://site.example:{port}/page"
        for options in (
            "",
            "--proxytunnel",
            f"--noproxy '' -x socks5h://127.0.0.1:{inside.port}",
            f"-x socks5h://127.0.0.1:{inside.port} -H 'Host: other'",
            "--data-binary @body",
            "--data-binary @body -H 'Transfer-Encoding: chunked'",
        ):
            (inside.ground.workspace / "body").write_bytes(b"x" * 3000)
            report = await inside.run(f"curl -sS --max-time 10 {options} {url}")
            assert report.captured.stdout.head == b"hello", report.captured.stderr.head
        assert [told.how for told in inside.told[::2]] == [
            *("http", "connect", "socks", "socks", "http", "http")
        ]
        assert {told.address for told in inside.told} == {LOOPBACK}


@needs_curl
@each("namespaces", "bubblewrap")
async def test_curl_is_told_which_host_is_refused_and_nobody_is_asked_for_it(
    tmp_path: Path, kind: str
) -> None:
    async with confined(tmp_path, kind, _gate(), _names()) as inside:
        plain = await inside.run("curl -sS --max-time 10 http://other.example/")
        assert b"holdfast: other.example:80 is out of reach" in plain.captured.stdout.head
        tunnel = await inside.run("curl -sS --max-time 10 https://other.example/")
        assert tunnel.ended is not None
        assert tunnel.ended.exit == 56
        assert b"403" in tunnel.captured.stderr.head
        socks = f"-x socks5h://127.0.0.1:{inside.port}"
        by_socks = await inside.run(f"curl -sS --max-time 10 {socks} https://other.example/")
        assert by_socks.ended is not None
        assert by_socks.ended.exit == 97
        assert [(told.host, told.decision) for told in inside.told] == [
            ("other.example", "refused")
        ] * 3
        assert inside.names.asked == []


@needs_curl
@each("namespaces", "bubblewrap")
async def test_each_hop_of_a_redirect_is_judged_anew(tmp_path: Path, kind: str) -> None:
    moved = Site(
        b"HTTP/1.1 302 Found\r\nLocation: http://metadata.internal/key\r\nContent-Length: 0\r\n\r\n"
    )
    async with served(moved) as port, confined(tmp_path, kind, _gate(), _names()) as inside:
        report = await inside.run(f"curl -sSL --max-time 10 http://site.example:{port}/")
        assert b"metadata.internal:80 is out of reach" in report.captured.stdout.head
        assert inside.told[-1].decision == "refused"
        assert inside.names.asked == ["site.example"]


DIRECT = """
import errno, socket, sys

def attempt(what, *words):
    try:
        what(*words)
    except OSError as problem:
        print(type(problem).__name__)
    else:
        print("it worked")

attempt(socket.create_connection, ("127.0.0.1", PORT), 2)
attempt(socket.create_connection, ("192.0.2.1", 80), 2)
attempt(socket.create_connection, ("2001:db8::1", 80), 2)
attempt(socket.getaddrinfo, "site.example", 80)
asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
attempt(asking.sendto, b"query", ("192.0.2.53", 53))
"""


@each("namespaces", "bubblewrap")
async def test_there_is_no_way_around_the_proxy(tmp_path: Path, kind: str) -> None:
    async with served(Site()) as port, confined(tmp_path, kind, _gate(), _names()) as inside:
        script = inside.ground.workspace / "direct.py"
        script.write_text(DIRECT.replace("PORT", str(port)), "utf-8")
        report = await inside.run(f"{PYTHON} direct.py")
        said = report.captured.stdout.head.decode().split()
        assert said == ["ConnectionRefusedError", "OSError", "OSError", "gaierror", "OSError"]
        assert (inside.told, inside.names.asked) == ([], [])


FETCH = """
import urllib.request, sys
print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
"""


@each("namespaces", "bubblewrap")
async def test_python_finds_the_proxy_by_its_environment(tmp_path: Path, kind: str) -> None:
    async with served(Site()) as port, confined(tmp_path, kind, _gate(), _names()) as inside:
        (inside.ground.workspace / "fetch.py").write_text(FETCH, "utf-8")
        report = await inside.run(f"{PYTHON} fetch.py http://site.example:{port}/")
        assert report.captured.stdout.head == b"hello\n"
        refused = await inside.run(f"{PYTHON} fetch.py http://other.example/")
        assert b"HTTP Error 403" in refused.captured.stderr.head + refused.captured.stderr.tail


@pytest.mark.measured
@needs_curl
@each("namespaces", "bubblewrap")
async def test_a_server_of_the_sandbox_itself_is_reached_directly(
    tmp_path: Path, kind: str
) -> None:
    async with confined(tmp_path, kind, _gate(), _names()) as inside:
        (inside.ground.workspace / "index.html").write_text("from inside", "utf-8")
        report = await inside.run(
            f"{PYTHON} -m http.server --bind 127.0.0.1 8765 >/dev/null 2>&1 & "
            "for try in $(seq 100); do"
            " curl -sS --max-time 5 http://localhost:8765/ 2>/dev/null && break; sleep 0.05; done"
        )
        assert report.captured.stdout.head == b"from inside"
        assert inside.told == []


@pytest.mark.measured
@needs_curl
@pytest.mark.system("openssl")
@each("namespaces", "bubblewrap")
async def test_tls_goes_through_a_tunnel_end_to_end(tmp_path: Path, kind: str) -> None:
    shown = identity(tmp_path, "site.example")
    async with (
        served(Site(), tls=shown.server) as port,
        confined(tmp_path, kind, _gate(), _names()) as inside,
    ):
        (inside.ground.workspace / "ca.pem").write_bytes(shown.certificate.read_bytes())
        curl = "curl -sS --max-time 10 --cacert ca.pem"
        report = await inside.run(f"{curl} https://site.example:{port}/")
        assert report.captured.stdout.head == b"hello", report.captured.stderr.head
        other = await inside.run(f"{curl} https://bare.example:{port}/")
        assert other.ended is not None
        assert other.ended.exit == 60  # the certificate is not this name's
        await until(lambda: len(inside.told) == 4)
        assert [told.how for told in inside.told] == ["connect"] * 4
