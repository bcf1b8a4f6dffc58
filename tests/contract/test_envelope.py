"""The one answer as a value: immutable, byte-stable, and closed in its kinds."""

import pytest

from holdfast.contract.envelope import NO_METADATA, RESERVED_KEYS, Envelope, Metadata, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

RETRYABLE = {
    "invalid_args": True,
    "rejected": False,
    "user_denied": False,
    "timeout": True,
    "execution_error": True,
    "not_found": False,
    "unavailable": True,
    "tool_not_found": False,
}


@pytest.mark.req("OSA-KND-01")
def test_there_are_exactly_eight_kinds_of_failure() -> None:
    assert {kind.value for kind in FailureKind} == set(RETRYABLE)
    assert len(FailureKind) == 8
    with pytest.raises(ValueError, match="nonsense"):
        FailureKind("nonsense")


@pytest.mark.req("OSA-FAI-07")
@pytest.mark.parametrize(("kind", "retryable"), RETRYABLE.items())
def test_each_kind_says_whether_a_retry_might_help(kind: str, retryable: bool) -> None:
    assert FailureKind(kind).retryable is retryable


def test_an_envelope_is_a_success_unless_it_holds_a_failure() -> None:
    failed = Failure(kind=FailureKind.TIMEOUT, message="m", retryable=True)
    assert Envelope().ok
    assert not Envelope(failure=failed).ok


@pytest.mark.req("OSA-ENV-04")
@pytest.mark.parametrize(
    "value",
    [{"a": 1}, [1, "a", None], "text", 12, 1.5, 2**70, True, False, None, "", [], {}],
    ids=repr,
)
def test_a_result_may_be_any_json_value(value: JsonValue) -> None:
    assert envelope_of(value).result == value
    assert type(envelope_of(value).result) is type(value)


@pytest.mark.req("OSA-ENV-05")
def test_an_envelope_made_of_nothing_has_the_result_null() -> None:
    assert envelope_of(None).result_json == b"null"
    assert Envelope().result is None


def test_neither_an_envelope_nor_what_it_was_made_from_can_change_it() -> None:
    given: JsonObject = {"list": [1]}
    envelope = envelope_of(given)
    given["list"] = [2]
    shown = envelope.result
    assert isinstance(shown, dict)
    shown["list"] = [3]
    assert envelope.result == {"list": [1]}
    with pytest.raises(AttributeError):
        envelope.tool = "other"  # pyright: ignore[reportAttributeAccessIssue] - on purpose


def test_results_are_kept_as_compact_sorted_text() -> None:
    assert envelope_of({"b": [1, 2], "a": "é"}).result_json == '{"a":"é","b":[1,2]}'.encode()


def test_the_names_of_the_envelope_itself_are_reserved() -> None:
    named = {"ok", "kind", "message", "field", "expected", "tool", "retryable", "metadata"}
    assert named <= RESERVED_KEYS


def test_metadata_of_nothing_equals_no_metadata() -> None:
    assert Metadata() == NO_METADATA
    assert Metadata(duration_ms=0) != NO_METADATA
