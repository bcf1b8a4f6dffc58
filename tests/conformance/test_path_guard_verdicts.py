"""The path_guard cases of the extra suite pass what is right and say what is not."""

import json
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance import Report, run


def _run(tmp_path: Path, path: str, expect: object, **case: object) -> Report:
    file = tmp_path / "cases.jsonl"
    facts = {"id": "one", "suite": "path_guard", "home": "/h", "path": path, "expect": expect}
    file.write_text(json.dumps({**facts, **case}), "utf-8")
    return run("extra", file)


@pytest.mark.parametrize(
    ("path", "expect", "case"),
    [
        ("x", {"ok": True, "resolved": "/h/x", "reason": None, "envelope": None}, {}),
        ("/h//x", {"ok": True, "resolved": "/h/./x"}, {}),
        ("/workspace/shared/x", {"ok": True}, {}),
        ("/s/x", {"ok": True, "resolved": "/s/x"}, {"shared_root": "/s"}),
        ("..", {"ok": False, "resolved": None, "reason": "traversal"}, {}),
        ("", {"envelope": {"kind": "invalid_args", "field": "path"}}, {}),
        ("", {"envelope": {"message": "Argument `path` rejected: the path is empty. Got ``."}}, {}),
    ],
)
def test_a_right_expectation_passes(
    tmp_path: Path, path: str, expect: JsonObject, case: JsonObject
) -> None:
    assert _run(tmp_path, path, expect, **case) == Report(1, [], 0)


@pytest.mark.parametrize(
    ("path", "expect", "said"),
    [
        ("x", {"ok": False}, "ok: expected False, got True"),
        ("x", {"resolved": "/x"}, "resolved: expected '/x', got '/h/x'"),
        ("x", {"resolved": None}, "resolved: expected None, got '/h/x'"),
        ("x", {"envelope": {"kind": "invalid_args"}}, "envelope: expected"),
        ("..", {"reason": "nul"}, "reason: expected 'nul', got 'traversal'"),
        ("..", {"resolved": "/h"}, "resolved: expected '/h', got None"),
        ("..", {"envelope": None}, "envelope: expected None"),
        ("..", {"envelope": {"field": "to"}}, "envelope.field: expected 'to', got 'path'"),
        ("..", {"warning": True}, "warning: expected True, got None"),
    ],
)
def test_a_wrong_expectation_is_a_failure(
    tmp_path: Path, path: str, expect: JsonObject, said: str
) -> None:
    report = _run(tmp_path, path, expect)
    assert report.passed == 0
    assert said in report.failures[0].message
