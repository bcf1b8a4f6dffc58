"""Reads case files and counts. One line of JSON is one case; blank lines are passed over."""

from pathlib import Path

import msgspec

from holdfast.testing.conformance import coercion, envelope, extra, openrath
from holdfast.testing.conformance.case import Case, Check, NotForUs

SUITES: dict[str, Check] = {
    "coercion": coercion.check,
    "envelope": envelope.check,
    "extra": extra.check,
    "openrath": openrath.check,
}


class UnknownSuite(ValueError):
    """There is no suite of that name in this version."""


class CaseFailure(msgspec.Struct, frozen=True):
    """A case that did not pass."""

    id: str
    message: str


class Report(msgspec.Struct, frozen=True):
    """How a file of cases went."""

    passed: int
    failures: list[CaseFailure]
    skipped: int


def run(suite: str, path: Path) -> Report:
    """Run every case of the file."""
    check = SUITES.get(suite)
    if check is None:
        known = ", ".join(sorted(SUITES))
        raise UnknownSuite(f"there is no suite {suite!r} in this version; there are: {known}")
    passed = skipped = 0
    failures: list[CaseFailure] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        case = msgspec.json.decode(line, type=dict[str, object])
        name = str(case.get("id", f"line {number}"))
        try:
            problems = list(check(_as_case(line)))
        except NotForUs:
            skipped += 1
            continue
        except ValueError as problem:
            problems = [f"the case cannot be read: {problem}"]
        except (TypeError, KeyError, AttributeError) as problem:
            problems = [f"the case cannot be read: {type(problem).__name__}: {problem}"]
        if problems:
            failures.append(CaseFailure(name, "; ".join(problems)))
        else:
            passed += 1
    return Report(passed, failures, skipped)


def _as_case(line: str) -> Case:
    return msgspec.json.decode(line)
