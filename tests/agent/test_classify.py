"""Seven classes, decided by fields and never by prose."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.classify import ResultClass, classify, look_at
from holdfast.contract import builders
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import encode_json
from holdfast.contract.results import FileText
from holdfast.envelope.dialects import ok

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["listing", "file", "not_found"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["ok", "kind", "result", "entries", "entry_count", "truncated", "error"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)
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
    assert classify(ok.render(envelope)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            f'{{"ok": false, "kind": "{kind}", "message": "m"}}'
            for kind in FailureKind
            if kind != "not_found"
        ),
        '{"ok": false, "kind": "from_elsewhere", "message": "m"}',
        '{"ok": false, "kind": 5}',
        '{"ok":false}',
        '{"error": "boom", "retryable": true}',
        "[REJECTED] the person said no",
        "  [TIMEOUT] after 120 s",
        '{"ok": false, "kind": "not_found", "message": "cut in the mid',
    ],
)
@pytest.mark.req("OSA-CLS-06")
def test_every_other_failure_is_an_error_also_in_its_old_forms(text: str) -> None:
    assert classify(text) == "error"
    assert not look_at(text).succeeded


@pytest.mark.parametrize(
    ("text", "succeeded"),
    [
        ('{"ok": true, "result": {"kind": "search", "entries": [{"path": "a"}]}}', True),
        ('{"ok": true, "result": {"stdout": "not_found", "exit_code": 1}}', True),
        ('{"ok": true, "result": "listing"}', True),
        ('{"ok": true, "result": ["listing"]}', True),
        ('{"ok": true}', True),
        ('{"ok": true, "result": {"kind": "listing", "entr', True),
        ('{"kind": "listing", "entries": []}', False),
        ("File not found: a", False),
        ("say [TIMEOUT] in the middle", False),
        ("", False),
        ("{", False),
        ("[1, 2]", False),
    ],
)
@pytest.mark.req("OSA-CLS-07")
def test_everything_else_is_other(text: str, succeeded: bool) -> None:
    assert classify(text) == "other"
    assert look_at(text).succeeded is succeeded


@given(st.text() | JSON.map(lambda value: encode_json(value).decode()))
def test_any_text_has_a_class(text: str) -> None:
    assert classify(text) in get_args(ResultClass)


@given(JSON)
def test_an_envelope_and_its_text_are_of_one_class(result: object) -> None:
    envelope = builders.success(result)
    assert classify(ok.render(envelope)) == classify(envelope)
