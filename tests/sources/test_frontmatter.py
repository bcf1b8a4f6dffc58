"""The little YAML above a Markdown file: what is meant is read, and the rest is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.frontmatter import LONGEST_FRONTMATTER, Malformed, parted


def fields(text: str) -> dict[str, str]:
    return parted(f"---\n{text}\n---\nbody").fields


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k: plain words", "plain words"),
        ("k:   padded   ", "padded"),
        ("k: with: a colon", "with: a colon"),
        ("k: words # and a comment", "words"),
        ("k: c#", "c#"),
        ("k: 'it''s # quoted'", "it's # quoted"),
        ('k: "a \\"b\\" \\\\ c" # comment', 'a "b" \\ c'),
        ("k: |\n  one\n  two", "one\ntwo"),
        ("k: >-\n  one\n  two", "one two"),
        ("k: one\n  two\n\n  three", "one two three"),
        ('k: "one\n  two"', "one two"),
        ("k:", ""),
    ],
)
def test_a_text_is_read(text: str, value: str) -> None:
    assert fields(text) == {"k": value}
    assert fields(f"# a comment\n\nbefore: 1\n{text}\nafter: 2") == {
        "before": "1",
        "k": value,
        "after": "2",
    }


@pytest.mark.parametrize(
    "text", ["k: [a, b]", "k: {a: 1}", "k:\n  a: 1\n  b: 2", "k:\n- a\n- b", "k:\n  - a"]
)
def test_what_is_no_text_is_passed_over(text: str) -> None:
    assert fields(f"name: x\n{text}\nafter: 2") == {"name": "x", "after": "2"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin"),
        ("# Title\n---\nname: x\n---", "does not begin"),
        ("---\nname: x", "has no end"),
        ("---\njust words\n---", "line 2 is no `key: value`"),
        ("---\nk: 'open\n---", "a quote is not closed"),
        ("---\nk: 'a' b\n---", "behind the closing quote"),
        ('---\nk: "\\x41"\n---', "is not known here"),
        ("---\nk: 1\nk: 2\n---", "line 3: k stands there twice"),
        ("---\nk:v\n---", "line 2 is no"),
    ],
)
def test_what_is_malformed_is_told(text: str, said: str) -> None:
    with pytest.raises(Malformed) as problem:
        parted(text)
    assert said in str(problem.value)


def test_the_body_is_what_stands_below() -> None:
    text = "\ufeff---\r\nname: x\r\n---\r\n\r\n# Title\r\n---\r\nmore\r\n"
    assert parted(text).body == "# Title\n---\nmore"


def test_a_comment_begins_behind_a_blank() -> None:
    assert fields("k: a#b\t# c # d") == {"k": "a#b"}
    assert fields("k: # nothing\n  a #\n  # b\n  c#d  #e") == {"k": "a c#d"}


def test_what_stands_above_is_bounded_and_what_stands_below_is_not() -> None:
    whole = "k: ".ljust(LONGEST_FRONTMATTER - 1, "x")
    assert len(fields(whole)["k"]) == LONGEST_FRONTMATTER - 4
    with pytest.raises(Malformed, match="more than 16,384 characters"):
        fields(f"{whole}x")
    assert len(parted(f"---\nk: v\n---\n{'x' * 100_000}").body) == 100_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("k: x\n  y" + " " * 1_000_000 + "z", 1),
        ("\n".join(f"k{number}:" for number in range(200_000)), 200_000),
        ("k: x\n" + "  #\n" * 200_000, 1),
        ("k: " + "#" * 1_000_000, 1),
        ("k: |" + " " * 1_000_000 + "x", 1),
        ("k" + " " * 1_000_000 + ": x", 1),
        ("k: '" + " " * 1_000_000 + "'", 1),
    ],
    ids=["blanks", "keys", "comments", "signs", "block", "key", "quoted"],
)
def test_work_grows_as_the_text_does(text: str, found: int) -> None:
    """Work that grows with the square of these takes minutes, not a test's time."""
    assert len(parted(f"---\n{text}\n---\n", longest=len(text) + 1).fields) == found


@given(st.text())
def test_any_text_is_read_or_malformed(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n"):
        try:
            found = parted(whole)
        except Malformed:
            continue
        assert all(isinstance(value, str) for value in found.fields.values())


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_whatever_is_quoted_comes_back(value: str) -> None:
    written = value.replace("'", "''")
    assert fields(f"k: '{written}'") == {"k": value}
    written = value.replace("\\", "\\\\").replace('"', '\\"')
    assert fields(f'k: "{written}"') == {"k": value}
