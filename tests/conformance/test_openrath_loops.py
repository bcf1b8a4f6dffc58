"""The loops of the openrath suite: cases told in words are run, and broken ones are noticed."""

from pathlib import Path

import msgspec
import pytest

from holdfast.testing.conformance import Report, run

CASES = Path(__file__).parent / "cases" / "openrath.jsonl"


def _run(folder: Path, given: object, expect: object, area: str = "loop") -> Report:
    case = {"id": "x", "area": area, "given": given, "expect": expect}
    path = folder / "openrath.jsonl"
    path.write_bytes(msgspec.json.encode(case))
    return run("openrath", path)


def _turns(*calls: object, **more: object) -> dict[str, object]:
    return {"turns": [{"calls": list(calls)}, {"content": "done"}], **more}


OK = {"tools": {"ok": "returns 1"}}
ONCE = _turns(["c1", "ok", "{}"], **OK)
TWICE = _turns(["c1", "ok", "{}"], ["c2", "ok", ""], **OK)
ENDLESS = {"turns": [{"calls": [["c1", "ok", "{}"]]}], "max_tool_rounds": 2, **OK}
BUDGET = {"budget_total_tokens": 100, "usage_per_completion": [60, {"prompt_tokens": 60}, 60]}
FAILED = {"error_kind": "tool_execution_exception"}

RIGHT: list[tuple[object, object]] = [
    (ONCE, {"tool_results": [1], "tool_result_texts": ["1"], "note": "in passing"}),
    (TWICE, {"tool_results": [1, 1], "result_order": "call order", "completions": 2}),
    (TWICE, {"result_order": ["c1", "c2"], "requests": 2, "rounds": 2}),
    (ONCE, {"first_request_roles": ["system", "user"], "last_kind": "assistant"}),
    (ONCE, {"last_request_kinds": ["system", "user", "assistant", "tool_result"]}),
    (ENDLESS, {"truncated": True, "lineage_extras": [["loop.truncated", True]]}),
    (ENDLESS, {"loop_truncated": True, "extras": {"loop.truncated": True}, "completions": 2}),
    (ONCE, {"truncated": False, "lineage_kind": "op_session_loop", "loop_aborted": False}),
    (
        _turns(
            ["c1", "a", "{}"],
            ["c2", "b", "{}"],
            tools={"a": "raises KeyError('k')", "b": "returns 'x'"},
        ),
        {"tool_result_0": {**FAILED, "message_startswith": "KeyError"}, "tool_result_1": "x"},
    ),
    (
        _turns(["c1", "a", "{}"], tools={"a": "resource_key raises LookupError('no key')"}),
        {"tool_result_0": {"message": "LookupError: no key"}},
    ),
    (
        _turns(["c1", "a", "{}"], tools={"a": {"raises": "OSError(2, 'gone')"}}),
        {"tool_result_0": {"detail": "FileNotFoundError", "message_contains": "gone"}},
    ),
    (
        _turns(["c1", "a", "{}"], tools={"a": "raises RuntimeError"}),
        {"tool_result_0": {"detail": "RuntimeError"}},
    ),
    (
        _turns({"id": "c1", "name": "a", "arguments": {"str_of_length": 2_001}}),
        {"tool_result_0": {"error_kind": "invalid_tool_arguments", "detail_len": 2_014}},
    ),
    (
        _turns(["c1", "ok"], ["c2", "ok", {"a": 1}], tools={"ok": {"returns": {"a": [True]}}}),
        {"tool_results": [{"a": [True]}, {"a": [True]}]},
    ),
    (
        _turns(["c1", "probe", "{}"], tools={"probe": "records the session it was given"}),
        {"tool_session": "the output session", "rows_visible_in_tool": ["user", "assistant"]},
    ),
    (
        _turns(["c1", "workspace_path_exists", '{"path": "."}'], session="target only"),
        {"tool_results": [{"ok": True}], "user_sandbox": None, "out_sandbox": "open handle"},
    ),
    (
        _turns(["c1", "workspace_path_exists", '{"path": "x"}'], session="an open handle"),
        {"tool_results": [{"ok": False}], "user_handle": True, "output_handle": True},
    ),
    (BUDGET, {"callback_totals": [120], "final_total": 180, "loop_aborted": False}),
    ({**BUDGET, "callback": "raises"}, {"callback_calls": 1, "loop_aborted": True}),
    ({**BUDGET, "callback": "raises"}, {"raises": "RuntimeError", "message": "over budget"}),
    (
        {
            "turns": [
                {"content": "a", "finish_reason": "tool_calls", "usage": {"total": 7}},
                {"content": "b"},
            ]
        },
        {
            "assistant_texts": ["a", "b"],
            "final_total": 7,
            "out_kinds": ["user", *["assistant"] * 2],
        },
    ),
    ({"round": "two calls, different keys, parallel-safe"}, {"peak_in_flight": 2}),
    ({"round": "two calls of the same key, all safe"}, {"peak_in_flight": "1 or 1"}),
    ({"round": "3 calls, different keys, not parallel-safe"}, {"peak_in_flight": 1}),
]

WRONG: list[tuple[object, object]] = [
    (ONCE, {"tool_results": [2]}),
    (ONCE, {"tool_result_texts": ['"1"']}),
    (ONCE, {"tool_result_1": 1}),
    (ONCE, {"kinds": ["user"]}),
    (ONCE, {"user_session_kinds": []}),
    (ONCE, {"assistant_texts": ["done"]}),
    (ONCE, {"completions": 1}),
    (ONCE, {"third_request_roles": []}),
    (ONCE, {"second_request_roles": ["system", "user"]}),
    (ONCE, {"tool_session": "output session"}),
    (ONCE, {"rows_visible_in_tool": []}),
    (ONCE, {"raises": "ValueError"}),
    (ONCE, {"message": "no"}),
    (ONCE, {"loop_aborted": True}),
    (ONCE, {"user_sandbox": "open"}),
    (ONCE, {"out_handle": True}),
    (ONCE, {"final_total": 1}),
    (ENDLESS, {"truncated": False}),
    (ENDLESS, {"lineage_extras": []}),
    (TWICE, {"result_order": ["c2", "c1"]}),
    (TWICE, {"peak_in_flight": 2}),
    (
        _turns(["c1", "a", "{}"], tools={"a": "raises ValueError('x')"}),
        {"tool_result_0": {"message_contains": "y"}},
    ),
    (
        _turns(["c1", "a", "{}"], tools={"a": "raises ValueError('x')"}),
        {"tool_result_0": {"kind": "x"}},
    ),
    ({**BUDGET, "callback": "raises"}, {"callback_totals": [120]}),
    ({"turns": ["words"]}, {"kinds": []}),
    ({"turns": [{"calls": ["c1"]}]}, {"kinds": []}),
]

UNKNOWN: list[tuple[object, object]] = [
    ({"turns": []}, {}),
    (ONCE, {"weather": "fine"}),
    (_turns(tools={"a": "levitates"}), {}),
    (_turns(tools={"a": "raises Hell('x')"}), {}),
    (_turns(tools={"a": "returns to sender"}), {}),
    ({"round": "many shouts"}, {}),
]


@pytest.mark.parametrize(("given", "expect"), RIGHT)
def test_a_right_expectation_passes(tmp_path: Path, given: object, expect: object) -> None:
    report = _run(tmp_path, given, expect)
    assert (report.passed, report.failures, report.skipped) == (1, [], 0)


@pytest.mark.parametrize(("given", "expect"), WRONG)
def test_a_wrong_expectation_fails(tmp_path: Path, given: object, expect: object) -> None:
    report = _run(tmp_path, given, expect)
    assert (report.passed, len(report.failures), report.skipped) == (0, 1, 0)


@pytest.mark.parametrize(("given", "expect"), UNKNOWN)
def test_what_is_told_in_unknown_words_is_skipped(
    tmp_path: Path, given: object, expect: object
) -> None:
    report = _run(tmp_path, given, expect)
    assert (report.passed, report.failures, report.skipped) == (0, [], 1)


@pytest.mark.req("RATH-TST-04")
def test_every_published_case_with_turns_is_run() -> None:
    told = [msgspec.json.decode(line) for line in CASES.read_bytes().splitlines() if line.strip()]
    prose = [case for case in told if "flow" in case["given"]]
    report = run("openrath", CASES)
    assert (report.failures, report.skipped) == ([], len(prose))
