"""Whatever a tool returns, through the real pipeline and with real sidecar files."""

import dataclasses
import datetime
import json
import stat
from pathlib import Path
from typing import cast

import msgspec
import pydantic
import pytest
from support import make_tool, settle

from holdfast import Binary, Image, ToolEnvelope
from holdfast.contract.backend import (
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileEntry,
    FileWriteResult,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.builders import success
from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue, depth_of
from holdfast.contract.results import Entry, Listing
from holdfast.contract.told import ShownInPart
from holdfast.contract.tool import Limits, OutputBound
from holdfast.envelope.dialects import ok
from holdfast.envelope.redact import REDACTED, Redactor
from holdfast.execution.sidecars import SidecarFiles

pytestmark = pytest.mark.anyio


class Order(pydantic.BaseModel):
    number: int
    when: datetime.date


class Point(msgspec.Struct):
    x: int
    y: int = 0


@dataclasses.dataclass
class Person:
    name: str
    born: datetime.date


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Novel(ToolResult, frozen=True):
    depth: int = 3


async def _answer(returned: object, *secrets: str, root: Path | None = None) -> Envelope:
    tool = make_tool(lambda _values, _runtime: returned, name="maker")
    redactor = Redactor(secrets)
    if root is None:
        return await settle(tool, redactor=redactor)
    return await settle(tool, redactor=redactor, sidecars=SidecarFiles(root))


PLAIN: list[tuple[object, JsonValue]] = [
    (None, None),
    (False, False),
    (0, 0),
    (1.5, 1.5),
    ([], []),
    ({}, {}),
    ((1, 2), [1, 2]),
    ({"a": [1]}, {"a": [1]}),
    (Order(number=1, when=datetime.date(2026, 1, 2)), {"number": 1, "when": "2026-01-02"}),
    ([Order(number=1, when=datetime.date(2026, 1, 2))], [{"number": 1, "when": "2026-01-02"}]),
    (Point(3), {"x": 3, "y": 0}),
    (Person("Ada", datetime.date(1815, 12, 10)), {"name": "Ada", "born": "1815-12-10"}),
    (datetime.date(2026, 1, 2), "2026-01-02"),
    (Mute(), "<Mute: str() raised RuntimeError>"),
    ({"held": Mute()}, {"held": "<Mute: str() raised RuntimeError>"}),
    (float("nan"), None),
    (
        Listing(path="d", entries=(Entry("a", "d/a", "file"),), entry_count=1, truncated=False),
        {
            "kind": "listing",
            "path": "d",
            "entries": [{"name": "a", "path": "d/a", "type": "file"}],
            "entry_count": 1,
            "truncated": False,
        },
    ),
    (
        CommandResult(1, b"o", b"\xff", 2.5),
        {"exit_code": 1, "stdout": "o", "stderr": "ÿ", "elapsed_ms": 2.5},
    ),
    (FileContent(b"\xc3\xa9"), {"data": "é"}),
    (FileContent("text"), {"data": "text"}),
    (FileWriteResult(3), {"bytes_written": 3}),
    (CodeResult("7"), {"text": "7", "stdout": "", "stderr": "", "error": None}),
    (
        FileEntries((FileEntry("a", "/w/a", is_dir=True),)),
        {"entries": [{"name": "a", "path": "/w/a", "is_dir": True}]},
    ),
    (Novel(), {"type": "Novel", "note": "unserialised result"}),
]


@pytest.mark.req("OSA-ENV-05")
@pytest.mark.parametrize(
    ("returned", "result"), PLAIN, ids=[type(returned).__name__ for returned, _ in PLAIN]
)
async def test_a_return_value_becomes_the_result(returned: object, result: JsonValue) -> None:
    answer = await _answer(returned)
    assert answer.ok
    assert answer.result == result
    assert type(answer.result) is type(result)
    assert answer.tool == "maker"


@pytest.mark.req("OSA-GEN-03")
@pytest.mark.parametrize("text", ["hello", "", "  ", "{", '{"a": 1}', "[1]", "null", "é\n"])
async def test_plain_text_becomes_a_result_with_text(text: str) -> None:
    answer = await _answer(text)
    assert answer.ok
    assert answer.result == {"text": text}


@pytest.mark.req("OSA-GEN-03")
@pytest.mark.parametrize(
    "text",
    [
        '{"ok":true,"result":{"a":1}}',
        '{"ok": true, "result": null, "warnings": ["w"]}',
        '{"ok":false,"kind":"unavailable","message":"m","retryable":false,"hint":"h"}',
        '{"ok":false,"kind":"timeout","message":"m","field":"f","expected":"e"}',
        '{"ok":true,"result":1,"tool":"other"}',
    ],
)
async def test_text_that_is_an_envelope_passes_as_that_envelope(text: str) -> None:
    answer = await _answer(text)
    told = ok.parse(text)
    assert (answer.result_json, answer.failure) == (told.result_json, told.failure)
    assert answer.warnings == told.warnings
    assert answer.tool == "maker"


@pytest.mark.req("OSA-GEN-03")
@pytest.mark.parametrize(
    "envelope",
    [
        ToolEnvelope.success({"a": 1}, warnings=["w"]),
        ToolEnvelope.text("hi"),
        ToolEnvelope.failure("not_found", "m", field="path", extras={"hint": [1]}),
        ToolEnvelope.success(None, tool="other"),
    ],
    ids=["success", "text", "failure", "named"],
)
async def test_an_envelope_is_passed_on_untouched(envelope: Envelope) -> None:
    answer = await _answer(envelope)
    assert (answer.result_json, answer.failure) == (envelope.result_json, envelope.failure)
    assert answer.warnings == envelope.warnings
    assert answer.tool == "maker"


@pytest.mark.parametrize(
    "text",
    [
        ' {"ok":true,"result":1}',
        '{"ok":true}',
        '{"ok":true,"result":1,"status":"fine"}',
        '{"ok":false,"kind":"boom","message":"m"}',
        '{"ok":"true","result":1}',
        '{"ok":true,"result":1} trailing',
        '{"ok":true,"result":1,"warnings":"w"}',
    ],
)
async def test_text_that_is_almost_an_envelope_is_text(text: str) -> None:
    assert (await _answer(text)).result == {"text": text}


async def test_text_cannot_claim_measurements() -> None:
    text = '{"ok":true,"result":1,"metadata":{"truncated":true,"output_path":"/etc/passwd"}}'
    answer = await _answer(text)
    assert answer.result == 1
    assert (answer.metadata.truncated, answer.metadata.output_path) == (False, None)


MALFORMED: tuple[object, ...] = (
    Envelope(result_json=b"oops"),
    Envelope(result_json=b"[" * 5_000),
    Envelope(result_json=5),  # pyright: ignore[reportArgumentType] - on purpose
    Envelope(failure="boom"),  # pyright: ignore[reportArgumentType] - on purpose
    Envelope(
        failure=Failure(
            kind="boom",  # pyright: ignore[reportArgumentType] - on purpose
            message="m",
            retryable=True,
        )
    ),
    Envelope(warnings=(1,)),  # pyright: ignore[reportArgumentType] - on purpose
    Image("a.png"),  # pyright: ignore[reportArgumentType] - on purpose
    Binary(None),  # pyright: ignore[reportArgumentType] - on purpose
    CommandResult(0, None, b"", 1.0),  # pyright: ignore[reportArgumentType] - on purpose
    FileContent(5),  # pyright: ignore[reportArgumentType] - on purpose
)


@pytest.mark.parametrize("returned", MALFORMED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("secrets", [(), ("hunter2!",)], ids=["plain", "redacting"])
async def test_values_put_together_wrongly_are_the_tools_fault_and_not_ours(
    returned: object, secrets: tuple[str, ...]
) -> None:
    answer = await _answer(returned, *secrets)
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.EXECUTION_ERROR
    assert type(returned).__name__ in answer.failure.message


async def test_a_backend_failure_of_an_unheard_kind_is_an_execution_error() -> None:
    novel = ToolExecutionFailure("melted", "m")  # pyright: ignore[reportArgumentType] - on purpose
    answer = await _answer(novel)
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.EXECUTION_ERROR
    assert answer.failure.extras == {"error_kind": "melted"}


async def test_an_envelope_from_a_careless_hand_is_made_to_fit() -> None:
    careless = Envelope(
        failure=Failure(
            kind=FailureKind.TIMEOUT,
            message="m\ud800",
            retryable=True,
            extras={"held": Mute(), "nan": float("nan")},  # pyright: ignore[reportArgumentType] - on purpose
        ),
        warnings=("w\ud800",),
        metadata=Metadata(output_path="/kept", truncated=True),
    )
    answer = await _answer(careless)
    assert answer.failure is not None
    assert answer.failure.message == "m?"
    assert answer.failure.extras == {"held": "<Mute: str() raised RuntimeError>", "nan": None}
    assert answer.warnings == ("w?",)
    assert (answer.metadata.output_path, answer.metadata.truncated) == (None, False)


async def test_a_result_that_nests_too_deep_is_flattened_wherever_it_comes_from() -> None:
    text = "[" * 300 + "]" * 300
    deep: JsonValue = json.loads(text)
    for returned in (deep, Envelope(result_json=text.encode()), f'{{"ok":true,"result":{text}}}'):
        assert depth_of((await _answer(returned)).result) == MAX_DEPTH


@pytest.mark.parametrize(
    ("returned", "kind", "media_type"),
    [
        (Image(b"\x89PNG"), "image", "image/png"),
        (Image(b"\x89PNG", "image/webp"), "image", "image/webp"),
        (Binary(b"\x00\x89PNG"), "binary", "application/octet-stream"),
        (Binary(b"%PDF", "application/pdf"), "binary", "application/pdf"),
        (b"\x00\xff", "binary", "application/octet-stream"),
        (bytearray(b"\x00\xff"), "binary", "application/octet-stream"),
        (b"", "binary", "application/octet-stream"),
        (
            Binary(memoryview(b"view")),  # pyright: ignore[reportArgumentType] - on purpose
            "binary",
            "application/octet-stream",
        ),
    ],
    ids=["image", "webp", "binary", "pdf", "bytes", "bytearray", "empty", "memoryview"],
)
async def test_bytes_are_answered_by_reference(
    returned: object, kind: str, media_type: str, tmp_path: Path
) -> None:
    answer = await _answer(returned, root=tmp_path)
    content = bytes(
        returned.content if isinstance(returned, Image | Binary) else cast("bytes", returned)
    )
    result = cast("JsonObject", answer.result)
    path = Path(str(result.pop("path")))
    assert result == {"kind": kind, "media_type": media_type, "byte_count": len(content)}
    assert path.read_bytes() == content
    assert path.is_relative_to(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_bytes_there_is_no_room_for_are_a_failure_that_says_so(tmp_path: Path) -> None:
    tool = make_tool(lambda _values, _runtime: Binary(b"x" * 1_000))
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path, call_quota=999))
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.UNAVAILABLE
    assert "1,000 bytes" in answer.failure.message


async def test_secrets_in_stored_bytes_are_taken_out_first(tmp_path: Path) -> None:
    answer = await _answer(Binary(b"key=hunter2! end"), "hunter2!", root=tmp_path)
    result = cast("JsonObject", answer.result)
    stored = Path(str(result["path"])).read_bytes()
    assert stored == f"key={REDACTED} end".encode()
    assert result["byte_count"] == len(stored)


async def test_large_bytes_are_not_subject_to_the_text_bound(tmp_path: Path) -> None:
    tool = make_tool(
        lambda _values, _runtime: Image(b"x" * 5_000),
        limits=Limits(output=OutputBound(max_bytes=10)),
    )
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    assert cast("JsonObject", answer.result)["byte_count"] == 5_000
    assert answer.metadata.truncated is False


def test_the_authors_face_offers_builders_and_detectors() -> None:
    text = ok.render(ToolEnvelope.failure("timeout", "m"))
    assert ToolEnvelope.is_error(text)
    assert not ToolEnvelope.is_success(text)
    assert ToolEnvelope.failure_message(text) == "m"
    assert ToolEnvelope.success_payload(ok.render(ToolEnvelope.success([1]))) == [1]
    assert ToolEnvelope.listing("d", []) == success(
        {"kind": "listing", "path": "d", "entries": [], "entry_count": 0, "truncated": False}
    )


async def test_a_value_that_was_shown_in_part_is_answered_whole_and_marked(tmp_path: Path) -> None:
    shown = await settle(make_tool(lambda _values, _runtime: ShownInPart([1, 2])))
    assert (shown.result, shown.metadata.truncated) == ([1, 2], True)
    stored = SidecarFiles(tmp_path)
    bytes_too = await settle(
        make_tool(lambda _values, _runtime: ShownInPart(b"ab")), sidecars=stored
    )
    assert (bytes_too.ok, bytes_too.metadata.truncated) == (True, False)
