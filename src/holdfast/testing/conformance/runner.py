"""Reads case files and counts. One line of JSON is one case; blank lines are passed over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from holdfast.testing.conformance import (
    ask_flow,
    capabilities,
    coercion,
    envelope,
    extra,
    manifest,
    openrath,
    permissions,
    shell_classifier,
)
from holdfast.testing.conformance.case import Case, Check, NotForUs

SUITES: dict[str, Check] = {
    "ask_flow": ask_flow.check,
    "capabilities": capabilities.check,
    "coercion": coercion.check,
    "envelope": envelope.check,
    "extra": extra.check,
    "manifest": manifest.check,
    "openrath": openrath.check,
    "permissions": permissions.check,
    "shell_classifier": shell_classifier.check,
}


_EXPECTED: dict[str, frozenset[str]] = {
    "coercion": frozenset(
        {
            *("ok", "args", "value", "kind", "field", "message", "expected"),
            *("field_any", "message_contains"),
        }
    ),
    "openrath": frozenset(
        {
            *("text", "length", "endswith", "contains", "not_contains"),
            *("valid_json", "json", "json_path_len", "parsed", "had_error"),
            *("schema_order", "builtin_names", "seed_minimum", "raises", "message"),
        }
    ),
}
"""What the checks that pick keys out of `expect` look at. The other suites compare every key."""
_COMMENTS = frozenset({"note", "why"})


class UnknownSuite(ValueError):
    """There is no suite of that name in this version."""


class NoCases(ValueError):
    """A file that proves nothing, because there is nothing in it."""


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
    """Run every case of the file. A line that is no case is a case that failed."""
    check = SUITES.get(suite)
    if check is None:
        known = ", ".join(sorted(SUITES))
        raise UnknownSuite(f"there is no suite {suite!r} in this version; there are: {known}")
    passed = skipped = 0
    failures: list[CaseFailure] = []
    # Split at line feeds alone: a text inside a case may hold every other separator.
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        name, problems = _judged(suite, check, line, f"line {number}")
        if problems is None:
            skipped += 1
        elif problems:
            failures.append(CaseFailure(name, "; ".join(problems)))
        else:
            passed += 1
    if not (passed or skipped or failures):
        raise NoCases("there are no cases in it; give one JSON object a line")
    return Report(passed, failures, skipped)


def _judged(suite: str, check: Check, line: bytes, place: str) -> tuple[str, list[str] | None]:
    """The name of a case and what is wrong with it; None when it is not for this version."""
    try:
        case: Case = msgspec.json.decode(line, type=dict[str, Any])
    except (ValueError, RecursionError) as problem:
        return place, [f"it is not a JSON object ({problem}); give one JSON object a line"]
    name = str(case.get("id", place))
    try:
        return name, [*check(case), *_unchecked(suite, case)]
    except NotForUs:
        return name, None
    except ValueError as problem:
        return name, [f"the case cannot be read: {problem}"]
    except (TypeError, KeyError, AttributeError) as problem:
        return name, [f"the case cannot be read: {type(problem).__name__}: {problem}"]


def _unchecked(suite: str, case: Case) -> Iterator[str]:
    """An expectation nobody looks at must not count as met."""
    expect = case.get("expect")
    known = _EXPECTED.get(suite)
    if known is None or not isinstance(expect, dict):
        return
    if suite == "openrath" and case.get("area") in openrath.COMPARES_EVERY_KEY:
        return
    for key in expect:
        if key not in known and key not in _COMMENTS:
            yield f"the case expects {key!r}, which this version does not check"
