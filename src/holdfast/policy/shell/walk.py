"""The state of one pass over the tree of a command text, and how the pass goes from node to node.

Which kind of node means what stands in `statements` and `simple`; a kind that nobody handles is a
doubt, never silence.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tree_sitter import Node

from holdfast.policy.shell.runs import left_out, lost_dash, piece, words_of
from holdfast.policy.shell.values import Redirection, Word, shown

DEEPEST = 50

# The grammar lets a line end pass in places where to bash the command is over.
_ONE_LINE = frozenset({
    "command", "declaration_command", "file_redirect", "herestring_redirect",
    "redirected_statement", "unset_command",
})  # fmt: skip

_ENDS_A_WORD = frozenset({
    b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"<", b">", b"(", b")", b"`",
})  # fmt: skip

SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_PUNCTUATION = frozenset({
    ";", "&&", "||", "|", "|&", "(", ")", "{", "}", "!", "if", "then", "elif", "else", "fi",
    "while", "until", "do", "done", "$(", "`", "<(", ">(",
})  # fmt: skip


class Walk:
    """What one text holds: filled while its nodes are visited."""

    def __init__(self, source: bytes, handlers: "Mapping[str, Handler]") -> None:
        self.source = source
        self.commands: list[list[Word]] = []
        self.redirections: list[Redirection] = []
        self.doubts: list[str] = []
        self.background = False
        self.assigns = False
        self._handlers = handlers
        self._depth = 0

    def visit(self, node: Node) -> None:
        """Collect from one statement."""
        self._depth += 1
        if self._depth > DEEPEST:
            self.doubts.append("the text is nested too deeply")
        else:
            self.check_gaps(node)
            self._handlers.get(node.type, _unknown)(self, node)
        self._depth -= 1

    def check_gaps(self, node: Node) -> None:
        """Doubt what the grammar silently left out between the children of a node."""
        children = node.children
        if children:
            # The root begins and ends where the text does, not where its children do.
            start, end = (0, len(self.source)) if self._depth == 1 else node.byte_range
            if lost_dash(self.source, node):
                children = children[1:]
                start = children[0].start_byte
            lines = node.type not in _ONE_LINE
            gap = left_out(self.source, children, start, end, lines=lines)
            if gap is not None:
                self.doubts.append(f"{shown(gap)} is not understood here")

    def check_end(self, node: Node) -> None:
        """Doubt a node that ends where to bash the word goes on."""
        end = node.end_byte
        if self.source[end : end + 1] not in _ENDS_A_WORD:
            self.doubts.append(f"{shown(self.text_of(node))} does not end where a word ends")

    def visit_all(self, nodes: Iterable[Node]) -> None:
        """Collect from statements and what stands between them."""
        for node in nodes:
            kind = node.type
            if kind == "&":
                self.background = True
                self.doubts.append("`&` leaves a command running in the background")
            elif kind not in _PUNCTUATION:
                self.visit(node)

    def substitutions(self, node: Node) -> None:
        """Collect from the commands inside words, however deep they stand."""
        waiting = [node]
        while waiting:
            current = waiting.pop()
            if current.type in SUBSTITUTIONS:
                self.visit(current)
            else:
                waiting.extend(reversed(current.children))

    def loose_words(self, nodes: Sequence[Node]) -> None:
        """Words that are no part of a command: what a loop runs over, what a case looks at."""
        for word in words_of(self.source, nodes):
            if word.doubt is not None:
                self.doubts.append(word.doubt)
        for node in nodes:
            self.substitutions(node)

    def text_of(self, node: Node) -> str:
        """The text of one node."""
        return piece(self.source, node)


Handler = Callable[[Walk, Node], None]


def _unknown(walk: Walk, node: Node) -> None:
    what = "cannot be parsed" if node.is_error else f"is not understood here ({node.type})"
    walk.doubts.append(f"{shown(walk.text_of(node))} {what}")
    walk.visit_all(child for child in node.children if child.is_named)
