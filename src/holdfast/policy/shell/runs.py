"""From nodes of the tree to words of bash: what touches is one word, what lies between is blank."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from holdfast.policy.shell.values import Word
from holdfast.policy.shell.words import read_word

_BLANK = re.compile(rb"(?:[ \t]|\\\n)+")
_LONE_DASH = re.compile(rb"(?<!\\)[ \t]+-[ \t]+")
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect"})
_ONE_BLANK = ord(" ")
_BLANK_OR_LINES = re.compile(rb"(?:[ \t\n]|\\\n)*")


def left_out(
    source: bytes, nodes: Sequence[Node], start: int, end: int, *, lines: bool
) -> str | None:
    """What between the nodes, from start to end, the grammar left out although it is not blank.

    It does so without an error, as with the blank in ``ls \\ -x``. With ``lines`` a line end is
    blank, too.
    """
    blank = _BLANK_OR_LINES if lines else _BLANK
    for node in nodes:
        first = node.start_byte
        one_blank = first == start + 1 and source[start] == _ONE_BLANK
        if first != start and not one_blank and not blank.fullmatch(source, start, first):
            return source[start:first].decode("utf-8", "replace")
        start = node.end_byte
    if start != end and not blank.fullmatch(source, start, end):
        return source[start:end].decode("utf-8", "replace")
    return None


def lost_dash(source: bytes, statement: Node) -> bool:
    """Whether the grammar left out the last word of a command, a dash, before its redirections.

    It does so in ``git commit -F - <<'E'`` and ``cat - 2>&1``, and nothing else can stand there.
    """
    if statement.type != "redirected_statement" or statement.child_count == 1:
        return False
    body, redirect = statement.children[:2]
    return (
        body.type == "command"
        and redirect.type in _REDIRECTS
        and _LONE_DASH.fullmatch(source, body.end_byte, redirect.start_byte) is not None
    )


def piece(source: bytes, node: Node) -> str:
    """The text of one node."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def words_of(source: bytes, nodes: Sequence[Node]) -> list[Word]:
    """Read the nodes as words; what lies between them must be checked before."""
    words: list[Word] = []
    start = end = -1
    for node in nodes:
        first = node.start_byte
        if first != end:
            if end >= 0:
                words.append(read_word(source[start:end].decode("utf-8", "replace")))
            start = first
        end = node.end_byte
    if end >= 0:
        words.append(read_word(source[start:end].decode("utf-8", "replace")))
    return words
