"""`rt.net` against real hosts on loopback: hops, pinning, refusals, records."""

import asyncio

import pytest
from execution.network.reach import SOME, answer, moved, reach
from execution.network.town import LOOPBACK, Site, served

from holdfast.contract.errors import OperationFailed, PolicyDenied
from holdfast.contract.net import FetchLimits


async def test_a_page_is_fetched_under_its_name_from_its_checked_address() -> None:
    site = Site(answer("200 OK", b"hello", "X-Own: ä"))
    async with served(site) as port:
        reached = reach()
        page = await reached.net.fetch(f"http://Site.example.:{port}/a?b#c", headers={"X-A": "1"})
        assert (page.status, page.body, page.truncated) == (200, b"hello", False)
        assert (page.url, page.hops) == (f"http://Site.example.:{port}/a?b", ())
        assert page.address == LOOPBACK
        assert ("X-Own", "ä") in page.headers
        (head,) = site.heard
        lines = head.decode().split("\r\n")
        assert lines[0] == "GET /a?b HTTP/1.1"
        assert f"Host: site.example:{port}" in lines
        assert {"X-A: 1", "Connection: close", "Accept-Encoding: gzip, deflate"} <= set(lines)
        assert any(line.startswith("User-Agent: holdfast/") for line in lines)
        assert reached.names.asked == ["site.example"]
        begun, ended = reached.told
        assert (begun.how, begun.host, begun.port) == ("fetch", "Site.example.", port)
        assert (begun.address, begun.sent) == (LOOPBACK, None)
        assert (ended.sent, ended.received, ended.reason) == (0, 5, None)


async def test_a_body_goes_along_and_an_error_is_an_answer() -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        heard.append(await reader.readexactly(3 * SOME))
        writer.write(answer("500 Oh", b"sorry"))

    async with served(hear) as port:
        reached = reach()
        page = await reached.net.fetch(
            f"http://127.0.0.1:{port}/", method="put", body=b"x" * 3 * SOME
        )
        assert (page.status, page.body) == (500, b"sorry")
        assert b"PUT / HTTP/1.1\r\n" in heard[0]
        assert f"Content-Length: {3 * SOME}\r\n".encode() in heard[0]
        assert b"Content-Type" not in heard[0]
        assert reached.told[-1].sent == 3 * SOME
        assert reached.names.asked == []


async def test_a_refused_host_is_named_and_never_looked_up() -> None:
    reached = reach("site.example")
    with pytest.raises(PolicyDenied) as refused:
        await reached.net.fetch("https://elsewhere.example/x")
    assert refused.value.extras == {
        "target": "elsewhere.example:443",
        "requirement": "requires.net.hosts = ['elsewhere.example']",
    }
    assert "elsewhere.example:443 is out of reach." in str(refused.value)
    assert reached.names.asked == []
    (told,) = reached.told
    assert (told.how, told.decision, told.host) == ("fetch", "refused", "elsewhere.example")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost/",
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "http://metadata.internal/",
        "http://inside.example/",
    ],
)
@pytest.mark.req("SPEC-WEB-13")
async def test_what_lies_inside_needs_a_grant_of_its_own(url: str) -> None:
    reached = reach("*", names={"inside.example": [["169.254.169.254"]]})
    with pytest.raises(PolicyDenied):
        await reached.net.fetch(url)
    assert [told.decision for told in reached.told] == ["refused"]


async def test_a_name_that_changes_its_mind_is_asked_once() -> None:
    trap = Site(answer("200 OK", b"trapped"))
    async with (
        served(Site(answer("200 OK", b"fine"))) as port,
        await asyncio.start_server(trap, "127.0.0.2", port),
    ):
        reached = reach(names={"site.example": [[LOOPBACK], ["127.0.0.2"]]})
        page = await reached.net.fetch(f"http://site.example:{port}/")
        assert (page.body, page.address) == (b"fine", LOOPBACK)
        assert reached.names.asked == ["site.example"]
        with pytest.raises(PolicyDenied, match=r"leads to 127\.0\.0\.2"):
            await reached.net.fetch(f"http://site.example:{port}/")
        assert trap.heard == []


async def test_only_checked_addresses_are_dialled_one_after_the_other() -> None:
    async with served(Site()) as port:
        reached = reach(
            *("site.example", LOOPBACK, "127.0.0.3"),
            names={"site.example": [["127.0.0.2", "127.0.0.3", LOOPBACK]]},
        )
        page = await reached.net.fetch(f"http://site.example:{port}/")
        assert (page.body, page.address) == (b"hello", LOOPBACK)
        assert [told.address for told in reached.told] == [LOOPBACK, LOOPBACK]


@pytest.mark.req("SPEC-WEB-11")
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("http://elsewhere.example/key", "elsewhere.example:80"),
        ("//127.0.0.9/key", "127.0.0.9:80"),
        ("http://169.254.169.254/key", "169.254.169.254:80"),
        ("http://0x7f.0.0.9/", "0x7f.0.0.9:80"),
        ("http://[::1]:1/", "[::1]:1"),
        ("http://localhost/", "localhost:80"),
    ],
)
async def test_each_hop_is_judged_before_it_is_followed(location: str, target: str) -> None:
    async with served(Site(moved(location))) as port:
        reached = reach()
        with pytest.raises(PolicyDenied) as refused:
            await reached.net.fetch(f"http://site.example:{port}/start")
        assert refused.value.extras["target"] == target
        assert f"The redirect from http://site.example:{port}/start to" in str(refused.value)
        assert reached.names.asked == ["site.example"]
        assert [told.decision for told in reached.told] == ["allowed", "allowed", "refused"]


async def test_redirects_are_followed_and_named() -> None:
    heard: list[bytes] = []

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heard.append(head)
        path = head.split()[1]
        if path == b"/1":
            writer.write(moved("/2", 307))
        elif path == b"/2":
            writer.write(moved(f"http://other.example:{port}/3"))
        else:
            writer.write(answer("200 OK", b"there"))

    async with served(site) as port:
        reached = reach()
        base = f"http://site.example:{port}"
        page = await reached.net.fetch(f"{base}/1", headers={"Authorization": "x", "Accept": "y"})
        assert page.body == b"there"
        assert page.url == f"http://other.example:{port}/3"
        assert page.hops == (f"{base}/1", f"{base}/2")
        assert [b"Authorization" in head for head in heard] == [True, True, False]
        assert all(b"Accept: y" in head for head in heard)
        assert f"Host: other.example:{port}\r\n".encode() in heard[2]
        assert reached.names.asked == ["site.example", "site.example", "other.example"]


async def test_redirects_have_an_end() -> None:
    async with served(Site(moved("/again"))) as port:
        reached = reach()
        with pytest.raises(OperationFailed, match="more than 3 redirects"):
            await reached.net.fetch(
                f"http://site.example:{port}/", limits=FetchLimits(max_redirects=3)
            )
        assert len(reached.names.asked) == 4


async def test_without_redirects_one_is_an_answer() -> None:
    site = Site(answer("302 Moved", b"over there", "Location: http://elsewhere.example/"))
    async with served(site) as port:
        page = await reach().net.fetch(
            f"http://site.example:{port}/", limits=FetchLimits(max_redirects=0)
        )
        assert (page.status, page.body) == (302, b"over there")


async def test_the_body_of_a_redirect_is_not_waited_for() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /1"):
            writer.write(b"HTTP/1.1 302 x\r\nLocation: /2\r\nContent-Length: 9\r\n\r\n")
            await reader.read()
        else:
            writer.write(answer("200 OK", b"there"))

    async with served(site) as port:
        page = await reach().net.fetch(f"http://site.example:{port}/1")
        assert page.body == b"there"


async def test_no_cookie_is_kept_and_no_environment_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy = Site()
    site = Site(answer("302 x", b"", "Location: /2", "Set-Cookie: a=b"))
    async with served(site) as port, served(proxy) as trap:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{trap}")
        with pytest.raises(OperationFailed):
            await reach().net.fetch(f"http://site.example:{port}/")
        assert proxy.heard == []
        assert len(site.heard) == 11
        assert not any(b"Cookie" in head for head in site.heard)


async def test_a_redirect_out_of_the_web_is_refused_and_recorded() -> None:
    async with served(Site(moved("file:///etc/passwd"))) as port:
        reached = reach()
        with pytest.raises(PolicyDenied, match="is not followed"):
            await reached.net.fetch(f"http://127.0.0.1:{port}/")
        refusal = reached.told[-1].refusal
        assert refusal is not None
        assert refusal.target == "file:///etc/passwd"
