"""The cases of the extra suite pass what is right, say what is not, and what cannot be read."""

import json
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance import Report, run

ENTRY: JsonObject = {"name": "a", "path": "d/a", "type": "file"}
FILE: JsonObject = {
    "path": "a",
    "text": "one",
    "start_line": 1,
    "end_line": 1,
    "total_line_count": 1,
    "selected_line_count": 1,
    "total_lines_exact": True,
    "truncated": False,
}
FOUND: JsonObject = {
    "kind": "search",
    "query": "a",
    "entries": [ENTRY],
    "match_count": 1,
    "truncated": True,
}
SEARCH: JsonObject = {"query": "a", "entries": [ENTRY], "truncated": True}


def _run(tmp_path: Path, **case: object) -> Report:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps({"id": "one", **case}), "utf-8")
    return run("extra", file)


def _said(report: Report) -> str:
    (failure,) = report.failures
    assert report.passed == 0
    return failure.message


def test_a_suite_that_is_not_here_is_skipped(tmp_path: Path) -> None:
    assert _run(tmp_path, suite="something_new") == Report(0, [], 1)


@pytest.mark.parametrize(
    ("call", "expect"),
    [
        ({"search": {**SEARCH, "tool": "glob"}}, {"ok": True, "tool": "glob", "result": FOUND}),
        ({"file": {**FILE, "unknown": 1}}, {"ok": True, "result": {"kind": "file", **FILE}}),
        ({"success": {"result": 3, "warnings": ["w"]}}, {"result": 3, "warnings": ["w"]}),
    ],
)
def test_what_is_built_is_compared(tmp_path: Path, call: JsonObject, expect: JsonObject) -> None:
    built = {"suite": "envelope_build", "call": call}
    assert _run(tmp_path, **built, expect=expect, absent=["message"]) == Report(1, [], 0)
    wrong = _run(tmp_path, **built, expect={**expect, "result": "another"})
    assert _said(wrong).startswith("result: expected 'another', got ")
    assert _said(_run(tmp_path, **built, expect=expect, absent=["ok", "message"])) == (
        "ok should be absent, is True"
    )


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (
            {"suite": "envelope_build", "call": {"search": "a"}, "expect": {}},
            "the call's arguments are not an object",
        ),
        (
            {"suite": "envelope_build", "call": {"listing": {"path": "d"}}, "expect": {}},
            "no entries",
        ),
        (
            {"suite": "envelope_build", "call": {"file": {"path": "a"}}, "expect": {}},
            "Missing required argument",
        ),
        ({"suite": "envelope_build", "call": {"nothing": {}}, "expect": {}}, "KeyError: 'nothing'"),
        (
            {"suite": "truncate", "length": "9", "max_chars": 5, "expect": {}},
            "length and max_chars must be integers",
        ),
        (
            {"suite": "shell_warnings", "command": "true", "exit_code": "0"},
            "the case has no number 'exit_code'",
        ),
        ({"suite": 5}, "the case has no text 'suite'"),
    ],
)
def test_a_case_that_cannot_be_read_says_what_it_lacks(
    tmp_path: Path, case: JsonObject, said: str
) -> None:
    message = _said(_run(tmp_path, **case))
    assert message.startswith("the case cannot be read: ")
    assert said in message


def test_a_warning_that_does_not_come_is_missed(tmp_path: Path) -> None:
    case = {"suite": "shell_warnings", "command": "a | b", "stdout": "", "stderr": ""}
    right = {**case, "exit_code": 0, "expect_kinds": ["empty_output"]}
    assert _run(tmp_path, **right) == Report(1, [], 0)
    said = _said(_run(tmp_path, **{**right, "exit_code": 141}))
    assert said == "kinds: expected ['empty_output'], got ['sigpipe']"
