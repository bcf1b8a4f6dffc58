"""`holdfast conformance`: run a file of cases against this holdfast, one line per failure."""

from argparse import Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from holdfast.app.spelling import nearest
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.testing.conformance import Report, UnknownSuite
from holdfast.testing.conformance import run as run_suite
from holdfast.testing.conformance.runner import SUITES, NoCases

_EXAMPLES = """\
examples:
  holdfast conformance envelope cases/envelope.jsonl
  holdfast conformance coercion cases.jsonl --json    for programs
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("suite", metavar="SUITE", help="which rules, e.g. coercion or envelope")
    parser.offer("suite", sorted(SUITES))
    parser.add_argument("file", metavar="FILE", help="the cases, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    report = _report(arguments.suite, Path(arguments.file))
    if arguments.json:
        screen.document(
            {
                "suite": arguments.suite,
                "passed": report.passed,
                "failed": len(report.failures),
                "skipped": report.skipped,
                "failures": [{"id": one.id, "message": one.message} for one in report.failures],
            }
        )
    else:
        for failure in report.failures:
            screen.raw(f"{failure.id}: {one_line(failure.message)}")
        screen.raw(_summary(report))
    return 1 if report.failures else 0


def _report(suite: str, path: Path) -> Report:
    try:
        return run_suite(suite, path)
    except UnknownSuite as problem:
        near = nearest(suite, SUITES)
        meant = "" if near is None else f"; did you mean {near!r}?"
        raise UsageError(f"{problem}{meant}") from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise UsageError(f"{path}: it cannot be read ({reason}); check the path") from None
    except NoCases as problem:
        raise UsageError(f"{path}: {problem}") from None


def _summary(report: Report) -> str:
    skipped = f", {report.skipped} skipped" if report.skipped else ""
    return f"{report.passed} passed, {len(report.failures)} failed{skipped}"
