"""A session of many events as a text that `holdfast sessions import` reads."""

import json
from typing import Any

SESSION = "ses_d0fa0000000000000000000001"
_AT = "2026-01-01T10:00:{:02d}.{:06d}Z"


def long_session(count: int) -> str:
    """So many events of people, an agent and its calls, which differ in length."""
    events = [_created()]
    while len(events) < count:
        events += _round(len(events))
    lines: list[dict[str, Any]] = [{"type": "holdfast.session", "data": _head(count)}]
    for number, event in enumerate(events[:count], 1):
        at = _AT.format(number // 500 % 60, number)
        lines.append(
            {
                "id": f"evt_{number:026d}",
                "created_at": at,
                "processed_at": at,
                "sequence": number,
                "version": 1,
                **event,
            }
        )
    return "".join(json.dumps(line) + "\n" for line in lines)


def _head(count: int) -> dict[str, Any]:
    return {
        "version": 1,
        "id": SESSION,
        "agent_id": "default",
        "environment_id": "local-default",
        "profile": "all",
        "workspace": None,
        "parent_id": None,
        "title": "A long one",
        "status": "idle",
        "stop_reason": "idle",
        "created_at": _AT.format(0, 1),
        "updated_at": _AT.format(count // 500 % 60, count),
        "events": count,
        "usage": {},
        "resources": [],
        "pending_tool_confirmation_request": None,
        "pending_custom_tool_request": None,
        "metadata": {},
    }


def _created() -> dict[str, Any]:
    return {"type": "session.created", "agent_id": "default", "profile": "all", "metadata": {}}


def _round(number: int) -> list[dict[str, Any]]:
    """What a person says, what the agent does about it and how it answers: ten events."""
    told = f"Message {number}. " + "Look at it once more. " * (number // 10 % 7)
    answer = f"## Answer {number}\n\n" + "It is **right**, see `code`.\n\n- one\n- two\n" * (
        number // 10 % 4 + 1
    )
    events = [{"type": "user.message", "message": told}]
    for turn in range(2):
        events += _call(f"cal_{number:024d}{turn}", number, turn)
    lines = "\n".join(f"line {line}" for line in range(number % 40))
    events += _call(f"cal_{number:024d}9", number, 9, {"stdout": lines, "exit_code": number % 3})
    return [
        *events[:9],
        {"type": "agent.message", "message": answer, "summary": "done"},
        *events[9:],
    ]


def _call(
    name: str, number: int, turn: int, result: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    tool = "read" if result is None else "bash"
    given = {"path": f"src/{number}.py"} if result is None else {"command": f"make {number}"}
    text = "\n".join(f"value_{line} = {line}" for line in range(number % 30 + 1))
    file = {"kind": "file", "path": f"src/{number}.py", "text": text, "start_line": 1}
    good = {"ok": True, "result": result or file, "tool": tool, "metadata": {"duration_ms": turn}}
    bad = {
        "ok": False,
        "kind": "not_found",
        "message": f"There is no src/{number}.py.",
        "tool": tool,
    }
    envelope = bad | {"retryable": False} if turn == 1 and number % 50 < 10 else good
    hashed = "0" * 64
    return [
        {"type": "call.asked", "call_id": name, "tool": tool, "arguments": json.dumps(given)},
        {
            "type": "call.intended",
            "call_id": name,
            "tool": tool,
            "arguments_hash": hashed,
            "grounds": "a rule",
            "repairs": [],
        },
        {"type": "call.settled", "call_id": name, "tool": tool, "envelope": envelope},
    ]
