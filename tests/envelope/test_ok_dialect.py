"""The default dialect: what a success and a failure look like, and what is not an envelope."""

import json
from typing import cast

import pytest

from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope, Metadata, Repair, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.envelope.dialects import ok

MEASURED = Metadata(
    duration_ms=12,
    truncated=True,
    output_path="/outputs/t-1",
    tail="end",
    output_bytes=9,
    dropped_bytes=2,
    repairs=(Repair("key_spelling", "path", "Path"),),
)


def _wire(envelope: Envelope) -> JsonObject:
    return cast("JsonObject", json.loads(ok.render(envelope)))


@pytest.mark.req("OSA-ENV-01")
@pytest.mark.parametrize("result", [1, None, {"ok": False}, "false"])
def test_a_success_has_ok_as_the_json_boolean_true(result: JsonValue) -> None:
    assert _wire(success(result))["ok"] is True
    assert '"ok":true' in ok.render(success(result))


@pytest.mark.req("OSA-ENV-04")
@pytest.mark.parametrize("value", [{"a": 1}, [1, None], "text", 12, -1.5, True, False, None])
def test_any_json_value_stands_under_result(value: JsonValue) -> None:
    wire = _wire(success(value))
    assert wire == {"ok": True, "result": value}
    assert type(wire["result"]) is type(value)


@pytest.mark.req("OSA-ENV-05")
def test_result_is_there_also_when_there_is_none() -> None:
    assert ok.render(success()) == '{"ok":true,"result":null}'


@pytest.mark.req("OSA-ENV-10")
def test_metadata_is_the_one_key_beside_the_published_ones_and_only_when_measured() -> None:
    assert "metadata" not in _wire(success(1))
    assert "metadata" not in _wire(Envelope(result_json=b"1", metadata=Metadata()))
    assert _wire(Envelope(metadata=Metadata(duration_ms=0)))["metadata"] == {"duration_ms": 0}
    cut = Metadata(duration_ms=3, truncated=True, output_path="/o")
    whole = Envelope(result_json=b"1", tool="t", warnings=("w",), metadata=cut)
    assert _wire(whole).keys() == {"ok", "tool", "result", "warnings", "metadata"}
    assert _wire(whole)["metadata"] == {"duration_ms": 3, "truncated": True, "output_path": "/o"}


def test_everything_that_was_measured_is_shown() -> None:
    assert _wire(Envelope(metadata=MEASURED))["metadata"] == {
        "duration_ms": 12,
        "truncated": True,
        "output_path": "/outputs/t-1",
        "tail": "end",
        "output_bytes": 9,
        "dropped_bytes": 2,
        "repairs": [{"repair": "key_spelling", "field": "path", "was": "Path"}],
    }


@pytest.mark.req("OSA-ENV-11")
def test_the_text_is_compact_with_sorted_keys() -> None:
    envelope = success({"b": 1, "a": [1, 2]}, tool="t", warnings=["w é"])
    assert ok.render(envelope) == (
        '{"ok":true,"result":{"a":[1,2],"b":1},"tool":"t","warnings":["w é"]}'
    )
    failed = failure("timeout", "m", tool="t", field="f", expected="e", extras={"z": 1, "a": 2})
    assert ok.render(failed) == (
        '{"a":2,"expected":"e","field":"f","kind":"timeout","message":"m",'
        '"ok":false,"retryable":true,"tool":"t","z":1}'
    )


def test_a_failure_may_carry_warnings_and_measurements_too() -> None:
    envelope = Envelope(
        failure=failure("timeout", "m").failure, warnings=("w",), metadata=Metadata(duration_ms=1)
    )
    wire = _wire(envelope)
    assert (wire["warnings"], wire["metadata"]) == (["w"], {"duration_ms": 1})
    assert ok.parse(ok.render(envelope)) == envelope


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 5_000, "not JSON"),
        ("{\ud800}", "not JSON"),
        ("[]", "no top-level `ok`"),
        ('{"ok":1}', "no top-level `ok`"),
        ('{"ok":"true"}', "no top-level `ok`"),
        ('{"OK":true}', "no top-level `ok`"),
        ('{"ok":true,"tool":1}', "`tool` must be a text"),
        ('{"ok":true,"warnings":"w"}', "`warnings` must be a list of texts"),
        ('{"ok":true,"warnings":[1]}', "`warnings` must be a list of texts"),
        ('{"ok":true,"metadata":5}', "`metadata`"),
        ('{"ok":true,"metadata":{"duration_ms":"1"}}', "`metadata`"),
        ('{"ok":false}', "`kind` and `message`"),
        ('{"ok":false,"kind":"timeout"}', "`kind` and `message`"),
        ('{"ok":false,"kind":5,"message":"m"}', "`kind` must be a text"),
        ('{"ok":false,"kind":"boom","message":"m"}', "unknown failure kind 'boom'"),
        ('{"ok":false,"kind":"timeout","message":"m","retryable":1}', "`retryable`"),
        ('{"ok":false,"kind":"timeout","message":"m","field":1}', "`field` must be a text"),
    ],
)
def test_text_that_is_not_an_envelope_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ok.NotAnEnvelope, match=reason):
        ok.parse(text)


@pytest.mark.req("OSA-FAI-07")
@pytest.mark.parametrize("kind", list(FailureKind))
def test_a_failure_without_retryable_is_read_with_its_kinds_default(kind: FailureKind) -> None:
    read = ok.parse(f'{{"ok":false,"kind":"{kind}","message":"m"}}').failure
    assert read is not None
    assert read.retryable is kind.retryable


def test_keys_a_success_does_not_know_are_passed_over_and_those_of_a_failure_are_extras() -> None:
    assert ok.parse('{"ok":true,"result":1,"new":2}') == envelope_of(1)
    read = ok.parse('{"ok":false,"kind":"timeout","message":"m","new":{"a":[1]}}').failure
    assert read is not None
    assert read.extras == {"new": {"a": [1]}}


@pytest.mark.parametrize(
    "text",
    [
        ' {"ok":true,"result":1}',
        '{"ok":true}',
        '{"ok":true,"result":1,"more":2}',
        '{"ok":1,"result":1}',
        '{"OK":true,"result":1}',
        '{"ok":false,"kind":"boom","message":"m"}',
        '{"ok":false,"message":"m"}',
        '{"ok":true,"result":1',
        '{"a":1}',
        'say {"ok":true,"result":1}',
        '[{"ok":true,"result":1}]',
        "",
    ],
)
def test_almost_an_envelope_is_not_taken_for_one(text: str) -> None:
    assert ok.strict_parse(text) is None


def test_an_exact_envelope_is_taken_without_the_measurements_it_claims() -> None:
    text = '{"ok":true,"result":[1],"tool":"t","warnings":["w"],"metadata":{"truncated":true}}'
    assert ok.strict_parse(text) == success([1], tool="t", warnings=["w"])
    failed = '{"ok":false,"kind":"timeout","message":"m","hint":"h"}'
    assert ok.strict_parse(failed) == failure("timeout", "m", extras={"hint": "h"})
