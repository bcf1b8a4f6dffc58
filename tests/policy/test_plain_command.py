"""One plain command gives the words a shell would see; any other text gives none."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.policy.plain_command import plain_words

METACHARACTERS = "|&;<>(){}$`!#*?[]"
PIECES = st.sampled_from([*"ab/=:~-. \t'\"\\|;&$*#é\x00\n\x85", "''", '""', "cat ", " x", "A="])
COMMANDS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=30))


@pytest.mark.req("BOA-CLS-22")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat a", ("cat", "a")),
        (" \tcat \t a\t", ("cat", "a")),
        ("cat 'a b' \"c d\"", ("cat", "a b", "c d")),
        ("cat \"a\"b'c'", ("cat", "abc")),
        ("c'a't x", ("cat", "x")),
        ("cat '' \"\" a''", ("cat", "", "", "a")),
        ("""cat "it's" 'say "x"'""", ("cat", "it's", 'say "x"')),
        ("cat a=b ./c +5 -n % @ , ^ é", ("cat", "a=b", "./c", "+5", "-n", "%", "@", ",", "^", "é")),
        ("cat 'a", None),
        ('cat "a', None),
        ("cat a'", None),
    ],
)
def test_words_are_blank_separated_runs_of_bare_and_quoted_parts(
    command: str, words: tuple[str, ...] | None
) -> None:
    assert plain_words(command) == words


@pytest.mark.req("BOA-CLS-20")
@pytest.mark.parametrize("quote", ["", "'", '"'])
@pytest.mark.parametrize(
    "character", [*"\n\r\0\\\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x80\x85\x9f", "\ud800"]
)
def test_a_control_character_or_backslash_refuses_even_in_quotes(
    character: str, quote: str
) -> None:
    assert plain_words(f"cat {quote}a{character}b{quote}") is None


@pytest.mark.req("BOA-CLS-21")
@pytest.mark.parametrize("character", METACHARACTERS)
def test_a_metacharacter_counts_outside_quotes_only(character: str) -> None:
    for command in (f"cat a{character}b", f"cat {character}", f"{character}cat a"):
        assert plain_words(command) is None
    assert plain_words(f"cat 'a{character}b'") == ("cat", f"a{character}b")
    expanded = character in "$`"
    assert plain_words(f'cat "a{character}b"') == (None if expanded else ("cat", f"a{character}b"))


@pytest.mark.req("BOA-CLS-21")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat ~", None),
        ("cat ~/x", None),
        ("cat a ~ada/x", None),
        ("cat ''~", None),
        ("cat a=~/x", None),  # bash expands this one although it is no assignment
        ("cat a=b:~/x", None),
        ("cat a~", ("cat", "a~")),
        ("cat a~b~", ("cat", "a~b~")),
        ("cat '~'", ("cat", "~")),
        ("cat '~'a~", ("cat", "~a~")),
        ('cat "~/x"', ("cat", "~/x")),
    ],
)
def test_a_tilde_refuses_where_a_shell_would_expand_it(
    command: str, words: tuple[str, ...] | None
) -> None:
    assert plain_words(command) == words


@pytest.mark.req("BOA-CLS-23")
@pytest.mark.parametrize(
    "command",
    ["", "  ", "A=1", "A=1 cat x", "_a1=x cat", "A+=x cat", "/bin/cat x", "./cat x", "'' x"],
)
def test_the_first_word_is_a_bare_program_name(command: str) -> None:
    assert plain_words(command) is None


@given(COMMANDS)
def test_the_words_are_those_of_another_reader(command: str) -> None:
    words = plain_words(command)
    assert words is None or list(words) == shlex.split(command)


@given(COMMANDS, st.sampled_from(METACHARACTERS), COMMANDS)
def test_no_text_around_it_hides_an_unquoted_metacharacter(
    before: str, character: str, after: str
) -> None:
    if plain_words(f"x {before}") is not None:  # its quotes are closed
        assert plain_words(f"x {before}{character}{after}") is None


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(command=st.lists(PIECES, max_size=12).map(lambda pieces: "x " + "".join(pieces)))
def test_bash_itself_sees_the_same_words(command: str, tmp_path: Path) -> None:
    words = plain_words(command)
    if words is None:
        return
    seen = subprocess.run(
        ["bash", "-c", f"set -- {command}\nprintf '%s\\0' \"$@\""],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    ).stdout
    assert tuple(seen.decode().split("\0")[:-1]) == words


def test_a_huge_command_is_read_in_one_pass() -> None:
    words = plain_words("cat " + "a'b'" * 300_000)
    assert words is not None
    assert len(words[1]) == 600_000
