"""The suite of capability cases says no where no is right, and notices the trap."""

import json
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance import Report, run

TREE: JsonObject = {
    "vars": {"workspace": ["@/ws"]},
    "fs_setup": {
        "dirs": ["ws/docs"],
        "files": ["ws/docs/a.md", "ws/src/b.py", "out/o.txt"],
        "symlinks": {"ws/near": "docs/a.md", "ws/far/link": "@/out"},
    },
}
READ: JsonObject = {
    **TREE,
    "id": "read",
    "kind": "path",
    "requires": {"fs": {"read": ["**"]}},
    "call": {"op": "fs.read", "path": "docs/a.md"},
    "expect": "allow",
}
FETCH: JsonObject = {
    "id": "fetch",
    "kind": "host",
    "requires": {"net": {"hosts": ["a.test"]}},
    "call": {"op": "net.fetch", "url": "https://a.test/"},
    "expect": "allow",
}
BOTH: JsonObject = {
    **TREE,
    "id": "both",
    "kind": "effective",
    "manifest": {"fs": {"read": ["docs/**"]}},
    "tools": [{"fs": {"write": ["out/**"]}, "shell": [{"cmd": "ls"}]}],
    "call": {"op": "fs.write", "path": "out/r.md"},
    "expect": "allow",
}
WEB: JsonObject = {"kind": "environment", "environment": "web", "call": {"tool": "read"}}


def _run(tmp_path: Path, *cases: JsonObject) -> Report:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)), "utf-8")
    return run("capabilities", path)


@pytest.mark.parametrize(
    "case",
    [
        READ,
        {**READ, "call": {"op": "fs.read", "path": "far/link/o.txt"}, "expect": "deny"},
        {**READ, "requires": {"fs": {"read": ["{nope}"]}}, "expect": "deny"},
        {**READ, "call": {"op": "fs.read", "path": "near"}, "must_not_open": "out/o.txt"},
        {**READ, "must_not_open": "@/ws/never-there"},
        FETCH,
        {**FETCH, "redirects": ["/more"]},
        {**FETCH, "redirects": ["https://b.test/"], "expect": "deny"},
        {**FETCH, "call": {"op": "net.fetch", "url": "https://a.test/", "redirects": ["/x"]}},
        BOTH,
        {**BOTH, "call": {"op": "shell.run", "command": None, "argv": ["ls", "a b"]}},
        {**BOTH, "ceiling": {"fs": {"write": ["out/x/**"]}}, "expect": "deny"},
        {**BOTH, "ceiling": {"fs": {"write": ["out/*"]}}, "parent": None},
        {**BOTH, "parent": {"fs": {"write": ["**"]}}},
        {**BOTH, "parent": {}, "expect": "deny"},
        {**BOTH, "call": {"op": "capability", "name": "fs.read"}},
        {**WEB, "expect": "deny"},
        {**WEB, "virtual_fs": True, "expect": "allow"},
        {**WEB, "call": {"tool": "todo"}, "expect": "allow"},
        {"kind": "compile", "requires": {"fs": {"read": ["{workspace}/**"]}}, "expect": "ok"},
        {"kind": "compile", "requires": {"net": {"hosts": ["{nope}"]}}, "expect": "throw"},
        {"kind": "compile", "requires": {"other": {}}, "expect": "throw"},
    ],
)
def test_a_case_passes_as_it_is_and_fails_the_other_way_round(
    tmp_path: Path, case: JsonObject
) -> None:
    turned = {"allow": "deny", "deny": "allow", "ok": "throw", "throw": "ok"}
    wrong = {**case, "expect": turned[str(case["expect"])]}
    report = _run(tmp_path, case, wrong)
    assert report.passed == 1
    assert len(report.failures) == 1


def test_opening_the_trap_is_a_failure_though_the_verdict_is_right(tmp_path: Path) -> None:
    trapped: JsonObject = {**READ, "must_not_open": "@/ws/docs/a.md"}
    (failure,) = _run(tmp_path, trapped).failures
    assert "must not be opened" in failure.message


@pytest.mark.parametrize(
    "case",
    [
        {**READ, "requires": None},
        {**READ, "call": {"op": "fs.read"}},
        {**READ, "call": None},
        {**BOTH, "manifest": None},
        {key: value for key, value in BOTH.items() if key != "manifest"},
        {**WEB, "environment": "moon", "expect": "allow"},
    ],
)
def test_a_case_without_its_parts_is_not_a_refusal(tmp_path: Path, case: JsonObject) -> None:
    (failure,) = _run(tmp_path, {**case, "expect": "deny"}).failures
    assert "cannot be read" in failure.message


@pytest.mark.parametrize(
    "case", [{**READ, "kind": "later"}, {**READ, "call": {"op": "later.still"}}]
)
def test_a_kind_of_case_that_is_not_known_is_skipped(tmp_path: Path, case: JsonObject) -> None:
    assert _run(tmp_path, case) == Report(0, [], 1)
