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
ECHO = {"payload": {"CommandRun": {"cmd": "echo out; exit 1"}}}
LIST = {"FilesList": {"path": "."}}
READ = {"FilesRead": {"path": "a"}}
CLOSED = {"raises": "RuntimeError", "message": "stream is closed"}


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
        ("backend_local", ECHO, {"stdout": "out"}),
        ("backend_local", ECHO, {"stdout_b64": "b3V0"}),
        ("backend_local", ECHO, {"stdout_contains": "OUT"}),
        ("backend_local", ECHO, {"stdout_not_contains": "out"}),
        ("backend_local", ECHO, {"stdout_len": 3}),
        ("backend_local", ECHO, {"exit_code": True}),
        ("backend_local", ECHO, {"exit_code_any": [0, 2]}),
        ("backend_local", ECHO, {"colour": None}),
        ("backend_local", ECHO, {"failure_kind": "os_error"}),
        ("backend_local", ECHO, {"refused": True}),
        ("backend_local", ECHO, {"type": "CodeResult"}),
        ("backend_local", ECHO, {"usable_after": False}),
        ("backend_local", {"payload": {"FilesExists": {"path": "x"}}}, {"value": True}),
        ("backend_local", {"payload": {"FilesExists": {"path": "x"}}}, {"value": 0}),
        (
            "backend_local",
            {"payload": {"FilesWrite": {"path": "a/b", "data": "x"}}},
            {"parents_created": False},
        ),
        ("backend_local", {"files": {"a": ""}, "payload": LIST}, {"names": ["b"]}),
        ("backend_local", {"files": {"a": ""}, "payload": LIST}, {"entries": []}),
        ("backend_local", {"payload": {"FilesList": "x"}}, {}),
        ("backend_local", {"payload": ["x"]}, {}),
        ("backend_local", {"payloads": "x"}, {}),
        ("stream", {"call": "elapsed_time on unsignalled events"}, {"raises": "ValueError"}),
        ("stream", {"call": "elapsed_time on unsignalled events"}, {"message": "no"}),
        ("stream", {"call": "elapsed_time on unsignalled events"}, {"message_contains": "no!"}),
        ("stream", {"call": "elapsed_time on unsignalled events"}, {"value": None}),
        ("stream", {"call": "exit after exit"}, {"raises": "RuntimeError"}),
        ("stream", {"call": "exit after exit"}, {"value": 1}),
        ("stream", {"call": "exit after exit"}, {"colour": 1}),
        ("session", {"call": "merge"}, {"raises": "KeyError"}),
        ("session", {"call": "merge"}, {"value": "op_merge"}),
        ("session", {"call": "merge"}, {"message_startswith": "can merge"}),
        ("session", {"call": "merge", "targets": ["a", "a"]}, {"value": "op_fork"}),
        ("session", {"call": "create", "kind": "user"}, {"raises": "ValueError"}),
        ("session", {"call": "create", "kind": "tool"}, {"value": "unknown"}),
        ("session", {"call": "compress"}, {"value": "op_session_compress"}),
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
        ("backend_local", ECHO, {"stdout": "out\n", "stderr": "", "exit_code": 1, "note": "."}),
        ("backend_local", ECHO, {"stdout_b64": "b3V0Cg==", "type": "CommandResult"}),
        ("backend_local", ECHO, {"stdout_startswith": "o", "stdout_endswith": "\n"}),
        ("backend_local", ECHO, {"stdout_length": 4, "exit_code_any": [1, 2], "failure": False}),
        ("backend_local", {"files": {"a": "é"}, "payload": READ}, {"data": "é"}),
        ("backend_local", {"setup": {"a": {"b64": "/w=="}}, "payload": READ}, {"refused": True}),
        (
            "backend_local",
            {"fs_setup": [{"path": "a", "data_b64": "/w=="}], "payload": READ},
            {"failure_kind_any": ["unexpected", "os_error"], "usable_after": True},
        ),
        (
            "backend_local",
            {"files": [{"path": "a", "content": "x"}], "payload": LIST},
            {"names": ["a"], "entries": [{"name": "a", "is_dir": False}]},
        ),
        (
            "backend_local",
            {"payloads": [{"FilesWrite": {"path": "d/x", "data_of_length": 5}}, LIST]},
            {"entries": [{"name": "d", "is_dir": True}]},
        ),
        (
            "backend_local",
            {"payload": {"BackendToolCommandRun": {"cmd": ["cat"], "stdin": "fed"}}},
            {"stdout": "fed"},
        ),
        (
            "backend_local",
            {"spec": {"env": {"A": "b"}}, "payload": {"CommandRun": {"cmd": "echo $A"}}},
            {"stdout": "b\n"},
        ),
        (
            "backend_local",
            {"payload": {"FilesRead": {"path": "../x"}}},
            {"failure_kind": "os_error", "detail": "../x", "message_contains": "leads out"},
        ),
        (
            "backend_local",
            {"payload": {"CodeRun": {"code": "1", "language": "ruby"}}},
            {"failure_kind": "unsupported_tool", "detail": "ruby"},
        ),
        ("stream", {"call": "submit after exit"}, CLOSED),
        ("stream", {"call": "query on a closed stream"}, CLOSED),
        ("stream", {"call": "exit after exit"}, {"value": None, "note": "harmless"}),
        (
            "stream",
            {"call": "wait_event that nobody records", "timeout": 0.02},
            {"raises": "TimeoutError", "message": "wait_event timed out after 0.02s"},
        ),
        ("sandbox", {"call": "acquire after close"}, {"raises": "BackendSandboxClosed"}),
        ("sandbox", {"call": "dispatch after close"}, {"message_contains": "is closed"}),
        ("sandbox", {"call": "release after close"}, {"value": None}),
        (
            "sandbox",
            {"call": "require_sandbox", "session": "no sandbox target and no handle"},
            {"raises": "RuntimeError", "message_contains": 'session.to("local")'},
        ),
        (
            "session",
            {"call": "require_sandbox with a closed handle"},
            {"raises": "RuntimeError", "message": "session sandbox is closed"},
        ),
        (
            "session",
            {"call": "a.merge(b), different targets", "targets": ["local", "b"]},
            {
                "raises": "ValueError",
                "message": "cannot merge unbound sessions targeting different backends:"
                " 'local' vs 'b'",
            },
        ),
        ("session", {"call": "merge", "targets": ["a", "a"]}, {"value": "op_merge"}),
        (
            "session",
            {"call": "Session.create of an unknown kind"},
            {"raises": "ValueError", "message_startswith": "unknown kind"},
        ),
        ("session", {"call": "create", "kind": "system"}, {"value": "leaf_system"}),
        ("session", {"call": "create", "kind": "empty"}, {"value": "unknown"}),
        (
            "session",
            {"call": "compress, answered with tool calls"},
            {
                "raises": "RuntimeError",
                "message": "run_session_compress: model returned tool calls but tools are disabled",
            },
        ),
        ("session", {"call": "compress", "reply": " "}, {"raises": "RuntimeError"}),
        ("session", {"call": "compress", "reply": "s"}, {"value": "op_session_compress"}),
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
        ("sandbox", {"call": "run", "turns": []}),
        ("sandbox", {"session": "x"}),
        ("stream", {"call": "levitate"}),
        ("session", {"flow": "fork and detach"}),
        ("backend_local", {"payload": {"Teleport": {"path": "x"}}}),
        ("serialize", {"flow": "in words"}),
        ("serialize", {"tool_returns": {"new": 1}}),
    ],
)
def test_what_is_prose_or_not_there_yet_is_skipped_and_counted(
    tmp_path: Path, area: str, given: object
) -> None:
    report = _run(tmp_path, area, given, {})
    assert (report.passed, report.failures, report.skipped) == (0, [], 1)
