"""A result that is nothing but parts is told as those parts, and survives the journey."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.envelope import envelope_of
from holdfast.envelope.dialects.mcp_result import META_KEY, parse, render

TEXT: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": st.just("text"), "text": st.text(max_size=5)}
)
MEDIA: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"type": "image", "data": "UA==", "mimeType": "image/png"},
        {"type": "audio", "data": "UA==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "test://x", "text": "x"}},
        {"type": "resource_link", "uri": "test://x", "name": "x"},
    ]
)


@given(st.lists(TEXT | MEDIA, min_size=1, max_size=4), st.lists(st.text(max_size=5), max_size=2))
def test_parts_are_told_as_they_are(parts: list[Any], warnings: list[str]) -> None:
    envelope = envelope_of({"parts": parts}, tool="t", warnings=tuple(warnings))
    wire: Any = render(envelope)
    assert wire["content"][: len(parts)] == parts
    assert "structuredContent" not in wire
    assert parse(wire, ours=True) == envelope


@pytest.mark.parametrize(
    "result",
    [
        {"parts": []},
        {"parts": "x"},
        {"parts": [{"type": "text"}]},
        {"parts": [{"type": "image", "data": "UA=="}]},
        {"parts": [{"type": "movie", "data": "UA==", "mimeType": "x/y"}]},
        {"parts": [7]},
        {"parts": [{"type": "text", "text": "x"}], "more": 1},
    ],
)
def test_what_is_something_else_stays_data(result: Any) -> None:
    wire: Any = render(envelope_of(result))
    assert wire["structuredContent"] == result
    assert "first_part" not in wire["_meta"][META_KEY]
    assert parse(wire, ours=True) == envelope_of(result)
