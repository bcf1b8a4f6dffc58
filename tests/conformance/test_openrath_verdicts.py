"""The openrath suite notices every kind of broken expectation."""

from pathlib import Path

import msgspec
import pytest

from holdfast.testing.conformance import Report, run


def _run(folder: Path, area: str, given: object, expect: object) -> Report:
    case = {"id": "x", "area": area, "given": given, "expect": expect}
    path = folder / "openrath.jsonl"
    path.write_bytes(msgspec.json.encode(case))
    return run("openrath", path)


HI = {"tool_returns": {"json": "hi"}}


@pytest.mark.parametrize(
    ("area", "given", "expect"),
    [
        ("serialize", HI, {"text": "hi"}),
        ("serialize", HI, {"text": '"hi"', "begins": '"'}),
        ("serialize", HI, {"length": 3}),
        ("serialize", HI, {"endswith": "!"}),
        ("serialize", HI, {"contains": ["ho"]}),
        ("serialize", HI, {"not_contains": ["hi"]}),
        ("serialize", HI, {"valid_json": False}),
        ("serialize", HI, {"json": "ho"}),
        ("serialize", HI, {"json_path_len": {"a.b": 1}}),
        ("serialize", {"tool_returns": {"str_of_length": "many"}}, {"length": 1}),
        ("parse_arguments", {"raw": "{"}, {"parsed": {}, "had_error": False}),
        ("table", {"user_tools": ["run_code"]}, {"schema_order": []}),
        ("table", {"user_tools": ["a"]}, {"schema_order": ["a"]}),
        ("table", {"user_tools": []}, {"builtin_names": ["run_code"]}),
        ("table", {"user_tools": []}, {"seed_minimum": ["teleport"]}),
        ("table", {"user_tools": []}, {"raises": "ValueError"}),
        ("shell_guard", {"cmd": "ls"}, {"raises": "ValueError"}),
        ("shell_guard", {"cmd": "a\nb"}, {"raises": "KeyError"}),
        ("shell_guard", {"cmd": "a\nb"}, {"raises": "ValueError", "message": "no"}),
    ],
)
def test_a_broken_expectation_fails(
    tmp_path: Path, area: str, given: object, expect: object
) -> None:
    report = _run(tmp_path, area, given, expect)
    assert (report.passed, len(report.failures), report.skipped) == (0, 1, 0)


@pytest.mark.parametrize(
    ("area", "given", "expect"),
    [
        ("serialize", {"tool_returns": {"none": True}}, {"text": "null"}),
        ("serialize", {"tool_returns": {"py_float": "nan"}}, {"text": "null"}),
        ("serialize", {"tool_returns": {"py_set": ["a"]}}, {"text": "\"{'a'}\""}),
        (
            "serialize",
            {"tool_returns": {"type": "Novelty"}},
            {"json": {"type": "Novelty", "note": "unserialised result"}},
        ),
        (
            "serialize",
            {
                "tool_returns": {
                    "type": "CommandResult",
                    "exit_code": 0,
                    "stdout_len": 48_001,
                    "stderr_len": 0,
                    "elapsed_ms": 1,
                }
            },
            {"json_path_len": {"stdout": 48_014, "stderr": 0}},
        ),
        (
            "serialize",
            {"tool_returns": {"type": "CodeResult", "stdout_len": 3}},
            {"json": {"text": None, "stdout": "xxx", "stderr": "", "error": None}},
        ),
        ("table", {"user_tools": ["run_code"]}, {"raises": "ValueError"}),
        ("shell_guard", {"cmd_of_length": 2048}, {}),
        ("shell_guard", {"cmd_of_length": 2049}, {"raises": "ValueError"}),
    ],
)
def test_a_right_expectation_passes(
    tmp_path: Path, area: str, given: object, expect: object
) -> None:
    report = _run(tmp_path, area, given, expect)
    assert (report.passed, report.failures, report.skipped) == (1, [], 0)


@pytest.mark.parametrize(
    ("area", "given"),
    [
        ("loop", {}),
        ("serialize", {"flow": "in words"}),
        ("serialize", {"tool_returns": {"new": 1}}),
    ],
)
def test_what_is_prose_or_not_there_yet_is_skipped_and_counted(
    tmp_path: Path, area: str, given: object
) -> None:
    report = _run(tmp_path, area, given, {})
    assert (report.passed, report.failures, report.skipped) == (0, [], 1)
