"""MCP servers that an editor brings along: connected as any other is, or refused with a word."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    AcpMcpServer,
    EnvVariable,
    HttpHeader,
    HttpMcpServer,
    McpServerStdio,
    SseMcpServer,
)
from acp_editor import Desk, Place, editing, kind, last, statuses, turn

from holdfast.app.source_settings import McpSettings
from holdfast.surfaces.acp.servers import Offer, offered

RAW = Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py"


def _stdio(name: str, *arguments: str, **variables: str) -> McpServerStdio:
    env = [EnvVariable(name=one, value=value) for one, value in variables.items()]
    return McpServerStdio(name=name, command=sys.executable, args=list(arguments), env=env)


async def _turn(desk: Desk, *servers: Offer) -> str:
    offers: list[Any] = list(servers)
    begun = await desk.agent.new_session(cwd=str(desk.place.work), mcp_servers=offers)
    await desk.say(begun.session_id)
    return begun.session_id


@pytest.mark.timeout(60)
@pytest.mark.measured
@pytest.mark.req("SPEC-ACP-08")
async def test_a_server_of_the_editor_is_connected_and_its_tools_ask(place: Place) -> None:
    script = shutil.copy(RAW, place.work.parent)
    model = place.script(turn(("raw_echo", {"text": "hello"})), {"text": "Done."})
    async with editing(place, model) as desk:
        desk.editor.answers = kind("allow_once")
        await _turn(desk, _stdio("raw", str(script)))
        assert "holdfast:" not in desk.editor.words()
        told = desk.editor.call("raw_echo")
        assert len(desk.editor.asked) == 1
    assert {one["kind"] for one in told if "kind" in one} == {"other"}
    assert statuses(told)[-1] == "completed"
    assert last(told, "content")[0]["content"]["text"] == "hello"


@pytest.mark.timeout(60)
@pytest.mark.measured
async def test_what_is_not_connected_is_said_with_the_first_turn(place: Place) -> None:
    async with editing(place, place.script({"text": "One."}, {"text": "Two."})) as desk:
        old = SseMcpServer(type="sse", name="old", url="http://127.0.0.1:1/", headers=[])
        session = await _turn(desk, old, _stdio("absent", str(place.home / "none.py")))
        said = desk.editor.words()
        assert said.startswith("> holdfast: The MCP server 'old' of your editor is not connected: ")
        assert "over the older SSE" in said
        assert "> holdfast: mcp server absent is " in said
        await desk.say(session)
        assert desk.editor.words().endswith("One.Two.")  # it is said once


def test_what_cannot_be_had_is_named_with_the_reason() -> None:
    offers: list[Offer] = [
        HttpMcpServer(
            type="http",
            name="far",
            url="https://example.com/mcp",
            headers=[HttpHeader(name="A", value="b")],
        ),
        _stdio("near", "x.py", TOKEN="t"),
        _stdio("near", "y.py"),
        _stdio("mine", "x.py"),
        _stdio("asks", "x.py", TOKEN="${SECRET}"),
        _stdio("a:b", "x.py"),
        AcpMcpServer(type="acp", name="inside", server_id="1"),
    ]
    found = offered(offers, {"mine": McpSettings(command=("x",))})
    assert sorted(found.tables) == ["far", "near"]
    assert found.tables["far"].headers == {"A": "b"}
    assert found.tables["near"].command == (sys.executable, "x.py")
    assert found.tables["near"].env == {"TOKEN": "t"}
    reasons = [one.split(" is not connected: ")[1] for one in found.refused]
    assert [one[:40] for one in reasons] == [
        "two have this name.",
        "holdfast's own configuration has one of ",
        "its settings hold ${, which stands for a",
        "mcp.a:b: 'a:b' is no name of an MCP serv",
        "holdfast speaks with servers over their ",
    ]
