"""The envelope suite: what the detectors make of a text."""

from collections.abc import Iterator

from holdfast.envelope.detect import failure_message, is_error, is_success, success_payload
from holdfast.testing.conformance.case import Case, differs, text


def check(case: Case) -> Iterator[str]:
    """Judge one case."""
    given = text(case, "input")
    yield from differs("is_error", is_error(given), case.get("is_error"))
    yield from differs("is_success", is_success(given), case.get("is_success"))
    if "failure_message" in case:
        yield from differs("failure_message", failure_message(given), case["failure_message"])
    if "success_payload" in case:
        yield from differs("success_payload", success_payload(given), case["success_payload"])
