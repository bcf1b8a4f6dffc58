"""The rules of a `.gitignore`: as git itself reads them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holdfast.tools.code.ignore_rules import GivenUp, ignored, read_rules

NAMES = ("a", "b", "ab", "a b", "x.py", "a*", "[a]", "-", "!a", "#a", "a\\")
names = st.sampled_from(NAMES)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)
PIECES = (
    "a", "b", "*", "?", "**", "/", "/**/", "**/", "[ab]", "[!a]", "[a-c]", "!", "#", "\\", "\\*",
    " ", "x", ".py", "[", "]", "-", "[]a]", "[a",
)  # fmt: skip
pieces = st.sampled_from(PIECES)
# Two stars glued to a name mean one star, and git itself reads them in more than one way.
GLUED = re.compile(r"[^/!]\*\*|\*\*[^/]|\*\*\*")
lines = (
    st.lists(pieces, min_size=1, max_size=5)
    .map("".join)
    .filter(lambda line: not GLUED.search(line))
)


def ours(text: str, path: str) -> bool:
    """As a walk asks: from the top down, and what is below an ignored directory is ignored."""
    layers = [("", read_rules(text))]
    parts = path.split("/")
    return any(
        ignored(layers, "/".join(parts[:depth]), is_directory=depth < len(parts))
        for depth in range(1, len(parts) + 1)
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, min_size=1, max_size=4), st.lists(paths, min_size=1, max_size=6))
@example(["[a/[ab]"], ["a", "b", "a/b"])
@example(["a[/]b", "[!/]x", "b/[a/"], ["a/b", "a", "bx", "b/a"])
def test_it_ignores_what_git_ignores(tmp_path: Path, rules: list[str], asked: list[str]) -> None:
    if not (tmp_path / ".git").exists():
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    text = "\n".join(rules)
    (tmp_path / ".gitignore").write_text(text, encoding="utf-8")
    command = ["git", "check-ignore", "--no-index", "-z", "--stdin"]
    told = subprocess.run(
        command, cwd=tmp_path, input="\0".join(asked).encode(), capture_output=True, check=False
    )
    theirs = set(told.stdout.decode().split("\0")) - {""}
    assert {path for path in asked if ours(text, path)} == theirs


def test_the_deepest_file_has_the_word() -> None:
    layers = [("src", read_rules("!keep.log")), ("", read_rules("*.log"))]
    assert ignored(layers, "src/a.log", is_directory=False)
    assert not ignored(layers, "src/keep.log", is_directory=False)


@pytest.mark.timeout(10)
def test_no_pattern_takes_long() -> None:
    rules = read_rules("\n".join(["*a" * 150 + "b", "**/" * 100 + "x", "[" * 300]))
    assert not ignored([("", rules)], "/".join(["a" * 200] * 40), is_directory=False)


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    ignored([("", read_rules(text))], "a/b", is_directory=True)


def test_whoever_asks_may_give_up_between_two_rules() -> None:
    asked: list[int] = []

    def go_on() -> bool:
        asked.append(1)
        return len(asked) <= 2

    layers = [("a", read_rules("x\n")), ("", read_rules("x\ny\nz\n"))]
    with pytest.raises(GivenUp):
        ignored(layers, "a/b", is_directory=False, go_on=go_on)
    assert len(asked) == 3


def test_what_comes_behind_the_last_star_is_compared_once() -> None:
    rules = read_rules("\n".join(["**/*" + "a" * 120 + "b"] * 1_000))
    assert not ignored([("", rules)], "/".join(["a" * 250] * 14), is_directory=True)
