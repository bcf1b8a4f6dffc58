"""Sandbox operations as values: payloads, what they give, and bytes as text."""

from collections.abc import Iterator

import msgspec
import pytest
from envelope.strategies import steady
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract import backend
from holdfast.contract.backend import BackendTool, ToolResult, text_in

MADE: list[msgspec.Struct] = [
    backend.BackendToolCommandRun("ls", env={"A": "1"}, cwd="/w", stdin=b"x", timeout=1.5),
    backend.BackendToolFilesRead("a", None),
    backend.BackendToolFilesWrite("a", "text", 0o600),
    backend.BackendToolFilesList("a"),
    backend.BackendToolFilesExists("a"),
    backend.BackendToolCodeRun("1", "python", 2.0),
    backend.CommandResult(2, b"out", b"err", 1.5),
    backend.FileContent("text"),
    backend.FileEntries((backend.FileEntry("a", "/w/a", is_dir=False),)),
    backend.FileEntry("a", "/w/a", is_dir=False),
    backend.FileWriteResult(3),
    backend.CodeResult("t", "o", "e", "x"),
    backend.ToolExecutionFailure("timeout", "slow", "after 2 s"),
    BackendTool(),
    ToolResult(),
]


def _below(cls: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for sub in cls.__subclasses__():
        if sub.__module__ == backend.__name__:
            yield sub


@pytest.mark.req("RATH-PAY-02")
def test_every_payload_and_every_result_is_in_this_table() -> None:
    known = {type(value) for value in MADE}
    assert {*_below(BackendTool), *_below(ToolResult), backend.FileEntry} <= known


@pytest.mark.req("RATH-PAY-02")
@pytest.mark.parametrize("value", MADE, ids=lambda value: type(value).__name__)
def test_payloads_and_results_are_frozen_values(value: msgspec.Struct) -> None:
    for field in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, field, getattr(value, field))
    twin = msgspec.structs.replace(value)
    assert twin is not value
    assert twin == value


@pytest.mark.req("RATH-PAY-02")
def test_values_of_different_content_differ() -> None:
    assert backend.FileWriteResult(3) != backend.FileWriteResult(4)
    assert backend.BackendToolFilesList("a") != backend.BackendToolFilesExists("a")
    assert len({backend.BackendToolFilesList("a"), backend.BackendToolFilesList("a")}) == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"plain", "plain"),
        ("é😀".encode(), "é😀"),
        (b"\xff\xfe", "ÿþ"),
        (b"ok\xff", "okÿ"),
        (b"", ""),
        ("already text", "already text"),
    ],
)
def test_bytes_become_text_one_way_or_the_other(content: bytes | str, text: str) -> None:
    assert text_in(content) == text


@steady
@given(st.binary())
def test_any_bytes_become_text_and_never_a_literal(content: bytes) -> None:
    text = text_in(content)
    assert text.encode() == content or text.encode("latin-1") == content
