"""Redirections and here-documents: which files the shell itself opens, and what else hides there.

The grammar hangs words, pipelines and lists that follow a redirection below its node; they are
handed back to the walk. A here-string or here-document is no file.
"""

import re

import msgspec
from tree_sitter import Node

from holdfast.policy.shell.runs import piece, words_of
from holdfast.policy.shell.values import Redirection, Word, shown

_READS = frozenset({"<"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>"})
_CLOSES = frozenset({">&-", "<&-"})
_COPIES = frozenset({">&", "<&"})
_DESCRIPTOR = re.compile(r"\d*-?")
_NETWORK = re.compile(r"/dev/(?:tcp|udp)/")
_DELIMITER = re.compile(r"""(?P<quote>['"]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P=quote)""")

_ENDS = frozenset({b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"<", b">", b")"})

# Writing to it changes nothing and reading it gives nothing: no file access to judge.
_NOWHERE = "/dev/null"


class Opened(msgspec.Struct):
    """What one redirection opens, and the words behind it that belong to the command."""

    redirections: list[Redirection]
    doubts: list[str]
    words: list[Word]


def opened_by(source: bytes, node: Node) -> Opened:
    """Read a file_redirect node."""
    opened = Opened([], [], [])
    operator = ""
    both = False
    targets: list[Node] = []
    for child in node.children:
        if child.is_error:
            both = both or piece(source, child) == ">"
        elif child.type in _READS | _WRITES | _CLOSES | _COPIES:
            operator = child.type
        elif child.type != "file_descriptor":
            targets.append(child)
    words = words_of(source, targets)
    if operator not in _CLOSES and words:
        _open(opened, operator, words.pop(0), both=both)
    opened.words = words
    return opened


def _open(opened: Opened, operator: str, word: Word, *, both: bool) -> None:
    if operator in _COPIES:
        if _DESCRIPTOR.fullmatch(word.source):
            return
        # bash expands the word of `>&` twice, quotes or not.
        if operator == "<&" or word.source != word.literal:
            opened.doubts.append(f"{shown(f'{operator} {word.source}')} is not followed here")
    if word.doubt is not None or word.expands:
        opened.doubts.append(f"the redirection target {shown(word.source)} is not literal")
    elif _NETWORK.match(word.literal):
        opened.doubts.append(f"{shown(word.source)} opens a network connection")
    target = None if word.doubt is not None or word.expands else word.literal
    if target == _NOWHERE:
        return
    if both or operator not in _READS:
        opened.redirections.append(Redirection("write", target))
    if both or operator in _READS | {"<&"}:
        opened.redirections.append(Redirection("read", target))


class HereDocument(msgspec.Struct):
    """The parts of a heredoc_redirect node."""

    doubts: list[str]
    words: list[Word]
    redirects: list[Node]
    statements: list[Node]
    bodies: list[Node]
    arguments: list[Node]


def here_document(source: bytes, node: Node) -> HereDocument:
    """Sort the children of a here-document, and check where its body ends."""
    parts = HereDocument([], [], [], [], [], [])
    start: Node | None = None
    for child in node.children:
        match child.type:
            case "heredoc_start":
                start = child
            case "heredoc_body":
                parts.bodies.append(child)
            case "file_redirect" | "herestring_redirect":
                parts.redirects.append(child)
            case "<<" | "<<-" | "heredoc_end" | "&&" | "||" | "file_descriptor":
                pass
            case kind if kind in _ARGUMENTS:
                parts.arguments.append(child)
            case _:
                parts.statements.append(child)
    parts.words = words_of(source, parts.arguments)
    parts.doubts.extend(_body_doubts(source, node, start))
    return parts


_ARGUMENTS = frozenset({
    "word", "number", "string", "raw_string", "ansi_c_string", "concatenation",
    "simple_expansion", "expansion", "command_substitution", "$",
})  # fmt: skip


def _body_doubts(source: bytes, node: Node, start: Node | None) -> list[str]:
    """bash ends the body at the first line that is the delimiter; the grammar must agree."""
    delimiter = _DELIMITER.fullmatch(piece(source, start)) if start is not None else None
    # What touches the delimiter is part of it, although the grammar takes it for a word.
    if (
        start is None
        or delimiter is None
        or source[start.end_byte : start.end_byte + 1] not in _ENDS
    ):
        return ["a here-document with an unusual delimiter"]
    text = piece(source, node)
    first_line, _, rest = text.partition("\n")
    lines = rest.split("\n")
    if first_line.startswith("<<-"):
        lines = [line.lstrip("\t") for line in lines]
    name = delimiter["name"]
    line_end = source.find(b"\n", node.start_byte)
    # The body begins behind the first line end: what stands there is no command, quoted or not.
    strays = any(
        child.end_byte > line_end and child.type not in {"heredoc_body", "heredoc_end"}
        for child in node.children
    )
    if strays or first_line.count("<<") != 1 or "\\" in first_line:
        return ["a here-document whose first line cannot be followed"]
    alone = source[node.end_byte : node.end_byte + 1] in {b"", b"\n"}
    if not alone or name not in lines or lines.index(name) != len(lines) - 1:
        return [f"a here-document that does not end at its delimiter {shown(name)}"]
    body = rest[: rest.rfind(name)]
    if not delimiter["quote"] and any(mark in body for mark in "$`\\"):
        return [f"the here-document {shown(name)} holds expansions"]
    return []
