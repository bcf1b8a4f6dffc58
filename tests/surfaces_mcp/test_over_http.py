"""The server as a process behind HTTP: who comes in, what they get, and how it ends."""

import json
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from command import HOLDFAST
from mcp_peer import ELICITS, MODERN
from mcp_process import Serving, serving, variables

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]

BOTH = "application/json, text/event-stream"


class Web:
    """A client that knows the token."""

    def __init__(self, server: Serving, client: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client

    async def post(self, body: Any, **headers: str) -> httpx2.Response:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        kinds = {"content-type": "application/json", "accept": BOTH}
        return await self.client.post(self.server.url, content=text, headers={**kinds, **own})

    async def modern(self, method: str, meta: Any = MODERN, **params: Any) -> httpx2.Response:
        name = params.get("name") or params.get("uri")
        named = {} if name is None else {"mcp_name": str(name)}
        body = _request(method, _meta=meta, **params)
        return await self.post(body, mcp_protocol_version="2026-07-28", mcp_method=method, **named)

    async def greet(self) -> str:
        known = {"name": "tests", "version": "1"}
        answer = await self.post(
            _request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=known)
        )
        assert answer.status_code == 200
        return answer.headers["mcp-session-id"]


def _request(method: str, own: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": own, "method": method, "params": params}


@pytest.fixture
async def web(tool_file: Path, tmp_path: Path) -> AsyncGenerator[Web]:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    async with serving(home, work, "--from", str(tool_file)) as server:
        token = {"Authorization": f"Bearer {server.token}"}
        async with httpx2.AsyncClient(headers=token, timeout=30) as client:
            yield Web(server, client)


async def test_nobody_comes_in_without_the_token_or_from_elsewhere(web: Web) -> None:
    discover = _request("server/discover", _meta=MODERN)
    async with httpx2.AsyncClient() as stranger:
        for method in ("GET", "POST", "DELETE"):
            answer = await stranger.request(method, web.server.url, content=b"{}")
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
    assert (await web.post(discover, host="evil.example")).status_code == 403
    assert (await web.post(discover, origin="http://evil.example")).status_code == 403
    own = "http://127.0.0.1:1"
    assert (await web.modern("server/discover")).status_code == 200
    assert (await web.client.get(web.server.url, headers={"origin": own})).status_code == 405


async def test_what_is_no_request_is_refused(web: Web) -> None:
    elsewhere = web.server.url.replace("/mcp", "/other")
    assert (await web.client.post(elsewhere, content=b"{}")).status_code == 404
    assert (await web.client.put(web.server.url, content=b"{}")).status_code == 405
    assert (await web.client.delete(web.server.url)).status_code == 405
    assert (await web.post(b"{}", content_type="text/plain")).status_code == 415
    assert (await web.post(b"x" * (16 * 1024 * 1024 + 1))).status_code == 413
    for body, code in ((b"{", -32700), (b"7", -32600), (b'{"jsonrpc":"2.0"}', -32600)):
        answer = await web.post(body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert (await web.post(b"[]")).status_code == 400
    assert (await web.post(b"[]", mcp_protocol_version="2026-07-28")).status_code == 400
    assert (await web.post(_request("ping", _meta=7))).status_code == 400
    assert (await web.post(_request("ping"))).status_code == 400
    assert (await web.post(_request("ping"), mcp_session_id="none")).status_code == 404


async def test_a_modern_request_needs_nothing_before_it(web: Web) -> None:
    answer = await web.modern("tools/call", name="add", arguments={"a": 1})
    assert answer.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["structuredContent"] == {"sum": 2}
    assert (await web.modern("prompts/list")).status_code == 404
    question = {"name": "question", "arguments": {"questions": [{"question": "Why?"}]}}
    assert (await web.modern("tools/call", **question)).status_code == 400
    unknown = {**MODERN, next(iter(MODERN)): "v9"}
    refused = await web.post(
        _request("tools/list", _meta=unknown), mcp_protocol_version="v9", mcp_method="tools/list"
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32022)
    differs = await web.post(
        _request("tools/list", _meta=MODERN), mcp_protocol_version="2026-07-28"
    )
    assert (differs.status_code, differs.json()["error"]["code"]) == (400, -32020)
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert (await web.post(told, mcp_protocol_version="2026-07-28")).status_code == 202
    assert (await web.post(told, mcp_protocol_version="v9")).status_code == 400


async def test_signs_of_life_make_a_stream(web: Web) -> None:
    meta = {**MODERN, "progressToken": "mine"}
    answer = await web.modern("tools/call", meta, name="count", arguments={"to": 3})
    assert answer.headers["content-type"] == "text/event-stream"
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line[:5] == "data:"]
    assert [one.get("method") for one in events] == ["notifications/progress"] * 3 + [None]
    assert {one["params"]["progressToken"] for one in events[:3]} == {"mine"}


async def _until(path: Path) -> None:
    with anyio.fail_after(20):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await anyio.sleep(0.01)


async def test_who_hangs_up_cancels_only_as_a_modern_client(web: Web, tmp_path: Path) -> None:
    marks = {name: tmp_path / name for name in ("modern", "legacy")}
    for folder in marks.values():
        folder.mkdir()
    session = await web.greet()
    async with anyio.create_task_group() as group:

        async def modern() -> None:
            await web.modern("tools/call", name="hang", arguments={"marks": str(marks["modern"])})

        async def legacy() -> None:
            call = {"name": "hang", "arguments": {"marks": str(marks["legacy"])}}
            await web.post(_request("tools/call", 7, **call), mcp_session_id=session)

        group.start_soon(modern)
        group.start_soon(legacy)
        for folder in marks.values():
            await _until(folder / "began")
        group.cancel_scope.cancel()
    await _until(marks["modern"] / "ended")
    assert not (marks["legacy"] / "ended").exists()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert (await web.post(cancel, mcp_session_id=session)).status_code == 202
    await _until(marks["legacy"] / "ended")


async def test_a_session_lasts_until_it_is_ended(web: Web) -> None:
    first, second = await web.greet(), await web.greet()
    assert first != second
    kept = {"name": "leave", "arguments": {"name": "a.txt", "text": "hello"}}
    await web.post(_request("tools/call", **kept), mcp_session_id=first)
    for session, count in ((first, 1), (second, 0)):
        answer = await web.post(_request("resources/list"), mcp_session_id=session)
        assert len(answer.json()["result"]["resources"]) == count
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await web.post(told, mcp_session_id=first)).status_code == 202
    wrong = await web.post(
        _request("ping"), mcp_session_id=first, mcp_protocol_version="2024-11-05"
    )
    assert wrong.status_code == 200
    own = {"mcp-session-id": first}
    assert (await web.client.delete(web.server.url, headers=own)).status_code == 204
    assert (await web.client.delete(web.server.url, headers=own)).status_code == 404
    assert (await web.client.get(web.server.url, headers=own)).status_code == 404
    assert (await web.post(_request("ping"), mcp_session_id=first)).status_code == 404
    assert (await web.post(_request("ping"), mcp_session_id=second)).status_code == 200


async def test_a_handshake_that_is_refused_leaves_no_session(web: Web) -> None:
    answer = await web.post(_request("initialize"))
    assert answer.json()["error"]["code"] == -32602
    assert "mcp-session-id" not in answer.headers


async def test_a_session_has_one_stream_of_its_own(web: Web) -> None:
    own = {"mcp-session-id": await web.greet(), "accept": "text/event-stream"}
    async with web.client.stream("GET", web.server.url, headers=own) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        assert (await web.client.get(web.server.url, headers=own)).status_code == 409
        assert (await web.client.delete(web.server.url, headers=own)).status_code == 204
        assert await stream.aread() == b""


async def test_a_person_is_asked_in_the_middle_of_a_legacy_call(web: Web) -> None:
    known = {"name": "tests", "version": "1"}
    can: Any = {"elicitation": {}}
    greeting = _request(
        "initialize", protocolVersion="2025-11-25", capabilities=can, clientInfo=known
    )
    session = (await web.post(greeting)).headers["mcp-session-id"]
    call = _request("tools/call", 5, name="wipe", arguments={"path": "x"})
    headers = {
        "content-type": "application/json",
        "accept": BOTH,
        "mcp-session-id": session,
    }
    async with web.client.stream(
        "POST", web.server.url, content=json.dumps(call).encode(), headers=headers
    ) as stream:
        async for line in stream.aiter_lines():
            if not line.startswith("data:"):
                continue
            message = json.loads(line[6:])
            if message.get("method") == "elicitation/create":
                said = {"action": "accept", "content": {"decision": "allow once"}}
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": said}
                assert (await web.post(reply, mcp_session_id=session)).status_code == 202
            else:
                assert message["result"]["isError"] is False


async def test_a_signal_ends_everything_in_order(web: Web, tmp_path: Path) -> None:
    session = await web.greet()
    found: list[Any] = []
    async with anyio.create_task_group() as group:

        async def call() -> None:
            hang = {"name": "hang", "arguments": {"marks": str(tmp_path)}}
            found.append(await web.post(_request("tools/call", **hang), mcp_session_id=session))

        async def listen() -> None:
            wanted = {"toolsListChanged": True}
            found.append(await web.modern("subscriptions/listen", notifications=wanted))

        async def ask() -> None:
            hang = {"name": "wipe", "arguments": {"path": "x"}}
            found.append(await web.modern("tools/call", ELICITS, **hang))

        group.start_soon(call)
        group.start_soon(listen)
        group.start_soon(ask)
        await _until(tmp_path / "began")
        while not found:  # noqa: ASYNC110 - the question is out
            await anyio.sleep(0.01)
        web.server.process.send_signal(signal.SIGTERM)
        with anyio.fail_after(20):
            assert await web.server.process.wait() == 0
    assert (tmp_path / "ended").exists()
    texts = sorted(answer.text for answer in found)
    assert len(texts) == 3
    assert any("The server ends" in text for text in texts)
    assert any("acknowledged" in text and "complete" in text for text in texts)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--http", "0.0.0.0:0"], "can be reached from elsewhere"),
        (["--http", "x"], "there is no such port"),
        (["--http", "70000"], "there is no such port"),
        (["--http", "0", "--token-file", "missing"], "No such file"),
        (["--expose", "x"], "are for --http"),
        (["pin"], "which server?"),
    ],
)
async def test_what_cannot_be_served_says_what_to_do(
    tmp_path: Path, words: list[str], said: str
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    done = await anyio.run_process(
        [str(HOLDFAST), "mcp", "--workspace", str(tmp_path), *words],
        env=variables(home),
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr.decode()


async def test_a_port_in_use_and_a_weak_token_are_refused(web: Web, tmp_path: Path) -> None:
    port = web.server.url.split(":")[2].partition("/")[0]
    (tmp_path / "weak").write_text("short", "utf-8")
    for words, said in (
        (["--http", port], "choose another port"),
        (["--http", "0", "--token-file", str(tmp_path / "weak")], "16 plain characters"),
    ):
        done = await anyio.run_process(
            [str(HOLDFAST), "mcp", "--workspace", str(tmp_path / "work"), *words],
            env=variables(tmp_path / "home"),
            check=False,
        )
        assert (done.returncode, said in done.stderr.decode()) == (2, True)


async def test_a_token_of_the_operator_is_never_shown(tool_file: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    secret = "the-operators-own-secret-word"
    (tmp_path / "token").write_text(f"{secret}\n", "utf-8")
    (tmp_path / "token").chmod(0o600)
    command = [str(HOLDFAST), "mcp", "--http", "127.0.0.1:0", "--workspace", str(tmp_path)]
    words = ["--from", str(tool_file), "--token-file", str(tmp_path / "token")]
    process = await anyio.open_process([*command, *words], env=variables(home))
    async with process:
        assert process.stderr is not None
        line = (await process.stderr.receive()).decode()
        url = line.partition("listening on ")[2].strip()
        assert url.startswith("http://127.0.0.1:")
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as client:
            assert (await client.get(url)).status_code == 405
        process.terminate()
        assert await process.wait() == 0
        with pytest.raises(anyio.EndOfStream):
            line += (await process.stderr.receive()).decode()
    assert secret not in line
