"""Modern clients are asked by an answer: the call waits, and goes on for exactly who was asked."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_peer import ELICITS, MODERN, Peer, peer

from holdfast.surfaces.mcp import calls

WIPE = {"name": "wipe", "arguments": {"path": "a.txt"}}
ALLOW = {"action": "accept", "content": {"decision": "allow once"}}


async def _first(one: Peer, **more: Any) -> dict[str, Any]:
    result = (await one.asked("tools/call", **WIPE, _meta=ELICITS, **more))["result"]
    assert result["resultType"] == "input_required"
    assert list(result["inputRequests"]) == ["approval"]
    assert result["inputRequests"]["approval"]["method"] == "elicitation/create"
    return result


async def _again(one: Peer, state: str, responses: Any, call: Any = WIPE) -> Any:
    return await one.asked(
        "tools/call", **call, _meta=ELICITS, requestState=state, inputResponses=responses
    )


async def test_the_call_goes_on_with_the_answer(tool_file: Path) -> None:
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        result = (await _again(one, state, {"approval": ALLOW, "more": 7}))["result"]
        assert (result["resultType"], result["isError"]) == ("complete", False)
        assert result["content"][0]["text"] == "wiped a.txt"


async def test_a_state_is_used_once_and_belongs_to_one_call(tool_file: Path) -> None:
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        for wrong in (f"{state}x", "", "guessed"):
            assert (await _again(one, wrong, {"approval": ALLOW}))["error"]["code"] == -32602
        other = {"name": "wipe", "arguments": {"path": "b.txt"}}
        answer = await _again(one, state, {"approval": ALLOW}, other)
        assert "other parameters" in answer["error"]["message"]
        assert not (await _again(one, state, {"approval": ALLOW}))["result"]["isError"]
        assert (await _again(one, state, {"approval": ALLOW}))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("asked", "again"),
    [
        ({"number": 1}, {"number": 1.0}),
        ({"number": 1}, {"number": True}),
        ({"number": 0.0}, {"number": False}),
        ({"number": 1, "also": [{"a": 0}]}, {"number": 1, "also": [{"a": False}]}),
    ],
)
async def test_a_state_tells_values_apart_that_python_takes_for_equal(
    tool_file: Path, asked: Any, again: Any
) -> None:
    async with peer(tool_file, greets=False) as one:
        call = {"name": "chosen", "arguments": asked}
        first = (await one.asked("tools/call", **call, _meta=ELICITS))["result"]
        other = await _again(
            one, first["requestState"], {"approval": ALLOW}, {**call, "arguments": again}
        )
        assert "other parameters" in other["error"]["message"]
        turned = {**call, "arguments": dict(reversed(asked.items()))}
        answer = await _again(one, first["requestState"], {"approval": ALLOW}, turned)
        assert not answer["result"]["isError"]


async def test_an_answer_that_nobody_was_asked_for_approves_nothing(tool_file: Path) -> None:
    async with peer(tool_file, greets=False) as one:
        await _first(one, inputResponses={"approval": ALLOW})


async def test_what_is_missing_is_asked_for_again(tool_file: Path) -> None:
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        again = (await _again(one, state, {}))["result"]
        assert list(again["inputRequests"]) == ["approval"]
        assert again["requestState"] != state
        result = await _again(one, again["requestState"], {"approval": {"action": "decline"}})
        assert result["result"]["isError"] is True


@pytest.mark.parametrize("responses", [7, None, [], {"approval": 7}, {"approval": {"action": 1}}])
async def test_what_is_no_answer_is_refused_and_the_call_waits_on(
    tool_file: Path, responses: Any
) -> None:
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        assert (await _again(one, state, responses))["error"]["code"] == -32602
        assert not (await _again(one, state, {"approval": ALLOW}))["result"]["isError"]


async def test_who_answers_nothing_in_time_is_not_there(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "ASK_SECONDS", 0.05)
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        with anyio.fail_after(15):
            await one.client.idle()
        assert (await _again(one, state, {"approval": ALLOW}))["error"]["code"] == -32602


async def test_who_comes_after_the_end_hears_how_it_ended(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        one.served.stop()
        with anyio.fail_after(15):
            await one.client.idle()
        result = (await _again(one, state, {"approval": ALLOW}))["result"]
        assert result["isError"] is True


async def test_there_is_a_bound_on_calls_that_wait(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "MOST_SUSPENDED", 1)
    async with peer(tool_file, greets=False) as one:
        state = (await _first(one))["requestState"]
        refused = (await one.asked("tools/call", **WIPE, _meta=ELICITS))["result"]
        assert refused["isError"] is True
        assert not (await _again(one, state, {"approval": ALLOW}))["result"]["isError"]


async def test_a_legacy_client_is_asked_by_a_request(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet(elicitation={})
        own = one.ask("tools/call", **WIPE)
        asked = await one.until(lambda told: told.get("method") == "elicitation/create")
        assert "mode" not in asked["params"]
        one.reply("nobody asked", action="accept")
        one.reply(asked["id"], **ALLOW)
        assert not (await one.answer(own))["result"]["isError"]
        own = one.ask("tools/call", **WIPE)
        asked = await one.until(lambda told: told.get("method") == "elicitation/create")
        one.say(b'{"jsonrpc":"2.0","id":"%b","error":{}}' % asked["id"].encode())
        assert (await one.answer(own))["result"]["isError"] is True


@pytest.mark.parametrize(
    ("version", "can"),
    [
        ("2025-11-25", {"elicitation": {"url": {}}}),
        ("2025-11-25", {"elicitation": 7}),
        ("2025-11-25", {}),
        ("2025-03-26", {"elicitation": {}}),
    ],
)
async def test_who_cannot_show_a_form_is_asked_nothing(
    tool_file: Path, version: str, can: dict[str, Any]
) -> None:
    async with peer(tool_file) as one:
        await one.greet(version, **can)
        result = (await one.asked("tools/call", **WIPE))["result"]
        assert "no user is present" in result["content"][0]["text"]
        assert one.heard == []


async def test_a_call_that_is_cancelled_while_somebody_is_asked_ends(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet(elicitation={"form": {}})
        own = one.ask("tools/call", **WIPE)
        await one.until(lambda told: told.get("method") == "elicitation/create")
        one.tell("notifications/cancelled", requestId=own)
        with anyio.fail_after(15):
            await one.client.idle()
        assert one.heard == []


async def test_two_questions_come_one_after_the_other(tool_file: Path) -> None:
    ask: Any = {"name": "ask", "arguments": {}}
    said = {"action": "accept", "content": {"answer_1": "red"}}
    async with peer(tool_file, greets=False) as one:
        first = (await one.asked("tools/call", **ask, _meta=ELICITS))["result"]
        assert list(first["inputRequests"]) == ["colour"]
        again = await _again(one, first["requestState"], {"colour": said}, ask)
        assert again["result"]["structuredContent"] == ["red"]
        before = await one.asked(
            "tools/call", **ask, _meta=ELICITS, inputResponses={"colour": said}
        )
        assert before["result"]["structuredContent"] == ["red"]
        nobody = (await one.asked("tools/call", **ask, _meta=MODERN))["result"]
        assert nobody["isError"] is True
