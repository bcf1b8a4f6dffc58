"""The core of the server, without a transport: eras, handshakes, ids, cancellation, changes."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_peer import ELICITS, MODERN, peer

from holdfast.surfaces.mcp import client as client_module
from holdfast.surfaces.mcp import served as served_module

VERSION, CAPABILITIES = MODERN
CALL = {"name": "add", "arguments": {"a": 1}}


def _code(answer: Any) -> int:
    return answer["error"]["code"]


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ],
)
async def test_a_handshake_settles_the_version(tool_file: Path, wanted: str, given: str) -> None:
    async with peer(tool_file) as one:
        assert (await one.greet(wanted))["result"]["protocolVersion"] == given
        one.tell("notifications/initialized")
        assert (await one.asked("tools/call", **CALL))["result"]["structuredContent"] == {"sum": 2}


async def test_before_the_handshake_only_a_ping_is_answered(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        assert _code(await one.asked("tools/list")) == -32602
        assert (await one.asked("ping"))["result"] == {}
        await one.greet()
        assert "tools" in (await one.asked("tools/list"))["result"]
        assert _code(await one.greet()) == -32600


async def test_a_handshake_without_a_version_is_none(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        assert _code(await one.asked("initialize")) == -32602
        assert one.client.caller is None


async def test_both_eras_are_served_side_by_side(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        found = (await one.asked("server/discover", _meta=MODERN))["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert found["resultType"] == "complete"
        await one.greet()
        legacy = (await one.asked("tools/call", **CALL))["result"]
        modern = (await one.asked("tools/call", **CALL, _meta=MODERN))["result"]
        assert "resultType" not in legacy
        assert modern["resultType"] == "complete"
        assert modern["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "holdfast"


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "prompts/list"])
async def test_a_modern_client_has_no_legacy_methods(tool_file: Path, method: str) -> None:
    async with peer(tool_file, greets=False) as one:
        assert _code(await one.asked(method, _meta=MODERN)) == -32601


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({}, -32602),
        ({VERSION: "2026-07-28"}, -32602),
        ({CAPABILITIES: {}}, -32602),
        ({**MODERN, VERSION: 7}, -32602),
        ({**MODERN, CAPABILITIES: []}, -32602),
        ({**MODERN, VERSION: "2025-11-25"}, -32022),
    ],
)
async def test_a_modern_request_says_who_it_is(
    tool_file: Path, meta: dict[str, Any], code: int
) -> None:
    async with peer(tool_file, greets=False) as one:
        answer = await one.asked("tools/list", _meta=meta)
        assert _code(answer) == code
        if code == -32022:
            assert answer["error"]["data"]["supported"] == ["2026-07-28"]


async def test_lists_say_how_long_they_may_be_kept(tool_file: Path) -> None:
    async with peer(tool_file, greets=False) as one:
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            result = (await one.asked(method, _meta=MODERN))["result"]
            assert result["ttlMs"] >= 0
            assert result["cacheScope"] == "private"
            assert _code(await one.asked(method, cursor="2", _meta=MODERN)) == -32602
            assert _code(await one.asked(method, cursor=2, _meta=MODERN)) == -32602


async def test_a_list_is_the_same_every_time(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        first, second = [(await one.asked("tools/list"))["result"] for _ in range(2)]
        assert first == second
        assert all(tool["inputSchema"]["type"] == "object" for tool in first["tools"])
        outputs = [tool["outputSchema"] for tool in first["tools"] if "outputSchema" in tool]
        assert all(schema["type"] == "object" for schema in outputs)


async def test_a_result_that_is_no_object_is_data_for_modern_clients(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        call = {"name": "count", "arguments": {"to": 2}}
        legacy = (await one.asked("tools/call", **call))["result"]
        modern = (await one.asked("tools/call", **call, _meta=MODERN))["result"]
        assert "structuredContent" not in legacy
        assert modern["structuredContent"] == 2
        assert legacy["content"] == modern["content"] == [{"type": "text", "text": "2"}]


async def test_parts_of_a_tool_that_tells_its_results_are_data_as_well(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        told = {tool["name"]: tool for tool in (await one.asked("tools/list"))["result"]["tools"]}
        assert told["parted"]["outputSchema"]["type"] == "object"
        for meta in ({}, {"_meta": MODERN}):
            result = (await one.asked("tools/call", name="parted", arguments={}, **meta))["result"]
            assert [part["text"] for part in result["content"]] == ["one", "two"]
            assert result["structuredContent"] == {"parts": result["content"]}


async def test_levels_of_logging_are_taken_and_mean_nothing(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        assert (await one.asked("logging/setLevel", level="debug"))["result"] == {}
        assert _code(await one.asked("logging/setLevel", level="loud")) == -32602
        assert _code(await one.asked("logging/setLevel")) == -32602


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 7},
        {"name": "nope"},
        {"name": "add", "arguments": [1]},
        {"name": "add", "arguments": "{}"},
        {"name": "add", "_meta": 1},
        {"name": "add", "inputResponses": 7},
    ],
)
async def test_what_is_no_call_is_refused_as_a_message(tool_file: Path, params: Any) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        assert _code(await one.asked("tools/call", **params)) == -32602


async def test_a_failed_call_is_a_result(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        for params in ({"name": "crash", "arguments": None}, {"name": "add"}):
            result = (await one.asked("tools/call", **params))["result"]
            assert result["isError"] is True


async def test_an_unreadable_resource_is_told_so(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        assert _code(await one.asked("resources/read", uri="file:///etc/passwd")) == -32002
        assert _code(await one.asked("resources/read")) == -32602
        modern = await one.asked("resources/read", uri="http://[", _meta=MODERN)
        assert _code(modern) == -32602
        assert modern["error"]["data"] == {"uri": "http://["}


async def test_an_id_that_is_under_way_is_refused(tool_file: Path, tmp_path: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        one.ask("tools/call", 7, name="hang", arguments={"marks": str(tmp_path)})
        one.ask("ping", 7)
        assert _code(await one.answer(7)) == -32600
        one.tell("notifications/cancelled", requestId=7)
        assert not one.client.is_busy
        one.ask("ping", 7)
        assert (await one.answer(7))["result"] == {}


async def test_a_cancelled_call_has_no_answer(tool_file: Path, tmp_path: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        one.ask("tools/call", 7, name="hang", arguments={"marks": str(tmp_path)})
        one.tell("notifications/cancelled", requestId="7")
        one.tell("notifications/cancelled", requestId=8)
        one.tell("notifications/cancelled")
        one.tell("notifications/unheard_of")
        assert one.client.is_busy
        one.tell("notifications/cancelled", requestId=7)
        with anyio.fail_after(15):
            await one.client.idle()
        assert one.heard == []


async def test_there_is_a_bound_on_what_is_under_way(
    tool_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MOST_UNDER_WAY", 2)
    async with peer(tool_file) as one:
        await one.greet()
        for own in (1, 2):
            one.ask("tools/call", own, name="hang", arguments={"marks": str(tmp_path)})
        assert _code(await one.asked("ping")) == -32603


async def test_a_batch_is_for_one_version(tool_file: Path) -> None:
    batch = json.dumps(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/x"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL},
            7,
        ]
    ).encode()
    async with peer(tool_file) as one:
        await one.greet("2025-03-26")
        one.say(batch)
        with anyio.fail_after(15):
            while not one.heard:  # noqa: ASYNC110 - it is not one message
                await anyio.sleep(0.01)
        answers: Any = one.heard[0]
        assert [answer["id"] for answer in answers] == [1, None, 2]
    async with peer(tool_file) as one:
        await one.greet()
        one.say(batch)
        assert _code(one.heard[0]) == -32600


async def test_what_is_cancelled_of_a_batch_keeps_no_other_answer(
    tool_file: Path, tmp_path: Path
) -> None:
    hang = {"name": "hang", "arguments": {"marks": str(tmp_path)}}
    slow = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": hang}
    async with peer(tool_file) as one:
        await one.greet("2025-03-26")
        one.say(json.dumps([slow, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]).encode())
        one.tell("notifications/cancelled", requestId=1)
        (answers,) = one.heard
        assert answers == [{"jsonrpc": "2.0", "id": 2, "result": {}}]
        one.say(json.dumps([slow]).encode())
        one.tell("notifications/cancelled", requestId=1)
        one.say(json.dumps([{"jsonrpc": "2.0", "method": "notifications/x"}]).encode())
        assert (len(one.heard), one.skipped) == (1, 2)


async def test_changed_tools_are_told_to_whoever_listens(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        own = one.ask(
            "subscriptions/listen", _meta=MODERN, notifications={"toolsListChanged": True}
        )
        deaf = one.ask("subscriptions/listen", _meta=MODERN, notifications={})
        for _ in range(2):
            await one.until(lambda told: "acknowledged" in told.get("method", ""))
        one.served.tools_changed()
        told = await one.until(lambda told: "list_changed" in told.get("method", ""))
        assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": own}
        assert one.heard == []
        one.tell("notifications/cancelled", requestId=deaf)
        one.client.end()
        ended = await one.answer(own)
        assert ended["result"]["resultType"] == "complete"
        wrong = await one.asked("subscriptions/listen", _meta=MODERN)
        assert _code(wrong) == -32602


async def test_a_legacy_client_is_told_of_changed_tools(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        end = one.client.listed_to(one)
        one.served.tools_changed()
        assert one.heard == []
        await one.greet()
        one.served.tools_changed()
        assert [told["method"] for told in one.heard] == ["notifications/tools/list_changed"]
        end()
        one.served.tools_changed()
        assert len(one.heard) == 1


async def test_a_modern_client_that_asks_nobody_cannot_call_what_only_a_person_answers(
    tool_file: Path,
) -> None:
    question = {"name": "question", "arguments": {"questions": [{"question": "Why?"}]}}
    async with peer(tool_file, profile="code") as one:
        answer = await one.asked("tools/call", **question, _meta=MODERN)
        assert _code(answer) == -32021
        assert answer["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
        asked = await one.asked("tools/call", **question, _meta=ELICITS)
        assert asked["result"]["resultType"] == "input_required"
        await one.greet()
        told = (await one.asked("tools/call", **question))["result"]
        assert told["isError"] is True
        assert "No user is present" in told["content"][0]["text"]


async def test_what_cannot_be_answered_harms_nobody_else(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_given: object, **_more: object) -> Any:
        raise RuntimeError("of the tests")

    async with peer(tool_file) as one:
        await one.greet()
        monkeypatch.setattr(served_module, "result_of", broken)
        monkeypatch.setattr(served_module, "listed", broken)
        assert _code(await one.asked("tools/call", **CALL)) == -32603
        assert _code(await one.asked("resources/list")) == -32603
        assert (await one.asked("ping"))["result"] == {}
