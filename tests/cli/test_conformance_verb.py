"""`holdfast conformance`: counts, one line per failure, and a status for each way it can end."""

import json
from pathlib import Path

import pytest
from command import Cli

OURS = Path(__file__).parents[1] / "conformance" / "cases"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return tmp_path / "envelope.jsonl"


def test_our_own_cases_pass(cli: Cli) -> None:
    answer = cli("conformance", "envelope", str(OURS / "envelope.jsonl"))
    assert answer.status == 0
    assert answer.out.endswith(" passed, 0 failed\n")
    told = cli("conformance", "envelope", str(OURS / "envelope.jsonl"), "--json")
    assert (told.status, json.loads(told.out)["failures"]) == (0, [])


def test_a_failure_is_one_line_and_status_1(cli: Cli, cases: Path) -> None:
    line = (OURS / "envelope.jsonl").read_text("utf-8").splitlines()[0]
    case = json.loads(line)
    case["id"], case["input"] = "mine", "nothing of the kind"
    case["is_error"] = True
    cases.write_text(json.dumps(case) + "\n" + line + "\n", "utf-8")
    answer = cli("conformance", "envelope", str(cases))
    assert answer.status == 1
    *failures, summary = answer.out.splitlines()
    assert summary == "1 passed, 1 failed"
    assert [failure.partition(":")[0] for failure in failures] == ["mine"]
    told = cli("conformance", "envelope", str(cases), "--json")
    assert told.status == 1
    document = json.loads(told.out)
    assert (document["passed"], document["failed"], document["skipped"]) == (1, 1, 0)
    assert document["failures"][0]["id"] == "mine"


def test_cases_for_hand_written_tests_are_counted_as_skipped(cli: Cli) -> None:
    answer = cli("conformance", "openrath", str(OURS / "openrath.jsonl"))
    assert " skipped" in answer.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("suite", "content", "said"),
    [
        ("nonsense", b"", "there is no suite 'nonsense'"),
        ("envelope", None, "it cannot be read (No such file or directory); check the path"),
        ("envelope", b"\n", "there are no cases in it; give one JSON object a line"),
    ],
)
def test_what_cannot_be_run_is_status_2(
    cli: Cli, cases: Path, suite: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        cases.write_bytes(content)
    answer = cli("conformance", suite, str(cases))
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1
    document = cli("conformance", suite, str(cases), "--json")
    assert (document.status, document.err) == (2, answer.err)
    assert said in json.loads(document.out)["error"]


def test_a_bad_line_is_a_failure_that_names_the_line(cli: Cli, cases: Path) -> None:
    line = (OURS / "envelope.jsonl").read_bytes().splitlines()[0]
    cases.write_bytes(line + b"\nno json\n" + line + b"\n\xff\n")
    answer = cli("conformance", "envelope", str(cases))
    assert (answer.status, answer.err) == (1, "")
    *failures, summary = answer.out.splitlines()
    assert summary == "2 passed, 2 failed"
    assert [failure.partition(":")[0] for failure in failures] == ["line 2", "line 4"]


@pytest.mark.parametrize("place", [0, 1, 20])
def test_one_failing_case_among_many_is_status_1(cli: Cli, cases: Path, place: int) -> None:
    lines = (OURS / "envelope.jsonl").read_text("utf-8").splitlines()[:20]
    case = {**json.loads(lines[0]), "id": "mine", "input": "nothing of the kind", "is_error": True}
    lines.insert(place, json.dumps(case))
    cases.write_text("\n".join(lines) + "\n", "utf-8")
    for words in ([], ["--json"]):
        assert cli("conformance", "envelope", str(cases), *words).status == 1
