"""One glob language: what fits, what does not, and that no pattern is slow."""

import contextlib
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.policy.globs import Flavour, GlobProblem, compile_glob, escaped, specificity


def _fits(pattern: str, text: str, flavour: Flavour) -> bool:
    return compile_glob(pattern, flavour)(text)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("docs/a.md", ["docs/a.md"], ["docs/a_md", "docs/a.md/", "docs/b.md", "DOCS/a.md", ""]),
        ("docs/*", ["docs/a", "docs/.hidden", "docs/"], ["docs", "docs/a/b", "xdocs/a"]),
        ("docs/**", ["docs", "docs/a", "docs/a/b", "docs/.x/.y"], ["docs-old", "/docs", "doc"]),
        ("docs/", ["docs", "docs/a", "docs/a/b"], ["docs-old/a", "doc", "a/docs"]),
        ("**", ["", "a", "a/b", "/a/b", ".a/.b"], []),
        ("***", ["a/b"], []),
        ("/**", ["/", "/a", "/a/b"], ["a", "a/b"]),
        ("/", ["/", "/a", "/a/b"], ["a"]),
        ("**/*.md", ["a.md", "x/a.md", "x/y/.md", "/a.md", "a\n.md"], ["a.mdx", "a.md/b"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a/b/b"], ["ab", "a/xb", "a", "b", "a/b/c"]),
        ("a/**/**/b", ["a/b", "a/x/y/b"], ["a", "b"]),
        ("**/x/**/y/**", ["x/y", "a/x/b/y/c", "x/x/y/y"], ["y/x", "x", "y"]),
        ("**.md", ["a.md", ".md"], ["x/a.md"]),
        ("a**b", ["ab", "axb"], ["a/b"]),
        ("a?c", ["abc", "a.c"], ["a/c", "ac", "abbc"]),
        ("src/*.{ts,js}", ["src/a.ts", "src/.js"], ["src/a.py", "src/x/a.ts", "src/a.{ts,js}"]),
        ("{a/,b}", ["a", "a/x", "b"], ["b/x"]),
        ("{a,b}", ["a", "b"], ["a,b", "{a,b}"]),
        ("proj[1]/*", ["proj[1]/x"], ["proj1/x"]),
        (r"proj\[1\]/\*", ["proj[1]/*"], ["proj[1]/x"]),
        (r"docs\/", ["docs/"], ["docs", "docs/a"]),
    ],
)
def test_in_a_path_a_star_stays_in_its_segment(
    pattern: str, fitting: list[str], others: list[str]
) -> None:
    assert [text for text in fitting if not _fits(pattern, text, "path")] == []
    assert [text for text in others if _fits(pattern, text, "path")] == []


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("git *", ["git log", "git a/b\nc", "git "], ["gitk --all", "git", "a git log"]),
        ("git **", ["git log"], ["git"]),
        ("*", ["", "a/b\nc"], []),
        ("l?", ["ls", "l\n", "l/"], ["l", "lss"]),
        ("docs/", ["docs/"], ["docs", "docs/a"]),
        ("awk {print}", ["awk {print}"], ["awk print"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a}b,c", ["a}b,c"], []),
        ("{a,{b", ["{a,{b"], []),
        ("{a,b", ["{a,b"], ["a", "b"]),
        ("{x{a,b}}", ["{xa}", "{xb}"], ["xa"]),
        ("{a,b{c,d}}e", ["ae", "bce", "bde"], ["be", "ace"]),
        ("x{,y}", ["x", "xy"], ["xx"]),
        (r"{a\,b,c}", ["a,b", "c"], ["a", "b"]),
        (r"a\*", ["a*"], ["ab", r"a\*"]),
        ("a\\", ["a\\"], ["a"]),
        (r"a\\*", ["a\\", "a\\b"], ["a*"]),
        ("*{abcdc,b}*c", ["abcdc"], ["abd"]),
        ("", [""], ["a"]),
        ("(a|b)+.$", ["(a|b)+.$"], ["a", "aab"]),
    ],
)
def test_in_a_text_a_star_crosses_everything(
    pattern: str, fitting: list[str], others: list[str]
) -> None:
    assert [text for text in fitting if not _fits(pattern, text, "text")] == []
    assert [text for text in others if _fits(pattern, text, "text")] == []


def _slow_text(pattern: str, text: str) -> bool:
    """The definition itself, for patterns of stars, question marks and letters."""

    @cache
    def fits(at: int, place: int) -> bool:
        if at == len(pattern):
            return place == len(text)
        if pattern[at] == "*":
            return fits(at + 1, place) or (place < len(text) and fits(at, place + 1))
        one = place < len(text) and pattern[at] in ("?", text[place])
        return one and fits(at + 1, place + 1)

    return fits(0, 0)


def _slow_path(pattern: str, text: str) -> bool:
    wanted, given_segments = pattern.split("/"), text.split("/")
    if pattern.endswith("/"):
        wanted[-1] = "**"

    @cache
    def fits(at: int, place: int) -> bool:
        if at == len(wanted):
            return place == len(given_segments)
        more = place < len(given_segments)
        if len(wanted[at]) > 1 and set(wanted[at]) == {"*"}:
            return fits(at + 1, place) or (more and fits(at, place + 1))
        return more and _slow_text(wanted[at], given_segments[place]) and fits(at + 1, place + 1)

    return fits(0, 0)


@settings(deadline=None)
@given(st.text("ab*?", max_size=12), st.text("ab\n", max_size=12))
def test_a_text_fits_as_the_definition_says(pattern: str, text: str) -> None:
    assert _fits(pattern, text, "text") == _slow_text(pattern, text)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "*b*a", "?", ""]), max_size=6),
    st.lists(st.sampled_from(["a", "b", "ab", "ba", "bba", ""]), max_size=6),
)
def test_a_path_fits_as_the_definition_says(pattern: list[str], text: list[str]) -> None:
    written, path = "/".join(pattern), "/".join(text)
    assert _fits(written, path, "path") == _slow_path(written, path)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text("ab*", max_size=3), min_size=2, max_size=3), max_size=3),
    st.text("ab", max_size=8),
)
def test_alternatives_fit_what_any_of_them_fits(groups: list[list[str]], text: str) -> None:
    pattern = "a".join("{" + ",".join(group) + "}" for group in groups)
    one_by_one = ["a".join(chosen) for chosen in product(*groups)]
    # Stars of neighbouring alternatives are two wildcards, not the path's "**".
    assert _fits(pattern, text, "text") == any(_fits(one, text, "text") for one in one_by_one)


@settings(deadline=None)
@given(st.text(max_size=20) | st.text("ab*?{},\\[]/", max_size=10), st.text("ab*?{},\\[]/"))
def test_an_escaped_text_fits_itself_and_nothing_else(text: str, other: str) -> None:
    for flavour in ("path", "text"):
        assert _fits(escaped(text), text, flavour)
        assert _fits(escaped(text), other, flavour) == (text == other)
    assert specificity(escaped(text)) == (1, len(text), 0)


@settings(deadline=None)
@given(st.text("a*?{},\\/[]", max_size=40), st.text("a/{},*", max_size=20))
def test_a_short_pattern_compiles_or_is_said_to_be_too_large(pattern: str, text: str) -> None:
    with contextlib.suppress(GlobProblem):
        assert {_fits(pattern, text, flavour) for flavour in ("path", "text")} <= {True, False}


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("npm test", "npm tes*"),
        ("a", "abcdef*"),
        ("git push *", "git *"),
        ("git *", "*"),
        ("ab*", "a*b*"),
        ("a?b", "a?b?"),
        (r"a\*", "a*"),
        ("docs/a.md", "docs/"),
        ("docs/*.md", "docs/"),
        ("{abc,abd}", "{abc,a*}"),
    ],
)
def test_the_more_specific_pattern_is_the_greater(more: str, less: str) -> None:
    assert specificity(more) > specificity(less)


@pytest.mark.parametrize(
    ("one", "other"),
    [("ab*", "*bc"), ("*", "**"), ("docs/", "docs/**"), ("a,b", r"a\,b"), ("{a,b}", "a")],
)
def test_patterns_that_say_equally_much_are_equal(one: str, other: str) -> None:
    assert specificity(one) == specificity(other)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("a" * 4097, id="too long"),
        pytest.param("{a,b}" * 9, id="512 alternatives"),
        pytest.param("{" + ",".join("a" * 257) + "}", id="one group of 257"),
        pytest.param("{a,b}" * 7 + "x" * 1000, id="too much written out"),
        pytest.param("{a," * 9 + "b" + "}" * 9, id="nested too deep"),
    ],
)
def test_a_pattern_that_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(GlobProblem, match="at most"):
        compile_glob(pattern, "text")
    with pytest.raises(GlobProblem, match="at most"):
        specificity(pattern)


@pytest.mark.parametrize(
    ("pattern", "flavour", "text"),
    [
        ("*a" * 1000 + "b", "text", "a" * 20_000),
        ("*" * 4000 + "b", "text", "a" * 20_000),
        ("?*" * 1500 + "b", "text", "a" * 20_000),
        ("*" + "a" * 1000 + "b", "text", "a" * 8_000),
        ("{a,b}" * 8 + "*x", "text", "ab" * 5_000),
        ("{*a,*b}" * 7 + "x", "text", "ab" * 5_000),
        ("**/a/" * 500 + "b", "path", "a/" * 5_000),
        ("*a*/" * 1000 + "b", "path", "aaa/" * 1_100),
        ("/".join(["*a*a*a*a*b"] * 100), "path", "/".join(["a" * 100] * 100)),
        ("**/*a*a*a*a*a*a*b", "path", "a" * 4_000),
        ("**/*a*a/**/*a*a/**/*b", "path", "aaaa/" * 800),
    ],
)
def test_hostile_patterns_are_judged_without_running_wild(
    pattern: str, flavour: Flavour, text: str
) -> None:
    # With backtracking none of these would end within a test's twenty seconds, or a lifetime.
    assert not _fits(pattern, text, flavour)
