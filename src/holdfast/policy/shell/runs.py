"""From nodes of the tree to words of bash: what touches is one word, what lies between is blank."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from holdfast.policy.shell.values import Word, shown
from holdfast.policy.shell.words import read_word

_BLANK = re.compile(rb"(?:[ \t]|\\\n)+")


_SPACE = re.compile(rb"(?:[ \t\n]|\\\n)*")


def skipped(source: bytes, nodes: Sequence[Node], start: int, end: int) -> str | None:
    """What between the nodes, from start to end, the grammar left out although it is not blank.

    It does so without an error, as with the dash in ``cat - 2>&1``.
    """
    for node in nodes:
        first = node.start_byte
        if first != start and not _SPACE.fullmatch(source, start, first):
            return source[start:first].decode("utf-8", "replace")
        start = node.end_byte
    if start != end and not _SPACE.fullmatch(source, start, end):
        return source[start:end].decode("utf-8", "replace")
    return None


def piece(source: bytes, node: Node) -> str:
    """The text of one node."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def words_of(source: bytes, nodes: Sequence[Node], doubts: list[str]) -> list[Word]:
    """Read the nodes as words; the doubts get what lies between them and is not blank."""
    words: list[Word] = []
    start = end = -1
    for node in nodes:
        first = node.start_byte
        if first != end:
            if end >= 0:
                words.append(read_word(source[start:end].decode("utf-8", "replace")))
                gap = source[end:first]
                if gap != b" " and not _BLANK.fullmatch(gap):
                    doubts.append(f"{shown(gap.decode('utf-8', 'replace'))} between two words")
            start = first
        end = node.end_byte
    if end >= 0:
        words.append(read_word(source[start:end].decode("utf-8", "replace")))
    return words
