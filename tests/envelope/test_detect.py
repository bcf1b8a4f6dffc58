"""Telling success from failure by text alone."""

import ast
import json
from pathlib import Path

import pytest
from envelope.strategies import envelopes, json_values, steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool, settle

import holdfast
from holdfast.contract.backend import CommandResult
from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonValue
from holdfast.envelope.detect import (
    failure_kind,
    failure_message,
    is_error,
    is_success,
    success_payload,
)
from holdfast.envelope.dialects import ok

pytestmark = pytest.mark.anyio

FAILED = '{"ok":false,"kind":"timeout","message":"too slow"}'
DONE = '{"ok":true,"result":{"a":1}}'


def _reading(text: str) -> str:
    failed, done = is_error(text), is_success(text)
    assert not (failed and done)
    return "failure" if failed else "success" if done else "neither"


@pytest.mark.req("OSA-DET-01", "OSA-DET-02")
@steady
@given(envelopes())
def test_every_rendered_envelope_is_told_for_what_it_is(envelope: Envelope) -> None:
    text = ok.render(envelope)
    assert is_success(text) is envelope.ok
    assert is_error(text) is not envelope.ok


@pytest.mark.req("OSA-DET-03")
@steady
@given(json_values)
def test_the_payload_of_a_success_is_its_result_whatever_it_is(value: JsonValue) -> None:
    assert success_payload(ok.render(success(value))) == value


@pytest.mark.req("OSA-DET-03")
@pytest.mark.parametrize("text", [FAILED, "plain", "", '{"ok":true', "[TIMEOUT]", '{"a":1}'])
def test_what_is_no_readable_success_has_no_payload(text: str) -> None:
    assert success_payload(text) is None


@pytest.mark.req("OSA-DET-04", "OSA-DET-05")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FAILED, "too slow"),
        ('{"ok":false,"message":"m","reason":"r"}', "m"),
        ('{"ok":false,"message":"","reason":"r"}', ""),
        ('{"ok":false,"message":5,"reason":"r"}', "r"),
        ('{"ok":false,"message":null,"reason":""}', ""),
        ('{"ok":false,"reason":7}', '{"ok":false,"reason":7}'),
        ('{"ok":false}', '{"ok":false}'),
        ('{"error":"e","reason":"r","retryable":true}', "r"),
        ("[REJECTED] no", "[REJECTED] no"),
    ],
)
def test_the_message_of_a_failure_or_else_the_text_itself(text: str, message: str) -> None:
    assert failure_message(text) == message


@pytest.mark.req("OSA-DET-06")
@pytest.mark.parametrize(
    "text", [DONE, '{"ok":true,"message":"m"}', "plain", "", '{"message":"m"}', '{"ok":tru', "[1]"]
)
def test_what_is_no_failure_comes_back_unchanged(text: str) -> None:
    assert failure_message(text) == text


@pytest.mark.req("OSA-DET-07")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("[REJECTED] by policy", "failure"),
        ("[TIMEOUT]", "failure"),
        ("  \n\t[REJECTED]", "failure"),
        ("[rejected] by policy", "neither"),
        ("[Timeout]", "neither"),
        ("[TIMEOUT", "neither"),
        ("REJECTED", "neither"),
        ("it was [REJECTED]", "neither"),
        ("([TIMEOUT])", "neither"),
    ],
)
def test_the_legacy_marks_count_only_at_the_start_and_exactly(text: str, reading: str) -> None:
    assert _reading(text) == reading


@pytest.mark.req("OSA-DET-08")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('{"error":"e","reason":"r","retryable":true}', "failure"),
        ('{"retryable":false,"error":null}', "failure"),
        ('{"error":"e","reason":"r"}', "neither"),
        ('{"retryable":true,"reason":"r"}', "neither"),
        ('{"result":{"error":"e","retryable":true}}', "neither"),
    ],
)
def test_the_legacy_object_needs_both_its_keys_at_the_top(text: str, reading: str) -> None:
    assert _reading(text) == reading
    if reading == "failure" and '"reason"' in text:
        assert failure_message(text) == "r"


@pytest.mark.req("OSA-DET-09", "OSA-DET-17")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "all is well",
        "true",
        "null",
        '"ok"',
        "{}",
        "[]",
        '[{"ok":false}]',
        '{"result":1}',
        "\ufeff" + FAILED,
        "\ufeff" + DONE,
        '{"error":"boom"}',
        '{"stdout":"","stderr":"x","exit_code":1}',
        "{",
        "{not json}",
    ],
)
def test_everything_else_is_neither(text: str) -> None:
    assert _reading(text) == "neither"


@pytest.mark.req("OSA-DET-10")
@steady
@given(
    st.text()
    | st.text(alphabet='{}[]":,okfalsetrue \n\\', max_size=40)
    | st.lists(st.sampled_from(['"ok":true', '"ok":false', '"ok": true', "{", "}", ","])).map(
        "".join
    )
)
def test_no_text_is_ever_both(text: str) -> None:
    assert not (is_error(text) and is_success(text))
    cut = "{" + text
    assert not (is_error(cut) and is_success(cut))


@pytest.mark.req("OSA-DET-10")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('{"ok":true,"ok":false}', "failure"),
        ('{"ok":false,"ok":true}', "success"),
        ('{"ok":false,"ok":1}', "neither"),
    ],
)
def test_of_a_repeated_key_the_last_one_counts(text: str, reading: str) -> None:
    assert _reading(text) == reading


@pytest.mark.req("OSA-DET-11", "OSA-DET-15")
@steady
@given(envelopes(), envelopes())
def test_an_envelope_inside_another_never_matters(outer: Envelope, inner: Envelope) -> None:
    text = ok.render(inner)
    quoted = success({"a": text, "z": json.loads(text), text: [text]}, tool=text)
    assert _reading(ok.render(quoted)) == "success"
    reported = failure("timeout", text, extras={"a": text, "z": json.loads(text)}, field=text)
    assert _reading(ok.render(reported)) == "failure"
    alone = json.dumps({"held": json.loads(text), "said": text, "outer": ok.render(outer)})
    assert _reading(alone) == "neither"


@pytest.mark.req("OSA-DET-11")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('{"ok":true,"result":{"ok":false}}', "success"),
        ('{"result":{"ok":false},"ok":true}', "success"),
        ('{"a":{"ok":true},"ok":false,"message":"m"}', "failure"),
        ('{"ok":true,"result":{"error":"e","retryable":true}}', "success"),
        ('{"held":{"error":"e","retryable":true}}', "neither"),
        ('{"held":{"ok":false},"said":"\ud800"}', "neither"),
    ],
)
def test_only_the_top_level_decides(text: str, reading: str) -> None:
    assert _reading(text) == reading


@pytest.mark.req("OSA-DET-12")
@steady
@given(st.lists(st.text(alphabet=" \t\r\n", max_size=3), min_size=9, max_size=9), st.booleans())
def test_json_whitespace_anywhere_is_accepted(blanks: list[str], value: bool) -> None:
    parts = ["", "{", '"ok"', ":", json.dumps(value), ",", '"result"', ":", "1}"]
    text = "".join(blank + part for blank, part in zip(blanks, parts, strict=True))
    assert _reading(text) == ("success" if value else "failure")


@pytest.mark.req("OSA-DET-13")
@pytest.mark.parametrize("value", ['"false"', '"true"', "0", "1", "null", "[]", "{}", "0.0"])
@pytest.mark.parametrize("key", ["ok"])
def test_ok_counts_only_as_a_json_boolean(key: str, value: str) -> None:
    assert _reading(f'{{"{key}":{value},"message":"m"}}') == "neither"


@pytest.mark.req("OSA-DET-13")
@pytest.mark.parametrize("key", ["OK", "Ok", "ok ", " ok", "okay", "o"])
@pytest.mark.parametrize("value", ["true", "false"])
def test_ok_counts_only_under_its_exact_key(key: str, value: str) -> None:
    assert _reading(f'{{"{key}":{value}}}') == "neither"


@pytest.mark.req("OSA-DET-14")
@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('{"kind":"timeout","message":"m","ok":false,"retr', "failure"),
        ('{"ok": false, "message": "cut of', "failure"),
        ('{"ok":true,"result":{"text":"long', "success"),
        ('{"ok": true, "resu', "success"),
        ('  {"ok":true,', "success"),
        ('{"ok":true,"result":{"ok":false', "success"),
        ('{"ok":  true,', "neither"),
        ('{"ok":tru', "neither"),
        ('{"message":"no verdict ye', "neither"),
        ('{"message":"say \\"ok\\":false', "neither"),
        ('"ok":false', "neither"),
    ],
)
def test_cut_text_is_judged_by_its_first_readable_verdict(text: str, reading: str) -> None:
    assert _reading(text) == reading
    assert success_payload(text) is None
    assert failure_message(text) == text


@pytest.mark.req("OSA-DET-14")
@steady
@given(envelopes(), st.data())
def test_a_cut_envelope_is_told_rightly_or_not_at_all(
    envelope: Envelope, data: st.DataObject
) -> None:
    text = ok.render(Envelope(result_json=envelope.result_json, tool="t"))
    cut = text[: data.draw(st.integers(min_value=0, max_value=len(text) - 1))]
    assert _reading(cut) in {"success", "neither"}
    if len(cut) >= len('{"ok":true'):
        assert _reading(cut) == "success"


def test_text_nested_beyond_reading_is_judged_like_cut_text() -> None:
    assert _reading('{"ok":false,"extra":' + "[" * 5_000 + "]" * 5_000 + "}") == "failure"


@pytest.mark.req("OSA-DET-16")
@pytest.mark.parametrize("kind", ['"novel"', "5", "null"])
def test_a_kind_nobody_knows_does_not_hide_a_failure(kind: str) -> None:
    text = f'{{"ok":false,"kind":{kind},"message":"m"}}'
    assert _reading(text) == "failure"
    assert failure_kind(text) == ("novel" if kind == '"novel"' else None)


@pytest.mark.parametrize(
    ("text", "kind"), [(FAILED, "timeout"), (DONE, None), ("[TIMEOUT]", None), ("x", None)]
)
def test_only_a_failure_has_a_kind(text: str, kind: str | None) -> None:
    assert failure_kind(text) == kind


@pytest.mark.req("OSA-DET-17")
@pytest.mark.parametrize(
    "returned",
    [
        {"error": "boom"},
        '{"error": "boom"}',
        {"stdout": "o", "stderr": "e", "exit_code": 1},
        '{"stdout": "o", "stderr": "e", "exit_code": 1}',
        CommandResult(1, b"o", b"e", 1.0),
    ],
    ids=["error-object", "error-text", "raw-object", "raw-text", "command-result"],
)
async def test_such_objects_are_wrapped_before_a_detector_sees_them(returned: object) -> None:
    answer = await settle(make_tool(lambda _values, _runtime: returned))
    assert _reading(ok.render(answer)) == "success"


@pytest.mark.req("OSA-DET-18")
def test_no_module_that_handles_session_chunks_uses_a_detector() -> None:
    detecting, chunks = _importers("detect"), _importers("dialects.flow_text")
    assert "envelope/dialects/openai_message.py" in detecting
    assert "flow.py" in chunks
    assert detecting & chunks == set()


def _importers(module: str) -> set[str]:
    source = Path(holdfast.__file__).parent
    package, _, name = f"holdfast.envelope.{module}".rpartition(".")
    return {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if name in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        and (
            node.module == f"{package}.{name}"
            or (node.module == package and name in {alias.name for alias in node.names})
        )
    } | {f"{package}.{name}".removeprefix("holdfast.").replace(".", "/") + ".py"}
