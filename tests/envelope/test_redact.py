"""Known secrets leave nothing: not in a result, a failure, a file, or any dialect."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn, cast

import msgspec
import pytest
from envelope.secrets_kit import AWKWARD, strings_in
from envelope.strategies import metadata, steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool, settle

from holdfast import Binary
from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope, Metadata, Repair
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits, OutputBound
from holdfast.envelope.bound import bound_envelope
from holdfast.envelope.dialects import flow_text, mcp_result, ok, openai_message, program, typed
from holdfast.envelope.redact import REDACTED, SHORTEST_SECRET, Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.testing.fakes import FakeApprover, FakeSidecars

pytestmark = pytest.mark.anyio


def _all_dialects(envelope: Envelope) -> list[str]:
    return [
        ok.render(envelope),
        typed.render(envelope),
        program.render(envelope, debug=True),
        flow_text.render(envelope),
        json.dumps(mcp_result.render(envelope)),
        json.dumps(mcp_result.render(envelope), ensure_ascii=False),
        json.dumps(openai_message.render(envelope, tool_call_id="c")),
    ]


def _holds(envelope: Envelope, secret: str) -> bool:
    """Whether the secret can be read anywhere, as it is or out of JSON inside a text."""
    wires = [decode_json(ok.render(envelope)), cast("JsonValue", mcp_result.render(envelope))]
    texts = [text for wire in wires for text in strings_in(wire)]
    while texts:
        text = texts.pop()
        if secret in text:
            return True
        try:
            inner: JsonValue = json.loads(text)
        except ValueError:
            continue
        if isinstance(inner, (dict, list)) or (isinstance(inner, str) and inner != text):
            texts.extend(strings_in(inner))
    return False


def _places(secret: str) -> dict[str, JsonValue]:
    return {
        "value": secret,
        "inside": f"before {secret} after",
        "twice": f"{secret}{secret}",
        "list": [[secret]],
        "key": {f"k-{secret}": 1},
        "json-in-text": json.dumps({"token": secret}),
        "unescaped-json-in-text": json.dumps({"token": secret}, ensure_ascii=False),
        "json-in-json-in-text": json.dumps({"body": json.dumps({"token": secret})}),
        "json-in-json-unescaped": json.dumps(
            {"body": json.dumps({"token": secret}, ensure_ascii=False)}, ensure_ascii=False
        ),
    }


@pytest.mark.parametrize("secret", AWKWARD.values(), ids=AWKWARD)
@pytest.mark.parametrize("place", _places("x"))
def test_a_secret_leaves_a_result_wherever_it_stood(secret: str, place: str) -> None:
    envelope = success({"at": _places(secret)[place], "rest": "stays"})
    assert _holds(envelope, secret)
    cleaned = Redactor([secret]).envelope(envelope)
    assert not _holds(cleaned, secret)
    assert REDACTED in ok.render(cleaned)
    assert cast("JsonObject", cleaned.result)["rest"] == "stays"
    for text in _all_dialects(cleaned):
        assert secret not in text


@pytest.mark.parametrize("secret", AWKWARD.values(), ids=AWKWARD)
def test_a_secret_leaves_everything_around_a_result(secret: str) -> None:
    measured = Metadata(
        tail=f"end {secret}",
        output_path=f"/o/{secret}",
        repairs=(Repair("key_spelling", f"a.{secret}", secret),),
    )
    failed = failure(
        "timeout",
        f"no {secret}",
        tool=f"t-{secret}",
        field=secret,
        expected=f"like {secret}",
        extras={"deep": [{"x": secret}], f"k{secret}": 1},
    )
    around = msgspec.structs.replace(failed, warnings=(f"saw {secret}",), metadata=measured)
    cleaned = Redactor([secret]).envelope(around)
    assert not _holds(cleaned, secret)
    assert cleaned.failure is not None
    assert cleaned.failure.kind is FailureKind.TIMEOUT
    assert cleaned.failure.message == f"no {REDACTED}"
    assert cleaned.failure.extras == {"deep": [{"x": REDACTED}], f"k{REDACTED}": 1}
    assert cleaned.warnings == (f"saw {REDACTED}",)
    assert cleaned.metadata.tail == f"end {REDACTED}"
    assert cleaned.metadata.repairs == (Repair("key_spelling", f"a.{REDACTED}", REDACTED),)


@pytest.mark.parametrize("number", [4929123412341234, -4929123412341234, 4929123412341234.5])
def test_a_secret_written_as_a_number_is_found_too(number: float) -> None:
    cleaned = Redactor(["4929123412341234"]).envelope(success({"card": number, "n": 7}))
    assert cleaned.result == {"card": REDACTED, "n": 7}


def test_booleans_and_null_are_never_secrets() -> None:
    held = success([True, False, None, "xFalsex"])
    assert Redactor(["xFalsex"]).envelope(held).result == [True, False, None, REDACTED]


@pytest.mark.parametrize(
    "word",
    [
        "message",
        "retryable",
        "extras",
        "timeout",
        "duration_ms",
        "truncated",
        "output_path",
        "123456",
    ],
)
def test_a_secret_that_is_a_word_of_the_envelope_breaks_nothing(word: str) -> None:
    envelope = Envelope(
        failure=failure("timeout", f"the {word} leaked", extras={"x": word}).failure,
        metadata=Metadata(duration_ms=123456, truncated=True),
    )
    cleaned = Redactor([word]).envelope(envelope)
    assert cleaned.failure is not None
    assert cleaned.failure.message == f"the {REDACTED} leaked"
    assert cleaned.failure.extras == {"x": REDACTED}
    assert cleaned.metadata == envelope.metadata
    assert ok.parse(ok.render(cleaned)) == cleaned


def test_overlapping_and_nested_secrets_leave_nothing_whole() -> None:
    secrets = ["abcdef", "abcdef-ghijkl", "ghijkl", "defghi"]
    cleaned = Redactor(secrets).envelope(success(["abcdef-ghijkl", "abcdefghijkl", "xdefghix"]))
    for secret in secrets:
        assert secret not in ok.render(cleaned)
    assert cast("list[JsonValue]", cleaned.result)[0] == REDACTED


def test_the_order_in_which_secrets_are_told_does_not_matter() -> None:
    secrets = ["abcdef", "cdefgh", "efghij"]
    held = success("abcdefghij")
    assert Redactor(secrets).envelope(held) == Redactor(reversed(secrets)).envelope(held)


@pytest.mark.parametrize("secrets", [(), ("",), ("short",), ("a" * (SHORTEST_SECRET - 1),)])
def test_without_a_secret_worth_hiding_nothing_is_touched(secrets: tuple[str, ...]) -> None:
    redactor = Redactor(secrets)
    envelope = success({"a": "short aaaaa"})
    assert not redactor.active
    assert redactor.envelope(envelope) is envelope


def test_a_short_secret_does_not_keep_a_long_one_from_working() -> None:
    cleaned = Redactor(["ab", "a" * SHORTEST_SECRET]).envelope(success(["ab", "aaaaaa"]))
    assert cleaned.result == ["ab", REDACTED]


def test_what_holds_no_secret_keeps_its_very_bytes() -> None:
    envelope = success({"b": 1, "a": "é"})
    cleaned = Redactor(["hunter2!"]).envelope(envelope)
    assert cleaned == envelope
    assert cleaned.result_json is envelope.result_json


def test_a_secret_that_is_not_unicode_is_found_as_it_is_written() -> None:
    secret = "key\udcffkey"
    cleaned = Redactor([secret]).envelope(success({"a": secret}))
    assert cleaned.result == {"a": REDACTED}


secret_texts = st.text(alphabet='KÖ🔑"\\\n\t7', min_size=SHORTEST_SECRET, max_size=12).filter(
    lambda text: text.strip('"\\\n\t') != ""
)
"""Made of letters no other text of these tests has, so that no match is a coincidence."""

other_texts = st.text(alphabet="abcxyz é<>&", max_size=8)


@st.composite
def _leaky(draw: st.DrawFn) -> tuple[list[str], Envelope]:
    """Secrets, and an envelope that holds them anywhere at all."""
    # A letter at each end: a secret of mere escapes could be read out of any escaped text.
    secrets = [f"K{text}Ö" for text in draw(st.lists(secret_texts, min_size=1, max_size=3))]
    held = st.tuples(other_texts, st.sampled_from(secrets), other_texts).map("".join)
    nested = held.map(lambda text: json.dumps({"t": text}))
    texts = other_texts | held | nested
    values: st.SearchStrategy[JsonValue] = st.recursive(
        texts | st.integers(0, 9) | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=8,
    )
    failed = draw(
        st.none()
        | st.builds(
            Failure,
            kind=st.sampled_from(FailureKind),
            message=texts,
            retryable=st.booleans(),
            field=st.none() | texts,
            expected=st.none() | texts,
            extras=st.dictionaries(texts, values, max_size=3),
        )
    )
    told = msgspec.structs.replace(draw(metadata), tail=draw(texts), output_path=None, repairs=())
    return secrets, Envelope(
        result_json=encode_json(draw(values) if failed is None else None),
        failure=failed,
        warnings=tuple(draw(st.lists(texts, max_size=2))),
        metadata=told,
    )


@steady
@given(_leaky())
def test_after_redaction_no_dialect_shows_a_secret(leaky: tuple[list[str], Envelope]) -> None:
    secrets, envelope = leaky
    cleaned = Redactor(secrets).envelope(envelope)
    for text in _all_dialects(cleaned):
        for secret in secrets:
            assert secret not in text
    for secret in secrets:
        assert not _holds(cleaned, secret)
    assert ok.parse(ok.render(cleaned)) == cleaned
    assert cleaned.ok == envelope.ok


@steady
@given(_leaky(), st.integers(min_value=0, max_value=40))
def test_after_redaction_no_sidecar_holds_a_secret(
    leaky: tuple[list[str], Envelope], limit: int
) -> None:
    secrets, envelope = leaky
    kept = FakeSidecars()
    cleaned = bound_envelope(
        Redactor(secrets).envelope(envelope),
        OutputBound(max_bytes=limit),
        lambda content: kept.keep("s", "n", content),
    )
    stored = [content.decode() for files in kept.kept.values() for content in files.values()]
    for secret in secrets:
        assert all(secret not in text for text in stored)
        assert secret not in ok.render(cleaned)


@steady
@given(st.lists(secret_texts, min_size=1, max_size=3), st.lists(st.binary(max_size=9)))
def test_no_stored_bytes_hold_a_secret(secrets: list[str], around: list[bytes]) -> None:
    content = b"".join(part + secret.encode() for part in around for secret in secrets)
    cleaned = Redactor(secrets).content(content)
    assert all(secret.encode() not in cleaned for secret in secrets)


@pytest.mark.parametrize("secret", AWKWARD.values(), ids=AWKWARD)
async def test_through_the_pipeline_no_secret_reaches_file_tail_or_head(
    secret: str, tmp_path: Path
) -> None:
    line = f"{secret} and more\n"
    tool = make_tool(
        lambda _values, _runtime: {"stdout": line * 50, "code": 0},
        limits=Limits(output=OutputBound(max_bytes=200)),
    )
    answer = await settle(tool, redactor=Redactor([secret]), sidecars=SidecarFiles(tmp_path))
    assert answer.metadata.output_path is not None
    stored = Path(answer.metadata.output_path).read_text("utf-8")
    assert stored.count(REDACTED) == 50
    assert secret not in stored
    assert answer.metadata.tail is not None
    assert secret not in answer.metadata.tail
    assert not _holds(answer, secret)


async def test_a_secret_that_lies_across_the_cut_is_gone_before_the_cut(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    for limit in range(90, 120):
        tool = make_tool(
            lambda _values, _runtime: "x" * 100 + secret + "y" * 100,
            limits=Limits(output=OutputBound(max_bytes=limit)),
        )
        root = tmp_path / str(limit)
        answer = await settle(tool, redactor=Redactor([secret]), sidecars=SidecarFiles(root))
        shown = ok.render(answer)
        assert "hunter2" not in shown


async def test_a_raised_or_refused_call_shows_no_secret() -> None:
    secret = AWKWARD["everything"]
    redactor = Redactor([secret])

    def body(_values: Mapping[str, object], _runtime: Runtime) -> NoReturn:
        raise InvalidArguments(f"bad {secret}", field=secret, extras={"was": secret})

    raised = await settle(make_tool(body), redactor=redactor)
    asking = msgspec.structs.replace(make_tool(), permission_policy="always_ask")
    noted = FakeApprover([Answer(allowed=False, by="ada", note=f"not with {secret}")])
    refused = await settle(asking, redactor=redactor, approver=noted)
    unread = await settle(make_tool(), "{" + secret, redactor=redactor)
    for answer in (raised, refused, unread):
        assert answer.failure is not None
        assert not _holds(answer, secret)


async def test_a_binary_answer_is_cleaned_before_it_is_stored(tmp_path: Path) -> None:
    secret = AWKWARD["everything"]
    content = b"\x00" + secret.encode() + b"\xff" + json.dumps(secret).encode()
    answer = await settle(
        make_tool(lambda _values, _runtime: Binary(content)),
        redactor=Redactor([secret]),
        sidecars=SidecarFiles(tmp_path),
    )
    stored = Path(str(cast("JsonObject", answer.result)["path"])).read_bytes()
    assert stored == b"\x00" + REDACTED.encode() + b'\xff"' + REDACTED.encode() + b'"'
