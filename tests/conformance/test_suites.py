"""The published cases pass, and the runner that says so can also say that they do not."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.testing.conformance import Report, UnknownSuite, run
from holdfast.testing.conformance.runner import SUITES, NoCases

CASES = Path(__file__).parent / "cases"
SUPPORTED = sorted(path for path in CASES.glob("*.jsonl") if path.stem in SUITES)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*lines: JsonObject | str) -> Path:
        path = tmp_path / "cases.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts), "utf-8")
        return path

    return written


def _cases(suite: str) -> list[JsonObject]:
    lines = (CASES / f"{suite}.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def test_every_suite_of_this_version_has_cases() -> None:
    assert {path.stem for path in SUPPORTED} == set(SUITES)


@pytest.mark.parametrize("path", SUPPORTED, ids=lambda path: path.stem)
def test_every_case_of_the_suite_passes(path: Path) -> None:
    report = run(path.stem, path)
    assert report.failures == []
    assert report.passed > 0
    assert report.passed + report.skipped == len(_cases(path.stem))


def test_every_case_about_arguments_is_run() -> None:
    assert run("coercion", CASES / "coercion.jsonl").skipped == 0


def test_every_case_about_answers_and_loops_is_run() -> None:
    assert run("extra", CASES / "extra.jsonl").skipped == 0


LISTED = '{"ok": true, "result": {"kind": "listing", "path": "d", "entries": [{}]}}'
RECORDED: JsonObject = {"record": {"name": "read", "args": {"path": "d"}, "result": LISTED}}
HELD: JsonObject = {"name": "read", "args": {"path": "d"}}
NOTHING: JsonObject = {}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([RECORDED, {"bias": "some"}], "step 2: bias: expected 'some', got None"),
        ([RECORDED, {"bias_mentions": ["x"]}], "step 2: bias: expected some, got none"),
        ([RECORDED, RECORDED, {"bias_mentions": ["purple"]}], "step 3: bias: expected 'purple'"),
        ([RECORDED, RECORDED, {"bias_lacks": ["Entries"]}], "step 3: bias: did not expect"),
        ([RECORDED, {"last_listing_path": None}], "step 2: listing: expected None, got 'd'"),
        ([RECORDED, {"held": HELD, "expect": None}], "step 2: held: expected None"),
        ([{"switch_off": True}], "step 1: this version does not know all of ['switch_off']"),
        ([NOTHING], "step 1: this version does not know"),
        ([5], "a step is not an object"),
        (None, "the case has no list 'steps'"),
    ],
)
def test_a_broken_expectation_of_a_loop_is_said_with_its_step(
    steps: list[JsonValue] | None, said: str, write: Write
) -> None:
    good: JsonObject = {"id": "good", "suite": "task_state", "steps": [RECORDED, {"bias": None}]}
    (failure,) = run("extra", write(good, {**good, "id": "bad", "steps": steps})).failures
    assert failure.id == "bad"
    assert said in failure.message


PREFLIGHT: JsonObject = {
    "id": "integer-from-text",
    "op": "preflight",
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "args": {"n": "15"},
    "expect": {"ok": True, "args": {"n": 15}},
}
REFUSAL: JsonObject = {
    **PREFLIGHT,
    "id": "a-word",
    "args": {"n": "abc"},
    "expect": {
        "ok": False,
        "kind": "invalid_args",
        "field": "n",
        "message_contains": ["integer"],
        "field_any": ["n", "m"],
    },
}


@pytest.mark.parametrize(
    ("case", "expect", "said"),
    [
        (PREFLIGHT, {"ok": True, "args": {"n": 16}}, "args: expected {'n': 16}, got {'n': 15}"),
        (PREFLIGHT, {"ok": True, "args": {"n": "15"}}, "args: expected"),
        (PREFLIGHT, {"ok": True, "args": {}}, "args: expected"),
        (PREFLIGHT, {"ok": True, "args": {"n": True}}, "args: expected"),
        (PREFLIGHT, {"ok": False}, "accepted as {'n': 15}"),
        (REFUSAL, {"ok": True}, "refused: Property 'n' must be an integer"),
        (REFUSAL, {"ok": False, "kind": "rejected"}, "kind: expected 'rejected'"),
        (REFUSAL, {"ok": False, "field": "m"}, "field: expected 'm', got 'n'"),
        (REFUSAL, {"ok": False, "field_any": ["m"]}, "field: expected one of ['m']"),
        (REFUSAL, {"ok": False, "message": "no"}, "message: expected 'no'"),
        (REFUSAL, {"ok": False, "message_contains": ["no"]}, "message: expected 'no' in"),
        (REFUSAL, {"ok": False, "expected": "a word"}, "expected: expected 'a word'"),
    ],
)
def test_a_broken_expectation_is_counted_and_said(
    write: Write, case: JsonObject, expect: JsonObject, said: str
) -> None:
    report = run("coercion", write(PREFLIGHT, {**case, "id": "broken", "expect": expect}, REFUSAL))
    assert report.passed == 2
    (failure,) = report.failures
    assert failure.id == "broken"
    assert said in failure.message


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_turning_every_expectation_round_makes_its_cases_fail(suite: str, write: Write) -> None:
    turned = [_turned(suite, case) for case in _cases(suite)]
    report = run(suite, write(*[case for case in turned if case is not None]))
    assert report.passed == 0
    assert len(report.failures) > 10


IMPOSSIBLE: dict[str, JsonObject] = {
    "serialize": {"length": -1},
    "parse_arguments": {"parsed": {"never": 1}},
    "table": {"schema_order": [], "raises": "KeyError"},
    "shell_guard": {"raises": "KeyError"},
    "envelope_build": {"expect": {"ok": "neither"}},
    "from_error": {"expect": {"kind": "neither"}},
    "truncate": {"expect": {"omitted": -1}},
    "classify": {"expect": "neither"},
    "audit_redact": {"expect_argv": ["neither"]},
    "runner_content": {"expect_content": "neither"},
    "runner_env": {"expect_envKeys": ["NEITHER"]},
    "path_guard": {"expect": {"ok": "neither"}},
    "task_state": {"steps": [{"bias": "neither"}]},
}


def _turned(suite: str, case: JsonObject) -> JsonObject | None:
    """The same case with an expectation that cannot hold; None for a part that is not run."""
    if suite == "envelope":
        return {**case, "is_error": not case["is_error"]}
    expect, given = case.get("expect"), case.get("given")
    if suite == "permissions":
        return {**case, "expect": "ask" if expect == "allow" else "allow"}
    if suite == "ask_flow" and isinstance(expect, dict):
        return {**case, "expect": {**expect, "executed": not expect["executed"]}}
    if suite in ("manifest", "capabilities"):
        return {**case, "expect": "neither", "expect_error": "neither", "match": "exact"}
    if suite == "shell_classifier":
        return {**case, "expect": {"tool": "neither"}, "also_ok": []}
    if suite == "coercion":
        assert isinstance(expect, dict)
        return {**case, "expect": {**expect, "ok": not expect["ok"]}}
    wrong = IMPOSSIBLE.get(str(case.get("suite", case.get("area"))))
    if wrong is None or (isinstance(given, dict) and "flow" in given):
        return None
    if suite == "openrath":
        assert isinstance(expect, dict)
        wrong = {"expect": {**expect, **wrong}}
    return {**case, **wrong}


def test_cases_of_parts_that_are_not_here_are_counted_as_skipped(write: Write) -> None:
    unknown: JsonObject = {"id": "later", "op": "something_new"}
    assert run("coercion", write(PREFLIGHT, unknown, unknown)) == Report(1, [], 2)
    prose: JsonObject = {"id": "words", "area": "loop", "given": {"flow": "it runs"}, "expect": {}}
    assert run("openrath", write(prose)) == Report(0, [], 1)


def test_blank_lines_are_passed_over_and_a_case_without_an_id_is_named_by_its_line(
    write: Write,
) -> None:
    nameless = {key: value for key, value in REFUSAL.items() if key != "id"}
    nameless["expect"] = {"ok": True}
    report = run("coercion", write("", PREFLIGHT, "  ", nameless, ""))
    assert report.passed == 1
    assert [failure.id for failure in report.failures] == ["line 4"]


@pytest.mark.parametrize("suite", ["", "Coercion", "manifest-v2", "../coercion"])
def test_a_suite_of_another_name_is_refused_and_the_known_ones_listed(suite: str) -> None:
    with pytest.raises(UnknownSuite, match="coercion, envelope, extra, manifest, openrath"):
        run(suite, CASES / "coercion.jsonl")


@pytest.mark.parametrize(
    "line", ["{", "not JSON", "[1]", '"text"', '{"id": "a"} {"id": "b"}', "[" * 5_000]
)
def test_a_line_that_is_no_json_object_is_one_failed_case(line: str, write: Write) -> None:
    report = run("coercion", write("", PREFLIGHT, line, PREFLIGHT))
    assert report.passed == 2
    (failure,) = report.failures
    assert failure.id == "line 3"
    assert failure.message.startswith("it is not a JSON object (")
    assert failure.message.endswith("; give one JSON object a line")


def test_a_line_that_is_no_text_is_one_failed_case(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"id": "\xff"}\r\n' + json.dumps(PREFLIGHT).encode() + b"\r\n")
    report = run("coercion", path)
    assert (report.passed, [failure.id for failure in report.failures]) == (1, ["line 1"])


def test_only_a_line_feed_ends_a_case(write: Write) -> None:
    case = json.dumps({**PREFLIGHT, "note": "one\u2028line\x85"}, ensure_ascii=False)
    assert run("coercion", write(case)) == Report(1, [], 0)


@pytest.mark.parametrize("content", ["", "\n \r\n"])
def test_a_file_without_cases_is_an_error(content: str, write: Write) -> None:
    with pytest.raises(NoCases, match="there are no cases in it; give one JSON object a line"):
        run("coercion", write(content))


@pytest.mark.parametrize("case", [PREFLIGHT, REFUSAL], ids=["accepted", "refused"])
def test_an_expectation_nobody_checks_is_not_met(case: JsonObject, write: Write) -> None:
    expect = case["expect"]
    assert isinstance(expect, dict)
    report = run("coercion", write({**case, "expect": {**expect, "warnings": []}}))
    assert [failure.message for failure in report.failures] == [
        "the case expects 'warnings', which this version does not check"
    ]
    commented = {**case, "expect": {**expect, "note": "a remark", "why": "it says so"}}
    assert run("coercion", write(commented)).passed == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"op": 5}, id="no operation"),
        pytest.param({"expect": "ok"}, id="an expectation that is no object"),
        pytest.param({"op": "require_string"}, id="a helper without its key"),
    ],
)
def test_a_case_that_lacks_its_parts_is_a_failure_of_that_case(
    change: JsonObject, write: Write
) -> None:
    report = run("coercion", write({**PREFLIGHT, **change}, PREFLIGHT))
    assert report.passed == 1
    (failure,) = report.failures
    assert failure.message.startswith("the case cannot be read: the case has no ")


RULE_CASE: JsonObject = {
    "id": "rules",
    "rules": [],
    "call": {"tool": "bash", "capability": "shell.run", "target": "ls"},
    "expect": "ask",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expect": "maybe"}, "a verdict is one of"),
        ({"rules": {}}, "rules must be a list"),
        ({"rules": [1]}, "a rule must be an object"),
        (
            {"rules": [{"permission": "*", "pattern": "*", "scope": "session", "action": "x"}]},
            "has the action 'x'",
        ),
    ],
)
def test_a_case_about_rules_that_cannot_be_read_fails(
    change: JsonObject, said: str, write: Write
) -> None:
    assert run("permissions", write(RULE_CASE)).failures == []
    (failure,) = run("permissions", write({**RULE_CASE, **change})).failures
    assert said in failure.message
