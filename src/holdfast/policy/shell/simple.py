"""Simple commands in the tree: words, redirections, and the nodes that are a builtin."""

import itertools
import re
from collections.abc import Iterator

from tree_sitter import Node

from holdfast.policy.shell.redirects import here_document, opened_by
from holdfast.policy.shell.runs import lost_dash, words_of
from holdfast.policy.shell.tame import HARMLESS_ASSIGNMENT, settled
from holdfast.policy.shell.values import Word, shown
from holdfast.policy.shell.walk import Handler, Walk
from holdfast.policy.shell.words import read_word

_WORDS = frozenset({
    "command_name", "word", "number", "string", "raw_string", "ansi_c_string",
    "translated_string", "concatenation", "simple_expansion", "expansion",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
    "extglob_pattern", "variable_name", "special_variable_name", "$", "==", "=~",
})  # fmt: skip
_EXPRESSIONS = frozenset({"unary_expression", "binary_expression", "parenthesized_expression"})
_TEST_OPERATORS = frozenset({"==", "=", "!=", "=~", "<", ">", "&&", "||", "!", "(", ")"})
_ONLY_IN_DOUBLE_BRACKETS = _TEST_OPERATORS - {"==", "=", "!=", "!"}
_NUMBER_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_NUMBER_BEFORE = re.compile(rb"(?<![^\s;&|()<>])\d+\Z")
_BEGINS = re.compile(rb"(?:(?<![^\s;&|()<>])\d+)?(?:[<>]|(?<!;)&>)")  # `;&` is one piece
_INTEGER = re.compile(r'-?[0-9]+|\$[?#$]|"\$[?#$]"')


def command(walk: Walk, node: Node) -> None:
    """A command node: words, with redirections and assignments among them."""
    _command_with(walk, node, [])


def _command_with(walk: Walk, node: Node, more: list[Word]) -> None:
    walk.check_end(node)
    words: list[Word] = []
    segment: list[Node] = []
    others: list[Node] = []
    for child in node.children:
        if child.type in _WORDS:
            segment.append(child)
        else:
            words += words_of(walk.source, segment)
            segment = []
            if words or not _is_harmless(walk, child):
                words += _between(walk, child)
            others.append(child)
    words += words_of(walk.source, segment)
    words += more
    dynamic = [word.doubt for word in words if word.doubt is not None]
    if dynamic:
        words, doubts = settled(words)
        walk.doubts += doubts
    _add(walk, words)
    if dynamic or others:
        walk.substitutions(node)


def _is_harmless(walk: Walk, node: Node) -> bool:
    """A variable set in front of a command that cannot make it another one."""
    if node.type != "variable_assignment" or not HARMLESS_ASSIGNMENT.fullmatch(walk.text_of(node)):
        return False
    walk.check_end(node)
    walk.assigns = True
    return True


def _add(walk: Walk, words: list[Word]) -> None:
    if words:
        walk.commands.append(words)


def _between(walk: Walk, node: Node) -> list[Word]:
    """What stands among the words of a command and is none of them."""
    match node.type:
        case "file_redirect":
            return _file(walk, node)
        case "herestring_redirect":
            _check_redirect(walk, node)
            _here_string(walk, node)
        case "variable_assignment":
            walk.doubts.append(
                f"the assignment {shown(walk.text_of(node))} in front of a command changes it"
            )
        case _:
            walk.doubts.append(f"{shown(walk.text_of(node))} stands inside a command")
            walk.visit(node)
    return []


def _check_redirect(walk: Walk, node: Node) -> None:
    """The grammar and bash may differ on where a redirection begins and where it ends."""
    walk.check_gaps(node)
    if _NUMBER_BEFORE.search(walk.source, 0, node.start_byte):
        walk.doubts.append(f"a number touches {shown(walk.text_of(node))}")
    elif not _BEGINS.match(walk.source, node.start_byte):
        walk.doubts.append(f"{shown(walk.text_of(node))} does not begin like a redirection")
    walk.check_end(node)


def _file(walk: Walk, node: Node) -> list[Word]:
    _check_redirect(walk, node)
    opened = opened_by(walk.source, node)
    walk.redirections += opened.redirections
    walk.doubts += opened.doubts
    walk.doubts += [word.doubt for word in opened.words if word.doubt is not None]
    return opened.words


def _here_string(walk: Walk, node: Node) -> None:
    words = words_of(walk.source, [c for c in node.children if c.type in _WORDS])
    walk.doubts += [word.doubt for word in words if word.doubt is not None]


def lone_file(walk: Walk, node: Node) -> None:
    """A redirection without a command, as in ``$(< file)``."""
    _add(walk, _file(walk, node))
    walk.substitutions(node)


def redirected(walk: Walk, node: Node) -> None:
    """A statement with redirections; words behind a redirection belong to its command."""
    bodies: list[Node] = []
    more = [read_word("-")] if lost_dash(walk.source, node) else []
    later: list[Node] = []
    redirects: list[Node] = []
    for child in node.children:
        match child.type:
            case "file_redirect" | "herestring_redirect":
                more += _between(walk, child)
                redirects.append(child)
            case "heredoc_redirect":
                more += _here_document(walk, child, later, redirects)
            case _:
                bodies.append(child)
    _bodies(walk, bodies, more)
    for redirect in redirects:
        walk.substitutions(redirect)
    walk.visit_all(later)


def _here_document(walk: Walk, node: Node, later: list[Node], redirects: list[Node]) -> list[Word]:
    _check_redirect(walk, node)
    parts = here_document(walk.source, node)
    walk.doubts += parts.doubts
    walk.doubts += [word.doubt for word in parts.words if word.doubt is not None]
    later += parts.statements
    redirects += (*parts.arguments, *parts.redirects, *(parts.bodies if parts.doubts else ()))
    words = parts.words
    for redirect in parts.redirects:
        words = words + _between(walk, redirect)
    return words


def _bodies(walk: Walk, bodies: list[Node], more: list[Word]) -> None:
    if len(bodies) == 1 and bodies[0].type == "command":
        walk.check_gaps(bodies[0])
        _command_with(walk, bodies[0], more)
        return
    walk.visit_all(bodies)
    if more and bodies:
        walk.doubts.append(f"{shown(more[0].source)} stands behind a redirection")
    if more and bodies and walk.commands:
        walk.commands[-1] = walk.commands[-1] + more
    else:
        _add(walk, more)


def test(walk: Walk, node: Node) -> None:
    """``[ ... ]`` and ``[[ ... ]]``: a builtin and a keyword that can still evaluate text."""
    leaves = list(_leaves(walk, node))
    words = [
        Word(leaf.type, leaf.type)
        if leaf.type in _TEST_OPERATORS
        else read_word(walk.text_of(leaf))
        for leaf in leaves
    ]
    walk.commands.append(words)
    walk.doubts += [word.doubt for word in words if word.doubt and word.shape != "number"]
    for before, after in itertools.pairwise(leaves):
        if before.end_byte == after.start_byte:
            walk.doubts.append(f"{shown(walk.text_of(node))} is not a test: a blank is missing")
    walk.doubts += _test_doubts(words)
    walk.substitutions(node)


def _leaves(walk: Walk, node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type in _EXPRESSIONS:
            walk.check_gaps(child)
            yield from _leaves(walk, child)
        else:
            yield child


def _test_doubts(words: list[Word]) -> Iterator[str]:
    double = words[0].literal == "[["
    numbers = [_INTEGER.fullmatch(word.source) for word in words]
    literals = [word.literal for word in words]
    for place, (before, word, after) in enumerate(
        zip(literals, literals[1:], literals[2:], strict=False)
    ):
        if word in {"-v", "-R"} or (before == "-" and word in {"v", "R"}):
            yield f"the test {shown(word)} can evaluate a subscript"
        if not double and word in _ONLY_IN_DOUBLE_BRACKETS:
            yield f"{shown(word)} means something else inside `[`"
        if double and word in _NUMBER_TESTS and not (numbers[place] and numbers[place + 2]):
            yield f"{shown(f'{before} {word} {after}')} evaluates names"


def declaration(walk: Walk, node: Node) -> None:
    """export, declare, local, readonly, typeset, unset: builtins that change variables."""
    words = words_of(walk.source, node.children)
    walk.commands.append(words)
    walk.doubts.append(f"{shown(walk.text_of(node))} changes variables")
    walk.substitutions(node)


def assignment(walk: Walk, node: Node) -> None:
    """A variable set for everything that follows."""
    walk.doubts.append(f"the assignment {shown(walk.text_of(node))} changes what follows")
    walk.substitutions(node)


def arithmetic(walk: Walk, node: Node) -> None:
    """``(( ... ))``: with a name in it, it evaluates text."""
    if not re.fullmatch(r"[\d\s()+*/%<>=!&|^~?:,-]*", walk.text_of(node)):
        walk.doubts.append(f"the arithmetic {shown(walk.text_of(node))} evaluates names")
        walk.substitutions(node)


SIMPLE: dict[str, Handler] = {
    "command": command,
    "redirected_statement": redirected,
    "file_redirect": lone_file,
    "test_command": test,
    "declaration_command": declaration,
    "unset_command": declaration,
    "variable_assignment": assignment,
    "variable_assignments": assignment,
}
