"""The whole tree of commands: each has examples that it understands, and says how it ends."""

import re
import shlex

import pytest
from command import Cli

from holdfast.surfaces.cli.catalogue import module_of, parser_of, parsers
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.verbs import BY_NAME, VERBS

NODES = [(verb.name, *more) for verb, parser in parsers() for more in ((), *zip(parser.after))]
"""Every verb, and every word that is one of its first."""
STATUSES = {0, 1, 2, 3, 4}
"""Done, failed, not understood, refused, waits for a person."""
_COMMAND = re.compile(r"^  holdfast (.+?)(?:  +.*)?$", re.MULTILINE)
_EXIT = re.compile(r"^  (\d+)  (.+)$", re.MULTILINE)


def _part(text: str, title: str) -> str:
    """What stands below a heading of a help text."""
    found = re.search(rf"^{title}:\n((?:(?:  .*)?\n)+)", text + "\n", re.MULTILINE)
    assert found is not None, f"no {title}"
    return found[1]


def _parser(verb: str) -> Parser:
    return parser_of(BY_NAME[verb], module_of(BY_NAME[verb]))


def test_the_tree_is_what_there_is() -> None:
    assert {node[0] for node in NODES} == {verb.name for verb in VERBS}
    assert len(NODES) > 50


@pytest.mark.parametrize("node", NODES, ids=" ".join)
def test_each_shows_an_example_of_itself_that_it_understands(
    cli: Cli, node: tuple[str, ...]
) -> None:
    shown = cli(*node, "--help")
    assert (shown.status, shown.err) == (0, "")
    examples = [
        shlex.split(re.split(r" [|>] ", line)[0])
        for line in _COMMAND.findall(_part(shown.out, "examples"))
    ]
    assert [words for words in examples if tuple(words[: len(node)]) == node]
    for words in examples:  # some show what follows
        _parser(words[0]).parse_intermixed_args(words[1:])


@pytest.mark.parametrize("node", NODES, ids=" ".join)
def test_each_says_how_it_ends(cli: Cli, node: tuple[str, ...]) -> None:
    told = _EXIT.findall(_part(cli(*node, "--help").out, "exit status"))
    numbers = [int(number) for number, _says in told]
    assert numbers == sorted(set(numbers))
    assert {0, 2} <= set(numbers) <= STATUSES
    assert cli(*node, "--no-such-option").status == 2


def test_a_word_tells_only_of_its_own_ends(cli: Cli) -> None:
    assert "  4  it waits for a person" in cli("sessions", "watch", "--help").out
    assert "  4  " not in cli("sessions", "show", "--help").out
    assert "  4  watch: it waits for a person" in cli("sessions", "--help").out
