"""The suite of manifests says no when a case does not hold."""

import json
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance import run

TOOL: JsonObject = {
    "name": "t",
    "command": ["<MANIFEST_DIR>/tools/bin/x", "a"],
    "env": ["TZ"],
    "timeoutSec": 5,
    "openai": {
        "type": "function",
        "function": {"name": "t", "description": "d", "parameters": {"type": "object"}},
    },
}
CASE: JsonObject = {
    "id": "case",
    "manifest": {
        "tools": [
            {
                "name": "t",
                "description": "d",
                "command": ["./tools/bin/x", "a"],
                "envPassthrough": ["tz"],
                "timeoutSec": 5,
                "schema": {"type": "object"},
            }
        ]
    },
    "expect_error": None,
    "expect_tools": [TOOL],
}
BAD = {"tools": [{"name": "t", "command": ["x"]}]}
TEXT = 'tool[0] "t": relative command[0] must start with ./tools/bin/'


def verdict(tmp_path: Path, case: JsonObject) -> str:
    """What is said against the case; empty: it passes."""
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case), "utf-8")
    report = run("manifest", path)
    assert report.passed + len(report.failures) == 1
    return "" if report.passed else report.failures[0].message


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"manifest": BAD, "expect_error": TEXT},
        {"manifest": BAD, "expect_error": TEXT, "match": "exact"},
        {"manifest": BAD, "expect_error": "tool[0]", "match": "prefix"},
        {"raw": "{", "expect_error": "parse manifest: ", "match": "prefix"},
        {"path": "<MANIFEST_DIR>/x", "expect_error": "read manifest: <MANIFEST_DIR>/x: No such"
         " file or directory"},
        {"manifest": {}, "expect_tools": []},
        {"manifest": {"tools": [{"name": "t", "command": ["/x"], "timeoutSec": 0}]},
         "expect_tools": [{"timeoutSec": None}]},
        {"manifest": {"tools": [{"name": "t", "command": ["/x"], "timeoutSec": -3}]},
         "expect_tools": [{"timeoutSec": -3}]},
    ],
)  # fmt: skip
def test_a_case_that_holds_passes(tmp_path: Path, changed: JsonObject) -> None:
    assert verdict(tmp_path, {**CASE, **changed}) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"expect_error": TEXT}, "error: expected"),
        ({"manifest": BAD}, f"error: expected None, got {TEXT!r}"),
        ({"manifest": BAD, "expect_error": "tool[0]"}, "error: expected 'tool[0]', got"),
        ({"manifest": BAD, "expect_error": "x", "match": "prefix"}, "error: expected 'x', got"),
        ({"expect_tools": []}, "tools: expected 0, got 1"),
        ({"expect_tools": [{**TOOL, "name": "u"}]}, "tools[0].name: expected 'u', got 't'"),
        ({"expect_tools": [{**TOOL, "command": ["x"]}]}, "tools[0].command: expected"),
        ({"expect_tools": [{**TOOL, "env": []}]}, "tools[0].env: expected [], got ['TZ']"),
        ({"expect_tools": [{**TOOL, "timeoutSec": None}]}, "tools[0].timeoutSec: expected"),
        ({"expect_tools": [{**TOOL, "timeoutSec": True}]}, "tools[0].timeoutSec: expected"),
        ({"expect_tools": [{**TOOL, "openai": {}}]}, "tools[0].openai: expected {}, got"),
        ({"expect_tools": [{**TOOL, "colour": 1}]}, "expects 'colour' of a tool, which"),
        ({"expect_tools": None}, "does not say which tools it expects"),
        ({"expect_tools": [1]}, "expects no object as tool 0"),
    ],
)  # fmt: skip
def test_a_case_that_does_not_hold_fails(tmp_path: Path, changed: JsonObject, said: str) -> None:
    assert said in verdict(tmp_path, {**CASE, **changed})


@pytest.mark.parametrize("left_out", ["expect_error", "manifest"])
def test_a_case_that_leaves_something_open_cannot_be_read(tmp_path: Path, left_out: str) -> None:
    case = {key: value for key, value in CASE.items() if key != left_out}
    assert "the case cannot be read" in verdict(tmp_path, case)


def test_what_a_program_is_told_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    cases: list[JsonObject] = [
        {"arguments": '{"b":1,  "a":2}', "expect_stdin": '{"b":1,  "a":2}'},
        {"arguments": " \n", "expect_stdin": "{}"},
        {"arguments": '{"n": "5"}', "schema": schema, "expect_stdin": '{"n":5}'},
        {"arguments": '{"n": "x"}', "schema": schema, "expect_stdin": "{}", "id": "refused"},
        {"arguments": '{"b":1,  "a":2}', "expect_stdin": '{"b":1,"a":2}', "id": "changed"},
        {"nothing": "is expected"},
    ]
    lines = [json.dumps({"suite": "runner_content", **case}) for case in cases]
    path.write_text("\n".join(lines), "utf-8")
    report = run("extra", path)
    assert (report.passed, report.skipped) == (3, 1)
    assert [failure.id for failure in report.failures] == ["refused", "changed"]
