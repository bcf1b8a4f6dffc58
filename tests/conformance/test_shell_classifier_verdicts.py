"""The shell_classifier suite passes what is right and says what is not."""

import json
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance import Report, run

GREP: JsonObject = {"path": "/workspace/src", "pattern": "TODO"}


def _run(tmp_path: Path, **case: object) -> Report:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"id": "one", **case}), "utf-8")
    return run("shell_classifier", path)


def _offer(tool: str | None, **args: object) -> dict[str, object]:
    return {"tool": tool, "args": args}


@pytest.mark.parametrize(
    "case",
    [
        {"command": "cat a", "expect": _offer("read", path="/workspace/a")},
        {"command": "cat a", "cwd": "/d", "expect": _offer("read", path="/d/a")},
        {"command": "cat a", "cwd": None, "expect": _offer("read", path="/workspace/a")},
        {
            "command": "cat a b",
            "cwd": "/d",
            "tool_args": {"cwd": "/e", "timeout_ms": 9},
            "expect": _offer("bash", command="cat a b", workdir="/e", timeout_ms=9),
        },
        {
            "command": "cat 'a b' c",
            "expect": _offer("bash", command='cat "a b" c', workdir="/workspace"),
        },
        {"command": "grep TODO src", "expect": _offer("grep", **GREP)},
        {"command": "grep TODO src", "expect": _offer("grep", **GREP, regex=True)},
        {"command": "grep -i TODO src", "expect": _offer("grep", **GREP, case_sensitive=False)},
        {"command": "rm x", "expect": {"tool": None}},
        {"command": "rm x", "expect": _offer("read", path="/x"), "also_ok": [_offer(None)]},
    ],
)
def test_a_right_expectation_passes(tmp_path: Path, case: JsonObject) -> None:
    assert _run(tmp_path, **case) == Report(1, [], 0)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (
            {"command": "cat a", "expect": _offer(None)},
            "offer: expected nothing, got read {'path': '/workspace/a'}",
        ),
        (
            {"command": "rm x", "expect": _offer("read", path="/x"), "also_ok": [_offer("glob")]},
            "offer: expected read {'path': '/x'} or glob {}, got nothing",
        ),
        ({"command": "cat a", "expect": _offer("read", path="/a")}, "expected read"),
        ({"command": "grep -F TODO src", "expect": _offer("grep", **GREP)}, "expected grep"),
        ({"command": "cat a b", "expect": _offer("bash", command="cat b a")}, "expected bash"),
        ({"command": "cat a", "expect": {}}, "an expectation has a tool"),
        ({"command": "cat a", "expect": {"tool": "read", "n": 1}}, "an expectation has a tool"),
        ({"command": "cat a", "expect": {"tool": "read"}}, "no object 'args'"),
        ({"command": "cat a", "expect": _offer(None), "also_ok": "x"}, "also_ok is not a list"),
        ({"command": "cat a", "expect": _offer(None), "also_ok": ["x"]}, "is not an object"),
        ({"command": 5, "expect": _offer(None)}, "no text 'command'"),
        ({"command": "ls", "cwd": 5, "expect": _offer(None)}, "no text 'cwd'"),
        ({"command": "ls", "tool_args": [], "expect": _offer(None)}, "no object 'tool_args'"),
    ],
)
def test_a_wrong_or_unreadable_expectation_is_a_failure(
    tmp_path: Path, case: JsonObject, said: str
) -> None:
    report = _run(tmp_path, **case)
    assert report.passed == 0
    (failure,) = report.failures
    assert said in failure.message
