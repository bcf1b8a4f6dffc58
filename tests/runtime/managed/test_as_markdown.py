"""JSON as a short text."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.runtime.managed.as_markdown import MOST_LINES, as_markdown


def test_a_value_is_a_list_in_a_list() -> None:
    value: JsonObject = {
        "status": "idle",
        "ready": False,
        "count": 2,
        "nothing": None,
        "steps": [{"tool": "read"}, "look"],
        "none of it": [],
    }
    assert as_markdown("A title", value) == (
        "# A title\n\n- **status**: idle\n- **ready**: no\n- **count**: 2\n- **nothing**: none\n"
        "- **steps**:\n  - 1.\n    - **tool**: read\n  - 2. look\n- **none of it**: none\n"
    )


def test_what_is_too_deep_or_too_long_is_counted() -> None:
    deep: Any = {"end": 1}
    for _ in range(10):
        deep = {"in": deep}
    assert as_markdown("x", deep).rstrip().endswith("- **in**: 1 more")
    long = as_markdown("x", {"rows": [*range(MOST_LINES)]})
    assert "- ... 3 more lines" in long


_words = st.text(alphabet="a-# \n\r\u2028\x85", max_size=6)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)


@given(st.text(max_size=20), st.dictionaries(_words, _json, max_size=3))
def test_no_text_of_others_begins_a_line(title: str, value: JsonObject) -> None:
    first, empty, *rest = as_markdown(title, value).splitlines()
    assert first.startswith("# ")
    assert empty == ""
    assert all(line.lstrip(" ").startswith("- ") for line in rest)
    assert len(rest) < MOST_LINES
