"""The fake web and the real one pass the same kit, and the kit can fail."""

import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web
from execution.network.town import LOOPBACK, Gate, Names

from holdfast.contract.errors import InvalidArguments, PolicyDenied, ToolError
from holdfast.contract.net import USUAL_LIMITS, Fetched, FetchLimits, HostAttempt
from holdfast.execution.network.attempts import Attempts
from holdfast.execution.network.fetching import HttpNet, Web
from holdfast.runtime.clock import SystemClock
from holdfast.testing.fake_net import Asked, FakeNet, Page
from holdfast.testing.net_kit import NetGround, check_net, kit_pages

pytestmark = pytest.mark.anyio

MADE_UP = NetGround("https://site.example", "https://refused.example", "http://silent.example")


def _fake(ground: NetGround = MADE_UP) -> FakeNet:
    pages = {ground.site + path: page for path, page in kit_pages(ground).items()}
    return FakeNet(pages, silent=[ground.silent])


async def test_the_fake_passes_the_kit() -> None:
    await check_net(_fake(), MADE_UP)


@asynccontextmanager
async def _served(ground: Callable[[int], NetGround]) -> AsyncGenerator[NetGround]:
    told: list[NetGround] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        page = kit_pages(told[0]).get(request.path_qs, Page(status=404))
        if not isinstance(page, Page):
            asked = Asked(request.method, request.path, request.headers, await request.read())
            page = page(asked)
        return web.Response(status=page.status, headers=page.headers, body=page.body)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK, 0)
    await site.start()
    try:
        told.append(ground(runner.addresses[0][1]))
        yield told[0]
    finally:
        await runner.cleanup()


async def test_the_real_one_passes_the_kit() -> None:
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))  # it does not listen
        silent = f"http://127.0.0.1:{unused.getsockname()[1]}"

        def ground(port: int) -> NetGround:
            return NetGround(f"http://site.example:{port}", "http://refused.example", silent)

        told: list[HostAttempt] = []
        names = Names({"site.example": [[LOOPBACK]]})
        net = HttpNet(
            Gate("site.example", LOOPBACK), Web(names, Attempts(SystemClock(), told.append))
        )
        async with _served(ground) as where:
            await check_net(net, where)
        assert {one.decision for one in told} == {"allowed", "refused"}


class Altered:
    """A net that is nearly right."""

    def __init__(self, change: Callable[[Fetched], Fetched], swallow: type[ToolError]) -> None:
        self._net = _fake()
        self._change = change
        self._swallow = swallow

    async def fetch(
        self,
        url: str,
        /,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limits: FetchLimits = USUAL_LIMITS,
    ) -> Fetched:
        try:
            page = await self._net.fetch(
                url, method=method, headers=headers, body=body, limits=limits
            )
        except self._swallow:
            return Fetched(url=url, status=200, headers=(), body=b"")
        return self._change(page)


class Never(ToolError):
    pass


def _with(**changes: object) -> Callable[[Fetched], Fetched]:
    return lambda page: msgspec.structs.replace(page, **changes)


@pytest.mark.parametrize(
    ("change", "swallow"),
    [
        (_with(truncated=False), Never),
        (_with(hops=()), Never),
        (_with(headers=()), Never),
        (_with(status=200), Never),
        (_with(), PolicyDenied),
        (_with(), InvalidArguments),
        (_with(), ToolError),
    ],
)
async def test_the_kit_notices_a_net_that_is_nearly_right(
    change: Callable[[Fetched], Fetched], swallow: type[ToolError]
) -> None:
    with pytest.raises(AssertionError):
        await check_net(Altered(change, swallow), MADE_UP)


async def test_the_fake_remembers_what_it_was_asked_and_takes_urls_only() -> None:
    net = FakeNet({"https://docs.example/start": Page(body=b"hello")})
    page = await net.fetch("https://docs.example/start", method="HEAD", headers={"Accept": "x"})
    assert (page.body, page.truncated, page.address) == (b"", False, "192.0.2.1")
    assert (await net.fetch("https://docs.example/other")).status == 404
    assert net.asked[0] == Asked("HEAD", "https://docs.example/start", {"Accept": "x"}, None)
    with pytest.raises(ValueError, match="does not begin with"):
        FakeNet({"docs.example": Page()})
