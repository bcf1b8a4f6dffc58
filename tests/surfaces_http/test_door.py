"""Who may come in: the token, the pass that a browser gets for it, hosts, origins, and how much."""

import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from served_home import TOKEN, Served, served

from holdfast.app.http_door import connections
from holdfast.surfaces.http import guard

pytestmark = pytest.mark.anyio

SERVER = "/api/v1/server"
ANYWHERE = [
    SERVER,
    "/",
    "/console/",
    "/console/static/app.js",
    "/v1/models",
    "/api/v1/openapi.json",
]


def stranger(home: Served) -> httpx.AsyncClient:
    """Somebody without a token."""
    return httpx.AsyncClient(base_url=home.address, trust_env=False)


@pytest.mark.parametrize("path", ANYWHERE)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": TOKEN},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": "holdfast-1=0"},
        {"cookie": "=; ;;holdfast-0; [=]"},
    ],
)
async def test_nothing_is_reached_without_the_token(
    tmp_path: Path, path: str, headers: dict[str, str]
) -> None:
    async with served(tmp_path) as home, stranger(home) as somebody:
        answer = await somebody.get(path, headers=headers)
        assert answer.status_code == 401, answer.text
        assert answer.json()["error"]["code"] == "no_token"
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:80"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
async def test_other_hosts_and_sites_are_kept_out_whatever_they_show(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with served(tmp_path) as home:
        answer = await home.client.get(SERVER, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "stranger")


async def test_a_name_that_was_exposed_is_let_in(tmp_path: Path) -> None:
    async with served(tmp_path, names=("Box.Example",)) as home:
        for host in ("box.example", "localhost", "[::1]:9"):
            answer = await home.client.get(SERVER, headers={"host": host})
            assert answer.status_code == 200


async def test_a_pass_has_to_be_the_right_one(tmp_path: Path) -> None:
    async with served(tmp_path) as home, entered(home) as browser:
        ((name, right),) = browser.cookies.items()
        for wrong in ("", "0", right[:-1], f"{right}0", right.upper(), TOKEN):
            async with stranger(home) as somebody:
                answer = await somebody.get(SERVER, headers={"cookie": f"{name}={wrong}"})
                assert answer.status_code == 401, wrong
                both = {"cookie": f"{name}={wrong}; other=1; {name}={right}"}
                assert (await somebody.get(SERVER, headers=both)).status_code == 200


async def test_a_second_host_is_one_too_many(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        ours = httpx.URL(home.address).netloc
        for hosts in ((ours, b"evil.example"), (b"evil.example", ours), (ours, ours)):
            named = b"".join(b"host: %b\r\n" % one for one in hosts)
            head = b"GET %b HTTP/1.1\r\n%bauthorization: Bearer %b\r\n\r\n"
            url = httpx.URL(home.address)
            async with await anyio.connect_tcp(url.host, url.port or 0) as somebody:
                await somebody.send(head % (SERVER.encode(), named, TOKEN.encode()))
                assert (await somebody.receive()).split()[1] in {b"400", b"403"}


@asynccontextmanager
async def entered(home: Served) -> AsyncGenerator[httpx.AsyncClient]:
    """A browser that brought the token in the address."""
    async with stranger(home) as browser:
        answer = await browser.get("/", params={"token": TOKEN})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        yield browser


async def test_a_browser_gets_a_pass_for_the_token_and_its_address_is_clean(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as home, entered(home) as browser:
        assert (await browser.get(SERVER)).status_code == 200
        front = await browser.get("/")
        assert (front.status_code, front.headers["location"]) == (307, "/console/")
        page = await browser.get("/console/sessions/ses_1")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        again = await browser.get(
            "/console/sessions/ses_1", headers={"if-none-match": page.headers["etag"]}
        )
        assert again.status_code == 304
        assert (await browser.get("/console/static/none.js")).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
    ],
)
async def test_a_pass_is_for_the_pages_of_this_server_alone(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    """For a browser every port of this machine is the same site: its cookies come along."""
    async with served(tmp_path) as home, entered(home) as browser:
        answer = await browser.post("/api/v1/sessions", json={}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "stranger")
        own = {"origin": home.address, "sec-fetch-site": "same-origin"}
        assert (await browser.get(SERVER, headers=own)).status_code == 200
        assert (await home.get("/sessions"))["sessions"] == []


async def test_a_person_may_type_the_token(tmp_path: Path) -> None:
    async with served(tmp_path) as home, stranger(home) as browser:
        asked = await browser.get("/console/", headers={"accept": "text/html"})
        assert asked.status_code == 401
        assert "<form method=post action=/enter>" in asked.text
        assert (await browser.get("/enter")).status_code == 200
        wrong = await browser.post("/enter", data={"token": "wrong"})
        assert wrong.status_code == 401
        assert "That is not the token" in wrong.text
        assert "set-cookie" not in wrong.headers
        right = await browser.post("/enter", data={"token": f" {TOKEN} "})
        assert (right.status_code, right.headers["location"]) == (303, "/")
        assert (await browser.get(SERVER)).status_code == 200


async def test_a_token_in_an_address_opens_the_front_door_alone(tmp_path: Path) -> None:
    async with served(tmp_path) as home, stranger(home) as browser:
        for path in (SERVER, "/console/", "/api/v1/sessions"):
            answer = await browser.get(path, params={"token": TOKEN})
            assert answer.status_code == 401
        assert (await browser.post("/", params={"token": TOKEN})).status_code == 405
        assert (await browser.get("/", params={"token": "wrong"})).status_code == 401


async def test_whoever_guesses_is_told_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_WRONG_A_MINUTE", 3)
    async with served(tmp_path) as home, stranger(home) as guesser:
        headers = {"authorization": "Bearer guess"}
        told = [(await guesser.get(SERVER, headers=headers)).status_code for _ in range(5)]
        assert told == [401, 401, 401, 429, 429]
        answer = await guesser.get(SERVER, headers=headers)
        assert int(answer.headers["retry-after"]) >= 1
        assert await home.get("/server")  # whoever has the token is not kept waiting
        form = await guesser.post("/enter", data={"token": "guess"})
        assert form.status_code == 429


async def test_a_flood_is_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_A_SECOND", 5)
    async with served(tmp_path) as home:
        told = {(await home.client.get(SERVER)).status_code for _ in range(40)}
        assert told == {200, 429}


async def test_a_flood_of_strangers_keeps_nobody_out_who_has_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_A_SECOND", 5)
    monkeypatch.setattr(guard, "MOST_STRANGE_A_SECOND", 5)
    foreign = {"origin": "http://localhost:3000"}
    async with served(tmp_path) as home, entered(home) as browser, stranger(home) as somebody:
        told = {(await somebody.get(SERVER)).status_code for _ in range(40)}
        told |= {(await browser.get(SERVER, headers=foreign)).status_code for _ in range(40)}
        assert 429 in told
        assert told <= {401, 403, 429}  # the slower this is, the more of them are looked at
        assert (await home.client.get(SERVER)).status_code == 200
        assert (await browser.get(SERVER)).status_code == 200


@pytest.mark.parametrize("path", ["/enter", "/api/v1/sessions"])
async def test_bodies_that_are_held_back_keep_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Whoever can reach the port may send the beginning of a request, and no more of it."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 4)
    with ExitStack() as sockets:
        async with served(tmp_path) as home:
            await held_back(home, path, sockets)
            assert (await home.client.get(SERVER)).status_code == 200


async def held_back(home: Served, path: str, sockets: ExitStack) -> None:
    """Many who send the beginning of a request."""
    url = httpx.URL(home.address)
    head = f"POST {path} HTTP/1.1\r\nhost: {url.netloc.decode()}\r\ncontent-length: 9\r\n\r\n"
    for _ in range(8):
        one = sockets.enter_context(socket.socket())
        one.connect((url.host, url.port or 0))
        one.sendall(head.encode())
        await anyio.sleep(0.02)


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_body_without_end_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunked: bool
) -> None:
    monkeypatch.setattr(guard, "MOST_BODY_BYTES", 10_000)

    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(4):
            yield b" " * 5_000

    async with served(tmp_path) as home:
        body = pieces() if chunked else b" " * 20_000
        headers = {"content-type": "application/json"}
        answer = await home.client.post("/api/v1/sessions", content=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    "path",
    [
        "/console/static/../pages.py",
        "/console/static/%2e%2e/pages.py",
        "/console/static/..%2f..%2fhttp/guard.py",
        "/console/static//etc/passwd",
        "/api/v1/sessions/..%2f..%2fx",
        "/api/v1/sessions/%00",
    ],
)
async def test_no_way_leads_out_of_what_is_served(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as home:
        answer = await home.client.get(path)
        is_index = answer.text.startswith("<!doctype html>")
        assert is_index or answer.status_code in {404, 422}, answer.text
        for secret in ("from holdfast", "root:", "docstring"):
            assert secret not in answer.text


async def test_every_answer_says_what_a_page_may_do(tmp_path: Path) -> None:
    async with served(tmp_path) as home, stranger(home) as somebody:
        for answer in (await home.client.get("/console/"), await somebody.get("/console/")):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["referrer-policy"] == "no-referrer"
        assert (await home.client.get(SERVER)).headers["cache-control"] == "no-store"
