"""Compound statements in the tree: lists, groups, loops, conditions, functions, substitutions."""

import re

from tree_sitter import Node

from holdfast.policy.shell.simple import SIMPLE, arithmetic
from holdfast.policy.shell.values import shown
from holdfast.policy.shell.walk import Handler, Walk

_LOOP_PUNCTUATION = frozenset({"for", "select", "in", ";", "variable_name"})
_BODIES = frozenset({"do_group", "compound_statement"})
_OPENS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "("})
_ENDS_A_BLOCK = _OPENS | {"fi", "done", "}", ")", "elif_clause", "else_clause", "do_group"}
_BEFORE_ESAC = re.compile(rb"(?:[;&)\n]|\sin)[ \t]*esac\Z")
_PIPES = frozenset({"|", "|&"})
_TIMES = re.compile(rb"time(?=\s|\Z)")
_LINE_END = ord("\n")
_NEGATES = re.compile(rb"!(?=[\s;&|<>()]|\Z)")
_JOINTS = _PIPES | {"&&", "||"}
# Other names may steer a program: PATH, IFS, LD_PRELOAD, http_proxy.
_HARMLESS_NAME = re.compile(r"[a-z][a-z0-9]*")


def statements(walk: Walk, node: Node) -> None:
    """Everything that only holds other statements."""
    walk.visit_all(node.children)


def joined(walk: Walk, node: Node) -> None:
    """Statements with operators between: an operator begins no line, `!` stands behind no pipe."""
    end, pipe = 0, False
    for child in node.children:
        if child.type in _JOINTS:
            pipe = child.type in _PIPES
            if b"\n" in walk.source[end : child.start_byte].replace(b"\\\n", b""):
                walk.doubts.append(f"{shown(child.type)} begins a line")
        elif pipe and _NEGATES.match(walk.source, child.start_byte):
            walk.doubts.append(f"{shown(walk.text_of(node))} has `!` in the middle")
        elif pipe and _TIMES.match(walk.source, child.start_byte) and walk.source[end] == _LINE_END:
            # Behind a pipe `time` is a program, but a keyword on the next line.
            walk.doubts.append(f"{shown(walk.text_of(node))} has `time` in the middle")
        end = child.end_byte
    walk.visit_all(node.children)


def check_keywords(walk: Walk, node: Node) -> None:
    """A keyword that touches other letters is none to bash."""
    for child in node.children:
        if not child.is_named and child.type.isalpha():
            walk.check_end(child)


def block(walk: Walk, node: Node) -> None:
    """Statements between keywords; the grammar lets there be none, bash does not."""
    check_keywords(walk, node)
    waiting = ""
    for child in node.children:
        kind = child.type
        if waiting and kind in _ENDS_A_BLOCK:
            break
        if kind in _OPENS:
            waiting = kind
        elif child.is_named and kind != "comment":
            waiting = ""
    if waiting:
        walk.doubts.append(f"no command follows {shown(waiting)} in {shown(walk.text_of(node))}")
    walk.visit_all(node.children)


def group(walk: Walk, node: Node) -> None:
    """``{ ... }``, or arithmetic that the grammar calls a group."""
    if node.children[0].type == "((":
        arithmetic(walk, node)
        return
    if walk.source[node.start_byte + 1 : node.start_byte + 2] not in {b" ", b"\t", b"\n"}:
        walk.doubts.append(f"{shown(walk.text_of(node))} is no group: a blank is missing")
    block(walk, node)


def comment(walk: Walk, node: Node) -> None:
    """A comment, if bash sees one there too."""
    start, end = node.start_byte, node.end_byte
    before = walk.source[max(start - 2, 0) : start]
    starts = before in {b"", b"\n"} or (before[-1:] in b" \t\n;&|()" and before[:-1] != b"\\")
    if not starts or walk.source[end : end + 1] not in {b"", b"\n"}:
        walk.doubts.append(f"{shown(walk.text_of(node))} may not be a comment")


def loop(walk: Walk, node: Node) -> None:
    """for and select."""
    check_keywords(walk, node)
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
    check_keywords(walk, node)
    items = [child for child in node.children if child.type == "case_item"]
    words = [child for child in node.children if child.is_named and child.type != "case_item"]
    walk.loose_words([child for child in words if child.type != "comment"])
    if any(child.type == ";" for child in node.children):
        walk.doubts.append("`;` stands in the head of a `case`")
    if not _BEFORE_ESAC.search(walk.source, node.start_byte, node.end_byte):
        walk.doubts.append("the keyword `esac` stands where it is an argument")
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
            "if_statement", "elif_clause", "else_clause", "while_statement", "do_group",
            "subshell",
        ),
        block,
    ),
    **dict.fromkeys(("program", "negated_command"), statements),
    **dict.fromkeys(("list", "pipeline"), joined),
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
