"""Compound statements in the tree: lists, groups, loops, conditions, functions, substitutions."""

import re

from tree_sitter import Node

from holdfast.policy.shell.simple import SIMPLE, arithmetic
from holdfast.policy.shell.values import shown
from holdfast.policy.shell.walk import Handler, Walk

_LOOP_PUNCTUATION = frozenset({"for", "select", "in", ";", "variable_name"})
_BODIES = frozenset({"do_group", "compound_statement"})
# Other names may steer a program: PATH, IFS, LD_PRELOAD, http_proxy.
_HARMLESS_NAME = re.compile(r"[a-z][a-z0-9]*")


def statements(walk: Walk, node: Node) -> None:
    """Everything that only holds other statements."""
    walk.visit_all(node.children)


def pipeline(walk: Walk, node: Node) -> None:
    """Commands joined by pipes; only the first may be negated."""
    if any(child.type == "negated_command" for child in node.children[1:]):
        walk.doubts.append(f"{shown(walk.text_of(node))} has `!` in the middle")
    walk.visit_all(node.children)


def group(walk: Walk, node: Node) -> None:
    """``{ ... }``, or arithmetic that the grammar calls a group."""
    if node.children[0].type == "((":
        arithmetic(walk, node)
    else:
        walk.visit_all(node.children)


def comment(walk: Walk, node: Node) -> None:
    """A comment, if bash sees one there too."""
    start, end = node.start_byte, node.end_byte
    before = walk.source[max(start - 2, 0) : start]
    starts = before in {b"", b"\n"} or (before[-1:] in b" \t\n;&|()" and before[:-1] != b"\\")
    if not starts or walk.source[end : end + 1] not in {b"", b"\n"}:
        walk.doubts.append(f"{shown(walk.text_of(node))} may not be a comment")


def loop(walk: Walk, node: Node) -> None:
    """for and select."""
    words: list[Node] = []
    bodies: list[Node] = []
    for child in node.children:
        if child.type in _BODIES:
            bodies.append(child)
        elif child.type not in _LOOP_PUNCTUATION:
            words.append(child)
        elif child.type == "variable_name" and not _HARMLESS_NAME.fullmatch(walk.text_of(child)):
            walk.doubts.append(f"the loop sets {shown(walk.text_of(child))}")
    walk.loose_words(words)
    walk.visit_all(bodies)


def counting_loop(walk: Walk, node: Node) -> None:
    """for (( ... )): its arithmetic sets names."""
    walk.doubts.append("the counting loop evaluates names")
    for child in node.children:
        if child.type in _BODIES:
            walk.visit(child)
        else:
            walk.substitutions(child)


def case(walk: Walk, node: Node) -> None:
    """case WORD in ..."""
    items = [child for child in node.children if child.type == "case_item"]
    words = [child for child in node.children if child.is_named and child.type != "case_item"]
    walk.loose_words([child for child in words if child.type != "comment"])
    walk.visit_all(items)


def case_item(walk: Walk, node: Node) -> None:
    """One branch: patterns up to the bracket, statements behind it."""
    kinds = [child.type for child in node.children]
    bracket = kinds.index(")") if ")" in kinds else len(kinds)
    for pattern in node.children[:bracket]:
        if set("$`") & set(walk.text_of(pattern)):
            walk.doubts.append(f"the pattern {shown(walk.text_of(pattern))} is not literal")
        walk.substitutions(pattern)
    ends = {";;", ";&", ";;&"}
    walk.visit_all(child for child in node.children[bracket:] if child.type not in ends)


def function(walk: Walk, node: Node) -> None:
    """A function takes the place of the program of that name from here on."""
    head = [child for child in node.children if child.type in {"word", "extglob_pattern"}]
    name = walk.text_of(head[0]) if head else ""
    walk.doubts.append(f"the function {shown(name)} is defined")
    skipped = {"function", "word", "extglob_pattern"}
    walk.visit_all(child for child in node.children if child.type not in skipped)


def substitution(walk: Walk, node: Node) -> None:
    """A command inside a word; the word itself is a doubt already."""
    if node.children[0].type not in {"$(", "<(", ">("}:
        walk.doubts.append(f"backticks in {shown(walk.text_of(node))} run a command")
    walk.visit_all(node.children)


HANDLERS: dict[str, Handler] = {
    **SIMPLE,
    **dict.fromkeys(
        (
            "program", "list", "negated_command", "if_statement", "elif_clause",
            "else_clause", "while_statement", "do_group", "subshell",
        ),
        statements,
    ),
    "pipeline": pipeline,
    "compound_statement": group,
    "comment": comment,
    "for_statement": loop,
    "c_style_for_statement": counting_loop,
    "case_statement": case,
    "case_item": case_item,
    "function_definition": function,
    "command_substitution": substitution,
    "process_substitution": substitution,
}  # fmt: skip
