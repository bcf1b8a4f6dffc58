"""Servers at an address: both eras, credentials, refusals, and what they send."""

import logging
from collections.abc import Callable
from pathlib import Path

import anyio
import httpx2
import pytest
from sources.mcp.mcp_kit import connected, ports, raw, sandbox, settled, until
from sources.mcp.sdk_http import http_server
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from holdfast.contract.failure import FailureKind
from holdfast.contract.gates import HostGate, HostLeave, Refusal
from holdfast.contract.requirements import NetRequirement, RequirementSet
from holdfast.sources.mcp.http import Credentials
from holdfast.sources.mcp.setup import Era, ServerSetup

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

ERAS: list[Era] = ["auto", "2025-11-25", "2026-07-28"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_at_an_address_is_called(tmp_path: Path, era: Era) -> None:
    async with (
        http_server() as url,
        connected(ports(tmp_path), ServerSetup(name="web", url=url, era=era)) as servers,
    ):
        (state,) = servers.states()
        assert (state.status, state.problem) == ("connected", None)
        assert state.protocol_version == ("2025-11-25" if era == "2025-11-25" else "2026-07-28")
        assert state.server_name == "good"
        echo = next(one for one in servers.tools() if one.name == "web_echo")
        assert echo.requires == RequirementSet(net=NetRequirement(hosts=("127.0.0.1",)))
        answer = await settled(servers, "web_echo", {"text": "hi"})
        assert answer.result == {"result": "hi"}


@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_own_server_is_spoken_with_as_a_program(workspace: Path, era: Era) -> None:
    program = Path(__file__).with_name("sdk_server.py").read_text("utf-8")
    (workspace / "good.py").write_text(program, "utf-8")
    command = raw(workspace).command
    setup = ServerSetup(name="good", command=command, args=("good.py",), era=era)
    async with (
        sandbox(workspace) as start,
        connected(ports(workspace.parent / "state", start), setup) as servers,
    ):
        (state,) = servers.states()
        assert state.problem is None
        answer = await settled(servers, "good_echo", {"text": "hi"})
        assert answer.result == {"result": "hi"}


def only(token: str, seen: list[str]) -> Callable[[Request], Response | None]:
    """Lets in whoever has the token."""

    def guard(request: Request) -> Response | None:
        seen.append(request.headers.get("authorization", ""))
        return None if seen[-1] == f"Bearer {token}" else Response(status_code=401)

    return guard


@pytest.mark.req("SPEC-MCP-07")
async def test_a_refusal_leads_to_one_reading_of_the_token_and_one_retry(tmp_path: Path) -> None:
    seen: list[str] = []
    tokens = ["stale-token", "fresh-token"]
    reads: list[str] = []

    def read(path: str) -> str:
        reads.append(path)
        return tokens[0] + "\n"

    async with http_server(only("fresh-token", seen)) as url:
        setup = ServerSetup(name="web", url=url, token_file="t", era="2025-11-25")
        given = ports(tmp_path, read_text=read)
        tokens.pop(0)
        async with connected(given, setup) as servers:
            assert servers.states()[0].status == "connected"
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            assert "Bearer stale-token" not in seen
            before, reads_before = len(seen), len(reads)
            tokens[0] = "fresher-token"  # the server still wants the old one
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            assert (len(seen), len(reads)) == (before + 1, reads_before)


@pytest.mark.req("SPEC-MCP-07")
async def test_a_token_that_has_changed_is_read_again_during_a_call(tmp_path: Path) -> None:
    seen: list[str] = []
    wanted, offered = ["first-token"], ["first-token"]

    def guard(request: Request) -> Response | None:
        return only(wanted[0], seen)(request)

    async with http_server(guard) as url:
        setup = ServerSetup(name="web", url=url, token_file="t", era="2026-07-28")

        def read(_path: str) -> str:
            return offered[0]

        given = ports(tmp_path, read_text=read)
        async with connected(given, setup) as servers:
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            wanted[0] = offered[0] = "second-token"
            seen.clear()
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            assert seen == ["Bearer first-token", "Bearer second-token"]
            wanted[0] = "third-token"
            seen.clear()
            answer = await settled(servers, "web_echo", {"text": "x"})
            assert answer.failure is not None
            assert (answer.failure.kind, answer.failure.retryable) == (
                FailureKind.UNAVAILABLE,
                False,
            )
            assert "refused the credentials (HTTP 401)" in answer.failure.message
            assert seen == ["Bearer second-token"] * 2
            assert "-token" not in str(answer)


@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_path_is_told_from_a_server_that_is_not_there(
    tmp_path: Path, era: Era
) -> None:
    async with http_server() as url:
        setup = ServerSetup(name="web", url=url.replace("/mcp", "/elsewhere"), era=era)
        async with connected(ports(tmp_path), setup) as servers:
            (state,) = servers.states()
            assert state.status == "failed"
            assert "no MCP server answers at its address (HTTP 404)" in str(state.problem)


DOWN = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "database is down"}}


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (500, DOWN, "database is down"),
        (400, DOWN, "database is down"),
        (404, DOWN, "database is down"),
        (503, "later", "it answers with HTTP 503"),
        (405, "", "no MCP server answers at its address (HTTP 405)"),
    ],
)
async def test_the_servers_own_words_come_first(
    tmp_path: Path, status: int, body: object, told: str
) -> None:
    def refuse(request: Request) -> Response | None:
        if request.method != "POST":
            return Response(status_code=405)
        return JSONResponse(body, status_code=status) if body else Response(status_code=status)

    async with http_server(refuse) as url:
        setup = ServerSetup(name="web", url=url, era="2025-11-25")
        async with connected(ports(tmp_path), setup) as servers:
            assert told in str(servers.states()[0].problem)


async def test_headers_come_from_variables_and_are_shown_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    async with http_server(only("s3cr3t", seen)) as url:
        headers = {"Authorization": "Bearer ${TOKEN}"}
        setup = ServerSetup(name="web", url=f"{url}?key=hush", headers=headers)
        async with connected(ports(tmp_path, environment={"TOKEN": "s3cr3t"}), setup) as servers:
            assert servers.states()[0].status == "connected"
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
        async with connected(ports(tmp_path, environment={"TOKEN": "s3cr3t-no"}), setup) as servers:
            (state,) = servers.states()
            assert state.status == "failed"
            assert "refused the credentials (HTTP 401)" in str(state.problem)
            assert f"headers and token_file of [mcp.{state.name}]" in str(state.problem)
            assert f"holdfast mcp add {state.name} URL --replace --header" in str(state.problem)
            told = f"{state!r} {setup!r}"
            assert "s3cr3t" not in told
            assert "hush" not in told
    logged = caplog.text
    assert "s3cr3t" not in logged
    assert "hush" not in logged
    kept = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert kept
    assert b"s3cr3t" not in kept
    assert b"hush" not in kept


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (Response(status_code=403), "refused the credentials (HTTP 403)"),
        (Response(status_code=500), "it could not be connected"),
        (RedirectResponse("http://127.0.0.2:1/mcp", status_code=307), "it could not be connected"),
        (Response(b" " * (17 * 1024 * 1024), media_type="application/json"), "16 MB"),
        (Response(b"<html>", media_type="text/html"), "Unexpected content type"),
        (Response(b"{}", media_type="application/json"), "it could not be connected"),
    ],
    ids=["forbidden", "broken", "elsewhere", "huge", "page", "nothing"],
)
async def test_what_is_no_server_fails_with_a_word(
    tmp_path: Path, response: Response, said: str
) -> None:
    async with http_server(lambda _request: response) as url:
        setup = ServerSetup(name="web", url=url, era="2025-11-25", startup_seconds=10)
        async with connected(ports(tmp_path), setup) as servers:
            (state,) = servers.states()
            assert state.status == "failed"
            assert said in str(state.problem)


async def test_a_server_that_goes_away_is_unavailable_and_found_again(tmp_path: Path) -> None:
    gone: list[bool] = []
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await anyio.sleep(0.01)

    def guard(_request: Request) -> Response | None:
        return Response(status_code=404) if gone else None

    async with http_server(guard) as url:
        setup = ServerSetup(name="web", url=url, era="2025-11-25")
        async with connected(ports(tmp_path, sleep=rest), setup) as servers:
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            gone.append(True)
            answer = await settled(servers, "web_echo", {"text": "x"})
            assert answer.failure is not None
            assert answer.failure.kind == FailureKind.UNAVAILABLE
            await until(lambda: rests)
            gone.clear()
            await until(lambda: servers.states()[0].status == "connected")
            assert (await settled(servers, "web_echo", {"text": "x"})).ok


async def test_nobody_behind_the_address_is_a_failed_try(tmp_path: Path) -> None:
    async with http_server() as url:
        pass
    setup = ServerSetup(name="web", url=url, era="2025-11-25")
    async with connected(ports(tmp_path), setup) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert "it could not be connected" in str(state.problem)


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (ServerSetup(name="web", url="http://127.0.0.1:1/", token_file="gone"), "cannot be read"),
        (ServerSetup(name="web", url="http://127.0.0.1:1/", headers={"A": "${T}"}), "line break"),
    ],
)
async def test_credentials_that_cannot_be_sent_are_named_without_being_shown(
    tmp_path: Path, setup: ServerSetup, said: str
) -> None:
    given = ports(tmp_path, environment={"T": "hush\r\nHost: elsewhere"})
    async with connected(given, setup) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert said in str(state.problem)
        assert "hush" not in repr(state)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_credentials_are_sent_to_no_other_origin(tmp_path: Path, status: int) -> None:
    elsewhere: list[str] = []

    def refuse(request: Request) -> Response:
        elsewhere.append(str(request.headers))
        return Response(status_code=500)

    async with http_server(refuse) as other:

        def lead(_request: Request) -> Response:
            return RedirectResponse(other, status_code=status)

        async with http_server(lead) as url:
            setup = ServerSetup(
                name="web",
                url=url,
                headers={"X-Key": "hush"},
                token_file="t",
                era="2025-11-25",
                startup_seconds=10,
            )
            given = ports(tmp_path, read_text="s3cr3t-{}".format)
            async with connected(given, setup) as servers:
                assert "not followed" in str(servers.states()[0].problem)
    assert elsewhere == []


async def test_credentials_stay_at_home_whoever_asks_for_them(tmp_path: Path) -> None:
    setup = ServerSetup(name="web", url="http://home.example/mcp", headers={"X-Key": "hush"})
    credentials = Credentials(setup, ports(tmp_path))

    async def sent(url: str) -> bool:
        request = httpx2.Request("POST", url)
        flow = credentials.async_auth_flow(request)
        await anext(flow)
        await flow.aclose()
        return "x-key" in request.headers

    assert await sent("http://home.example/other")
    assert await sent("https://home.example/mcp")
    for url in ("http://home.example:81/mcp", "http://other.example/mcp", "ftp://home.example/"):
        assert not await sent(url)
    with_tls = ServerSetup(name="web", url="https://home.example/mcp", headers={"X-Key": "hush"})
    credentials = Credentials(with_tls, ports(tmp_path))
    assert not await sent("http://home.example/mcp")


def at_all(gate: HostGate) -> Callable[[ServerSetup], HostGate]:
    """The gate of every server."""

    def gate_of(_setup: ServerSetup) -> HostGate:
        return gate

    return gate_of


async def test_a_host_is_asked_about_with_every_request(tmp_path: Path) -> None:
    asked: list[str] = []
    closed: list[bool] = []

    def gate(host: str, /) -> HostLeave | Refusal:
        asked.append(host)
        if closed:
            return Refusal(reason="It is closed.", target=host)
        return HostLeave(host, None, lambda _address: True)

    async with http_server() as url:
        setup = ServerSetup(name="web", url=url, era="2026-07-28")
        async with connected(ports(tmp_path, gate=at_all(gate)), setup) as servers:
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            before = len(asked)
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
            assert len(asked) == before + 1
            closed.append(True)
            refused = (await settled(servers, "web_echo", {"text": "x"})).failure
            assert refused is not None
            assert "It is closed." in refused.message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_address_that_may_not_be_reached_is_not_connected_to(
    tmp_path: Path, host: str
) -> None:
    seen: list[str] = []

    def gate(host: str, /) -> HostLeave:
        return HostLeave(host, None, lambda address: address == "192.0.2.1")

    async with http_server(only("x", seen)) as url:
        there = url.replace("127.0.0.1", host)
        setup = ServerSetup(name="web", url=there, era="2025-11-25", startup_seconds=10)
        async with connected(ports(tmp_path, gate=at_all(gate)), setup) as servers:
            assert "which may not be reached" in str(servers.states()[0].problem)
    assert seen == []


async def test_a_name_is_connected_to_at_the_address_that_was_admitted(tmp_path: Path) -> None:
    hosts: list[str] = []

    def note(request: Request) -> None:
        hosts.append(request.headers["host"])

    def gate(host: str, /) -> HostLeave:
        return HostLeave(host, None, lambda address: address == "127.0.0.1")

    async with http_server(note) as url:
        setup = ServerSetup(name="web", url=url.replace("127.0.0.1", "localhost"))
        async with connected(ports(tmp_path, gate=at_all(gate)), setup) as servers:
            assert (await settled(servers, "web_echo", {"text": "x"})).ok
    assert all(one.startswith("localhost:") for one in hosts)
