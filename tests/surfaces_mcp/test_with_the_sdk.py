"""The official SDK as a client of our server: over a pipe and over HTTP, in both eras."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_sdk import server_for
from mcp_tools import TOOLS

pytestmark = pytest.mark.timeout(60)

Elicit = Callable[[Any, types.ElicitRequestParams], Awaitable[types.ElicitResult]]
Connect = Callable[..., Any]

ASKED_FOR = """
[[rule]]
permission = "picture"
pattern = "*"
action = "ask"
"""


@pytest.fixture(params=["pipe", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def connect(tmp_path: Path, transport: str, mode: str) -> Connect:
    """A client that is connected, and maybe asks somebody."""
    home, work, tools = tmp_path / "home", tmp_path / "work", tmp_path / "mine.py"
    home.mkdir(mode=0o700)
    work.mkdir()
    tools.write_text(TOOLS, "utf-8")
    (home / "policy.toml").write_text(ASKED_FOR, "utf-8")

    @asynccontextmanager
    async def connected(elicit: Elicit | None = None) -> AsyncGenerator[Client]:
        words = ["--from", str(tools)]
        async with AsyncExitStack() as stack:
            server = await server_for(transport, home, work, words, stack)
            client = Client(server, mode=mode, elicitation_callback=elicit)  # type: ignore[arg-type] - a version is a mode, too
            yield await stack.enter_async_context(client)

    return connected


def _texts(result: types.CallToolResult) -> list[str]:
    return [one.text for one in result.content if isinstance(one, types.TextContent)]


async def test_it_lists_tools_with_what_is_true_of_them(connect: Connect) -> None:
    async with connect() as client:
        found = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"read", "bash", "add", "wipe"} <= set(found)
        add, wipe = found["add"], found["wipe"]
        assert add.description == "Add two numbers."
        assert add.input_schema["properties"]["a"]["type"] == "integer"
        assert add.output_schema is not None
        assert add.annotations is not None
        assert wipe.annotations is not None
        assert (add.annotations.read_only_hint, wipe.annotations.destructive_hint) == (True, True)


@pytest.mark.req("OSA-EXE-12")
async def test_a_call_is_repaired_run_and_answered(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("add", {"a": "2", "b": 3})
        assert (result.is_error, result.structured_content) == (False, {"sum": 5})
        failed = await client.call_tool("crash", {})
        assert failed.is_error
        assert "boom" in _texts(failed)[0]
        parted = await client.call_tool("parted", {})
        assert _texts(parted) == ["one", "two"]
        wrong = await client.call_tool("add", {"a": "two"})
        assert wrong.is_error
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.session.call_tool("no_such_tool", {})


@pytest.mark.parametrize("tool", ["count", "count_in_a_thread"])
async def test_signs_of_life_arrive_and_grow(connect: Connect, tool: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with connect() as client:
        await client.call_tool(tool, {"to": 5}, progress_callback=hear)
    assert [message for _, _, message in heard] == [f"at {number}" for number in range(5)]
    amounts = [done for done, _, _ in heard]
    assert amounts == sorted(set(amounts))


async def _until(path: Path) -> None:
    with anyio.fail_after(20):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await anyio.sleep(0.01)


async def test_a_cancelled_call_is_stopped_and_others_go_on(
    connect: Connect, tmp_path: Path
) -> None:
    async with connect() as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "hang", {"marks": str(tmp_path)})
        await _until(tmp_path / "began")
        assert (await client.call_tool("add", {"a": 1})).structured_content == {"sum": 2}
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await _until(tmp_path / "ended")
            assert (await client.call_tool("add", {"a": 2})).structured_content == {"sum": 3}


def _saying(action: str, content: dict[str, Any] | None, asked: list[Any]) -> Elicit:
    async def answer(_context: Any, params: Any) -> types.ElicitResult:
        asked.append(params)
        return types.ElicitResult(action=action, content=content)  # type: ignore[arg-type] - one of three words

    return answer


@pytest.mark.parametrize(
    ("action", "content", "is_run"),
    [
        ("accept", {"decision": "allow once"}, True),
        ("accept", {"decision": "deny", "note": "not today"}, False),
        ("accept", {"decision": "perhaps"}, False),
        ("decline", None, False),
        ("cancel", None, False),
    ],
)
async def test_a_person_decides_through_the_client(
    connect: Connect, action: str, content: dict[str, Any] | None, is_run: bool
) -> None:
    asked: list[Any] = []
    async with connect(_saying(action, content, asked)) as client:
        result = await client.call_tool("wipe", {"path": "old.txt"})
    assert result.is_error is not is_run
    assert len(asked) == 1
    assert "wipe" in asked[0].message
    assert "old.txt" in asked[0].message
    if is_run:
        assert _texts(result) == ["wiped old.txt"]
    if content is not None and "note" in content:
        assert "not today" in _texts(result)[0]


async def test_an_answer_for_the_session_is_remembered(connect: Connect) -> None:
    asked: list[Any] = []
    allow = _saying("accept", {"decision": "allow for this session"}, asked)
    async with connect(allow) as client:
        for _ in range(2):
            assert not (await client.call_tool("picture", {"size": 9})).is_error
    assert len(asked) == 1


async def test_without_anybody_to_ask_a_question_is_a_refusal_at_once(connect: Connect) -> None:
    async with connect() as client:
        with anyio.fail_after(20):
            result = await client.call_tool("wipe", {"path": "old.txt"})
            told = await client.call_tool("ask", {})
    assert result.is_error
    assert "no user is present" in _texts(result)[0]
    assert told.is_error
    assert "No user is present" in _texts(told)[0]


@pytest.mark.parametrize(
    ("several", "content", "said"),
    [
        (False, {"answer_1": "blue"}, ["blue"]),
        (False, {"answer_1": "blue", "words_1": "green"}, ["green"]),
        (True, {"answer_1": ["red", "blue"]}, ["red", "blue"]),
        (False, {}, ["nothing"]),
    ],
)
async def test_a_tool_asks_a_person(
    connect: Connect, several: bool, content: dict[str, Any], said: list[str]
) -> None:
    asked: list[Any] = []
    async with connect(_saying("accept", content, asked)) as client:
        result = await client.call_tool("ask", {"several": several})
    assert "Which colour?" in asked[0].message
    assert _texts(result) == [str(said).replace("'", '"').replace(" ", "")]


@pytest.mark.measured
async def test_files_of_the_session_can_be_read(connect: Connect) -> None:
    async with connect() as client:
        await client.call_tool("leave", {"name": "räport.md", "text": "# Grüße"})
        flooded = await client.call_tool("flood", {})
        links = [one for one in flooded.content if isinstance(one, types.ResourceLink)]
        listed = (await client.list_resources()).resources
        assert {one.name for one in listed} >= {"räport.md", links[0].name}
        kept = next(one for one in listed if one.name == "räport.md")
        (content,) = (await client.read_resource(kept.uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert (content.text, content.mime_type) == ("# Grüße", "text/markdown")
        (whole,) = (await client.read_resource(links[0].uri)).contents
        assert isinstance(whole, types.TextResourceContents)
        assert whole.text.count("water") == 1000
        beside = kept.uri.replace("artifacts/", "artifacts/../../../")
        for other in (beside, "file:///etc/passwd", kept.uri.replace("ses_", "ses_0")):
            with pytest.raises(MCPError, match="not found"):
                await client.read_resource(other)


@pytest.mark.measured
async def test_a_small_picture_comes_along_and_a_large_one_is_linked_to(connect: Connect) -> None:
    async with connect(_saying("accept", {"decision": "allow once"}, [])) as client:
        small = (await client.call_tool("picture", {})).content[0]
        assert isinstance(small, types.ImageContent)
        assert (small.mime_type, small.data) == ("image/png", "UFBQUFBQUFA=")
        large = (await client.call_tool("picture", {"size": 2_000_000})).content[0]
        assert isinstance(large, types.ResourceLink)
        (content,) = (await client.read_resource(large.uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert len(content.text) == 2_000_000
