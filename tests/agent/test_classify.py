"""Seven classes, decided by fields and never by prose."""

import pytest

from holdfast.agent.classify import ResultClass, classify
from holdfast.contract import builders
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.results import FileText

ENTRY = {"name": "a", "path": "d/a", "type": "file"}


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        (builders.listing("d", []), "empty_listing"),
        (builders.listing("d", [], truncated=True), "empty_listing"),
        (builders.listing("d", [ENTRY], truncated=True), "partial_listing"),
        (builders.listing("d", [ENTRY]), "populated_listing"),
        (builders.success({"kind": "listing", "entries": [ENTRY]}), "populated_listing"),
        (builders.success({"kind": "listing"}), "empty_listing"),
        (builders.success({"kind": "file"}), "file_content"),
        (
            builders.file(
                FileText(
                    path="a",
                    text="x",
                    start_line=1,
                    end_line=1,
                    total_line_count=1,
                    selected_line_count=1,
                    total_lines_exact=True,
                    truncated=False,
                )
            ),
            "file_content",
        ),
        (builders.failure(FailureKind.NOT_FOUND, "gone"), "not_found"),
        *(
            (builders.failure(kind, "m"), "error")
            for kind in FailureKind
            if kind is not FailureKind.NOT_FOUND
        ),
        (builders.search("q", [ENTRY]), "other"),
        (builders.text("some prose about kind listing"), "other"),
        (builders.success("listing"), "other"),
        (builders.success(None), "other"),
    ],
)
@pytest.mark.req("OSA-CLS-01", "OSA-CLS-02", "OSA-CLS-03", "OSA-CLS-04", "OSA-CLS-05", "OSA-CLS-08")
def test_an_answer_is_sorted_by_its_fields(envelope: Envelope, expected: ResultClass) -> None:
    assert classify(envelope) == expected
