"""Encrypted fetching: the name is proven, the address is the checked one."""

import asyncio
import errno
import ssl
from pathlib import Path

import pytest
from execution.network.town import LOOPBACK, Gate, Names, Site, identity, served, until

from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.net import FetchLimits, HostAttempt
from holdfast.execution.network import aiohttp_exchange
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.exchanging import Pinned, Unconnected, Wanted, load_exchange
from holdfast.execution.network.fetching import HttpNet, Web
from holdfast.execution.network.web_request import first_request
from holdfast.runtime.clock import SystemClock

pytestmark = pytest.mark.system("openssl")


def _net(certificates: Path | None, told: list[HostAttempt]) -> HttpNet:
    names = Names({name: [[LOOPBACK]] for name in ("site.example", "other.example")})
    attempts = Attempts(SystemClock(), told.append)
    trusted = str(certificates) if certificates else None
    gate = Gate("site.example", "other.example", LOOPBACK)
    return HttpNet(gate, Web(names, attempts, trusted))


async def test_a_name_is_proven_though_an_address_is_dialled(tmp_path: Path) -> None:
    shown = identity(tmp_path, "site.example")
    asked: list[str | None] = []

    def note(_: object, name: str | None, __: object) -> None:
        asked.append(name)

    shown.server.sni_callback = note
    told: list[HostAttempt] = []
    async with served(Site(), tls=shown.server) as port:
        page = await _net(shown.certificate, told).fetch(f"https://site.example:{port}/")
        assert (page.body, page.address) == (b"hello", LOOPBACK)
        assert asked == ["site.example"]
        assert [one.address for one in told] == [LOOPBACK] * 2


@pytest.mark.parametrize("host", ["other.example", LOOPBACK])
async def test_whoever_cannot_prove_the_name_gets_no_request(tmp_path: Path, host: str) -> None:
    shown = identity(tmp_path, "site.example")
    site = Site()
    told: list[HostAttempt] = []
    async with served(site, tls=shown.server) as port:
        with pytest.raises(Unavailable, match=f"certificate is not that of {host} \\(.*mismatch"):
            await _net(shown.certificate, told).fetch(
                f"https://{host}:{port}/", headers={"Authorization": "secret"}
            )
        assert site.heard == []
        assert [(one.decision, one.address) for one in told] == [("allowed", None)]


async def test_a_certificate_that_nobody_vouches_for_is_none(tmp_path: Path) -> None:
    shown = identity(tmp_path, "site.example")
    async with served(Site(), tls=shown.server) as port:
        with pytest.raises(Unavailable, match=r"certificate is not that of .*self.signed"):
            await _net(None, []).fetch(f"https://site.example:{port}/")


async def test_a_host_that_speaks_no_tls_is_told_apart(tmp_path: Path) -> None:
    shown = identity(tmp_path, "site.example")

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.transport.abort()

    why = {
        plain: r"no encrypted connection \(.*VERSION",
        leave: "it closed the connection",
    }
    for handler, words in why.items():
        async with served(handler) as port:
            with pytest.raises(Unavailable, match=f"site.example:{port} .*{words}"):
                await _net(shown.certificate, []).fetch(f"https://site.example:{port}/")


async def test_an_old_version_of_tls_is_not_spoken(tmp_path: Path) -> None:
    shown = identity(tmp_path, "site.example")
    shown.server.set_ciphers("ALL:@SECLEVEL=0")
    shown.server.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        shown.server.maximum_version = ssl.TLSVersion.TLSv1_1
    async with served(Site(), tls=shown.server) as port:
        with pytest.raises(
            Unavailable, match=r"site.example:[0-9]+ (gave no answer|cannot be connected)"
        ):
            await _net(shown.certificate, []).fetch(f"https://site.example:{port}/")


async def test_what_was_encrypted_is_not_sent_in_the_open(tmp_path: Path) -> None:
    shown = identity(tmp_path, "site.example")
    plain = Site()
    async with served(plain) as open_port:
        words = f"HTTP/1.1 302 x\r\nLocation: http://site.example:{open_port}/\r\n\r\n"
        async with served(Site(words.encode()), tls=shown.server) as port:
            with pytest.raises(PolicyDenied, match="not sent in the open") as refused:
                await _net(shown.certificate, []).fetch(f"https://site.example:{port}/")
            assert refused.value.extras["target"] == f"http://site.example:{open_port}/"
        assert plain.heard == []


async def test_a_handshake_without_end_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = identity(tmp_path, "site.example")
    monkeypatch.setattr(aiohttp_exchange, "CONNECT_SECONDS", 0.1)

    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with served(silent) as port:
        with pytest.raises(Unavailable, match=r"did not answer within 0.1 s"):
            await _net(shown.certificate, []).fetch(
                f"https://site.example:{port}/", limits=FetchLimits(seconds=5)
            )


async def test_no_socket_is_made_for_any_other_address() -> None:
    async with served(Site()) as port:
        request = first_request(f"http://127.0.0.1:{port}/", "GET", None, None)
        exchange = load_exchange(None)
        with pytest.raises(Unconnected, match=r"127\.0\.0\.1 is not the address that was checked"):
            await exchange(request, Pinned(LOOPBACK, "127.0.0.2"), Wanted(9, follows=True), Deaf())


class Deaf:
    def connected(self) -> None:
        raise AssertionError("there is no connection")

    def received(self, count: int, /) -> None:
        raise AssertionError("there is no connection")


async def test_what_cannot_be_written_down_is_not_sent() -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read())

    def full(attempt: HostAttempt) -> None:
        if attempt.address is not None and attempt.sent is None:
            raise OSError(errno.ENOSPC, "the disk is full")

    async with served(hear) as port:
        net = HttpNet(Gate(LOOPBACK), Web(Names(), Attempts(SystemClock(), full)))
        with pytest.raises(Unavailable):
            await net.fetch(f"http://127.0.0.1:{port}/")
        await until(lambda: bool(heard))
        assert heard == [b""]
