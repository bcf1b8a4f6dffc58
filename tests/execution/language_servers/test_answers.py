"""What servers answer: every shape the protocol has, and whatever else they may say."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.language_servers.answers import (
    Range,
    RawSpot,
    diagnostics_in,
    hover_in,
    path_of,
    spots_in,
    symbols_in,
    uri_of,
)
from holdfast.execution.language_servers.watching import changes

RANGE: dict[str, Any] = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
HERE = RawSpot("file:///w/a.py", Range(1, 2, 1, 5))
KEYS = ("uri", "range", "start", "end", "line", "character", "contents", "name", "kind", "location",
        "children", "selectionRange", "message", "severity", "targetUri", "targetSelectionRange",
        "value", "code", "containerName")  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(anything)
def test_no_answer_is_too_odd(answer: Any) -> None:
    for spot in spots_in(answer):
        assert spot.range.line >= 0
    assert hover_in(answer) != ""
    for found in (*diagnostics_in(answer), *symbols_in(answer, "file:///a")):
        assert found is not None


@given(st.text(st.characters(exclude_characters="\0"), min_size=1))
def test_a_path_comes_back_from_its_uri(name: str) -> None:
    path = "/" + name.encode("utf-8", "replace").decode()
    uri = uri_of(path)
    assert uri.isascii()
    assert path_of(uri) == path


def test_a_location_a_list_and_links_are_the_same() -> None:
    one: dict[str, Any] = {"uri": HERE.uri, "range": RANGE}
    link: dict[str, Any] = {"targetUri": HERE.uri, "targetRange": {}, "targetSelectionRange": RANGE}
    assert [*spots_in(one)] == [*spots_in([one])] == [*spots_in([link])] == [HERE]
    assert [*spots_in(None)] == []


def test_only_files_of_this_machine_have_a_path() -> None:
    assert path_of("file:///a%20b/%C3%A9") == "/a b/é"
    assert path_of("file://localhost/a") == "/a"
    for other in ("https://a/b", "file://host/a", "untitled:1", "file:///a%00b", "file://[/"):
        assert path_of(other) is None


def test_hovers_are_texts_marked_up_or_not() -> None:
    assert hover_in({"contents": "a"}) == "a"
    assert hover_in({"contents": {"kind": "markdown", "value": "b"}}) == "b"
    assert hover_in({"contents": ["a", {"language": "python", "value": "b"}, ""]}) == "a\n\nb"
    assert hover_in({"contents": []}) is None


def test_a_tree_of_symbols_is_told_in_its_order_with_what_holds_what() -> None:
    inner: dict[str, Any] = {"name": "f", "kind": 6, "range": RANGE, "selectionRange": RANGE}
    outer: dict[str, Any] = {
        **inner,
        "name": "C",
        "kind": 5,
        "children": [inner, {**inner, "name": "g"}],
    }
    last: dict[str, Any] = {**inner, "name": "x", "kind": 99}
    found = [(one.name, one.kind, one.container) for one in symbols_in([outer, last], HERE.uri)]
    assert found == [
        ("C", "class", None),
        ("f", "method", "C"),
        ("g", "method", "C"),
        ("x", "symbol", None),
    ]


def test_a_flat_list_of_symbols_names_its_files() -> None:
    flat: dict[str, Any] = {"name": "f", "kind": 12, "location": {"uri": HERE.uri, "range": RANGE}}
    (one,) = symbols_in([{**flat, "containerName": "mod"}])
    assert (one.spot, one.container, one.kind) == (HERE, "mod", "function")


def test_a_symbol_of_the_workspace_without_a_place_is_left_out() -> None:
    nowhere: dict[str, Any] = {"name": "f", "kind": 12, "selectionRange": RANGE}
    assert [*symbols_in([nowhere])] == []
    assert [one.spot for one in symbols_in([nowhere], HERE.uri)] == [HERE]


seen = st.dictionaries(st.sampled_from("abcdef"), st.tuples(st.integers(0, 2), st.integers(0, 2)))


@given(seen, seen)
def test_what_became_of_files_is_exactly_what_differs(
    before: dict[str, tuple[int, int]], now: dict[str, tuple[int, int]]
) -> None:
    found = changes(before, now)
    for path in before.keys() | now.keys():
        kind = {(False, True): 1, (True, False): 3}.get((path in before, path in now), 2)
        assert found.get(path) == (None if before.get(path) == now.get(path) else kind)
