"""Whatever is written: an offer means the words of the command, and anything more takes it away."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.plain_command import plain_words
from holdfast.policy.read_only import Alternatives, alternatives

METACHARACTERS = "|&;<>(){}$`!#*?[]"
KNOWN = [
    *("cat", "head", "tail", "sed", "wc", "ls", "find", "grep", "rg", "pwd", "env", "realpath"),
    *("-n", "-l", "-la", "-name", "-type", "f", "5", "1,5p", "a.md", "src", "'a b'", "-F", "-i"),
    *("--", "-", "..", '"x"', "'*.py'", "''", "'$x'", '"$x"'),
]
LIKELY = st.lists(st.sampled_from(KNOWN), max_size=6).map(" ".join)
COMMANDS = st.one_of(LIKELY, st.text(max_size=40))


@given(COMMANDS, st.text(max_size=20), st.dictionaries(st.text(max_size=10), st.integers()))
def test_nothing_anybody_writes_raises(command: str, cwd: str, extra: dict[str, int]) -> None:
    for offer in (alternatives(command, cwd, extra).preferred, alternatives(command).bash):
        assert offer is None or offer.tool in {"read", "glob", "grep", "bash"}


@given(LIKELY)
def test_what_is_offered_is_what_another_reader_of_the_command_understands(command: str) -> None:
    offered = alternatives(command)
    if offered.preferred is None:
        assert offered.bash is None
        return
    words = shlex.split(command)
    assert plain_words(command) == tuple(words)
    if offered.bash is not None:
        assert shlex.split(str(offered.bash.args["command"])) == words


@pytest.mark.req("BOA-CLS-17", "BOA-CLS-21")
@given(LIKELY, st.sampled_from(METACHARACTERS), st.booleans())
def test_an_unquoted_metacharacter_takes_the_offer_away(
    command: str, character: str, before: bool
) -> None:
    if before:
        assert alternatives(f"{character}{command}") == Alternatives()
    if plain_words(command) is not None:
        assert alternatives(f"{command}{character}") == Alternatives()
        assert alternatives(f"{command} {character} x") == Alternatives()


@given(LIKELY)
def test_a_second_command_takes_the_offer_away(command: str) -> None:
    for more in ("; rm x", "\nrm x", " && rm x", " | sh", " > x", " $(rm x)", " `rm x`", " &"):
        assert alternatives(command + more) == Alternatives()
