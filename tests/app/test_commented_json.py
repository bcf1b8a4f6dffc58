"""JSON with comments and last commas: read as it is meant, and never changed inside of a string."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.commented_json import NoJson, read_json, without_comments
from holdfast.contract.json_value import JsonValue

_TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(['"', "\\", "//", "/*", "*/", ",", "]", "}", "\n", "x"])).map("".join),
)
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), _TEXTS)
_VALUES = st.recursive(
    _SCALARS,
    lambda inside: st.one_of(st.lists(inside), st.dictionaries(_TEXTS, inside)),
    max_leaves=10,
)
_BLANKS = st.sampled_from(
    ["", " ", "\n", "\t", "// a\n", '// "\n', "/**/", "/* a\n */", '/* " */', "/* // */", "/***/"]
)
_LAST = st.sampled_from(["", ","])


@given(_VALUES)
def test_plain_json_stays_as_it_is_written(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert without_comments(text) == text
        assert read_json(text) == (value, True)


@given(_VALUES, st.data())
def test_whatever_stands_between_the_words_changes_nothing(
    value: JsonValue, data: st.DataObject
) -> None:
    text = _written(value, data)
    found, _ = read_json(text)
    assert found == value
    blanked = without_comments(text)
    assert len(blanked) == len(text)
    assert [at for at, one in enumerate(text) if one == "\n"] == [
        at for at, one in enumerate(blanked) if one == "\n"
    ]


def _written(value: JsonValue, data: st.DataObject) -> str:
    def blank() -> str:
        return data.draw(_BLANKS)

    if isinstance(value, dict):
        pairs = [
            f"{blank()}{json.dumps(key)}{blank()}:{_written(one, data)}"
            for key, one in value.items()
        ]
        return _around("{", pairs, "}", data)
    if isinstance(value, list):
        return _around("[", [_written(one, data) for one in value], "]", data)
    return f"{blank()}{json.dumps(value)}{blank()}"


def _around(begin: str, inside: list[str], end: str, data: st.DataObject) -> str:
    last = data.draw(_LAST) if inside else ""
    before, within, after = (data.draw(_BLANKS) for _ in range(3))
    return f"{before}{begin}{','.join(inside)}{last}{within}{end}{after}"


@given(st.text('{}[],:"\\/* \n1a'))
def test_any_text_has_an_answer(text: str) -> None:
    said = ""
    try:
        _, is_plain = read_json(text)
    except NoJson as problem:
        is_plain, said = False, str(problem)
    assert is_plain or said.startswith("line ") or without_comments(text) != text


@pytest.mark.parametrize(
    "text",
    ["[,]", "{,}", "[1,,]", "[1,,2]", '{"a":,}', "[1 /* open ]", "[1] /*", "[1] /*/", "[/]", "["],
)
def test_what_is_broken_stays_broken(text: str) -> None:
    with pytest.raises(NoJson):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1,\n  "b" 2\n}', "line 3, column 7"),
        ('{ // why\n  "ä": x }', "line 2, column 8"),
        ('{"a": [', "line 1, column 8"),
        ("", "line 1, column 1"),
    ],
)
def test_a_mistake_is_found_by_its_line_and_column(text: str, place: str) -> None:
    with pytest.raises(NoJson, match=f"^{place}: "):
        read_json(text)


def test_what_nests_too_deeply_is_told() -> None:
    with pytest.raises(NoJson, match="nests too deeply"):
        read_json("[" * 100_000)


@pytest.mark.parametrize("piece", ["/*", '"\\', '\\"', "/* *", ", ", "[,", "//", '",', "*/"])
def test_a_long_text_comes_to_an_end(piece: str) -> None:
    text = piece * 200_000
    assert len(without_comments(text)) == len(text)
