"""Path patterns against a slow matcher that follows the definition word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import InvalidArguments
from holdfast.execution.search.patterns import (
    DEEP,
    compiled,
    literal_part,
    ripgrep_glob,
    segments_of,
    tail_of,
)
from holdfast.execution.search.reading import paths_ending

NAMES = st.text("ab.[]{é€*?", min_size=1, max_size=5).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(NAMES, min_size=1, max_size=5)
SEGMENTS = st.one_of(st.just(DEEP), st.text("ab.*?[]{é€", min_size=1, max_size=6)).filter(
    lambda one: one not in {".", ".."}
)
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=5).map(tuple)


def name_fits(name: str, wanted: str) -> bool:
    if not wanted:
        return not name
    if wanted[0] == "*":
        return any(name_fits(name[at:], wanted[1:]) for at in range(len(name) + 1))
    return bool(name) and wanted[0] in ("?", name[0]) and name_fits(name[1:], wanted[1:])


def path_fits(names: list[str], segments: tuple[str, ...]) -> bool:
    if not segments:
        return not names
    first, *rest = segments
    if first == DEEP:
        if not rest:
            return bool(names)
        return any(path_fits(names[at:], tuple(rest)) for at in range(len(names) + 1))
    return bool(names) and name_fits(names[0], first) and path_fits(names[1:], tuple(rest))


def fits(path: str, pattern: str) -> bool:
    return compiled(segments_of(pattern)[0])(path.encode()) is not None


@given(PATHS, PATTERNS)
def test_a_path_fits_as_the_definition_says(names: list[str], segments: tuple[str, ...]) -> None:
    found = compiled(segments)("/".join(names).encode()) is not None
    # A run of `**` at the end is one `**`: each of them alone stands for none or more levels.
    wanted = [
        one for at, one in enumerate(segments) if one != DEEP or segments[at - 1 : at] != (DEEP,)
    ]
    assert found == path_fits(names, tuple(wanted))


@given(st.lists(PATHS, max_size=6), PATTERNS)
def test_what_fits_is_among_what_is_looked_for_first(
    paths: list[list[str]], segments: tuple[str, ...]
) -> None:
    given_paths = ["/".join([".", *names]).encode() for names in paths]
    text = b"".join(path + b"\0" for path in given_paths)
    found = [*paths_ending(text, tail_of(segments))]
    left = iter(given_paths)
    assert all(path in left for path in found)  # in their order, and each once
    fitting = [path for path in given_paths if compiled(segments)(path[2:]) is not None]
    assert [path for path in found if path in fitting] == fitting


@given(st.lists(PATHS, max_size=6), st.text("ab.é", max_size=2))
def test_of_a_star_and_an_ending_the_tail_says_all(paths: list[list[str]], ending: str) -> None:
    given_paths = ["/".join([".", *names]) for names in paths]
    text = "".join(path + "\0" for path in given_paths).encode()
    wanted = [path.encode() for path in given_paths if path.endswith(ending)]
    assert [*paths_ending(text, tail_of((DEEP, f"*{ending}")))] == wanted


def test_a_hostile_name_costs_no_more_than_its_length_times_what_it_repeats() -> None:
    """Each beginning is followed to the end of its name, and never back."""
    tail = tail_of((DEEP, "*ab*ab*ab*ab*ab*.rs"))
    text = (b"./" + b"ab" * 120 + b"\0") * 20_000
    assert [*paths_ending(text, tail)] == []


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("*.py", "a.py", True),
        ("*.py", "a/b.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("a/**/b", "a/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("*", ".hidden", True),
        ("?", "é", True),
        ("?", "éa", False),
        ("a[bc]", "ab", False),
        ("a[bc]", "a[bc]", True),
        ("*??", "€", False),
        ("*??", "€a", True),
        ("*?a?*", "€a€", True),
        ("{a,b}", "a", False),
        ("{a,b}", "{a,b}", True),
        ("a?b", "a/b", False),
        ("./src//*.py", "src/a.py", True),
    ],
)
def test_examples(pattern: str, path: str, wanted: bool) -> None:
    assert fits(path, pattern) is wanted


def test_no_pattern_makes_matching_slow() -> None:
    """Without care, each further star would multiply the time by the length of the name."""
    assert not fits("a" * 255, "*a" * 30 + "*b")
    assert not fits("a/" * 200 + "a", "**/a/" * 20 + "b")


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../b", ".", "a\0b", "x" * 5000])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        segments_of(pattern)
    assert refused.value.field == "pattern"


def test_what_ripgrep_is_told() -> None:
    assert ripgrep_glob("a**[b]{c}!") == r"a*\[b\]\{c\}\!"
    assert ripgrep_glob("a:b") == "a?b"
    assert literal_part(("src", "lib", DEEP, "*.py")) == 2
    assert literal_part(("src", "lib")) == 1
