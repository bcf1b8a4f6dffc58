"""The public face of the package: a command text in, what it would run out.

`analyse` is total: it never raises, gives the same answer to the same text and takes bounded time.
It decides nothing; a text it could not wholly take apart has doubts, and whoever judges must not
let such a text pass in silence. The text is read as bash reads it when not interactive.
"""

import re
from collections.abc import Sequence

import tree_sitter_bash
from tree_sitter import Language, Parser

from holdfast.policy.shell import characters
from holdfast.policy.shell.admission import admits
from holdfast.policy.shell.canonical import canonical, canonical_pattern
from holdfast.policy.shell.inside import Inside
from holdfast.policy.shell.runners import BASH_ONLY
from holdfast.policy.shell.statements import HANDLERS
from holdfast.policy.shell.unwrap import inside
from holdfast.policy.shell.values import Command, Redirection, ShellText, Word, shown
from holdfast.policy.shell.walk import Walk
from holdfast.policy.shell.words import RESERVED

__all__ = [
    "analyse", "admits", "canonical_pattern", "Command", "Redirection", "ShellText",
]  # fmt: skip

DEEPEST_WRAPPING = 8

_BASH = Language(tree_sitter_bash.language())
# One that begins with a dash is an option that a wrapper in front of it was not known to have.
_USUAL_NAME = re.compile(r"[A-Za-z0-9_./+:@][A-Za-z0-9_./+:@-]*|\[\[?")
# `[[`, `time` and `coproc` are keywords that are taken apart like programs.
_MISPLACED = RESERVED - {"[[", "time", "coproc"}
_MOVES = frozenset({"cd", "pushd", "popd"})


def analyse(text: str) -> ShellText:
    """Take a command text apart."""
    problem = characters.unreadable(text)
    if problem is not None:
        return ShellText((), (), (problem,), background=False)
    gathering = _Gathering()
    gathering.read_text(text, ())
    return gathering.result()


_AS_LETTERS = bytes(byte if byte < 128 else ord("a") for byte in range(256))
"""The grammar's scanner crashes on some characters beyond ASCII; to bash all of them are letters.

Byte for byte, so that every place in the tree is the same place in the text."""


class _Gathering:
    """Everything found so far in a text and in the texts inside it."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.redirections: list[Redirection] = []
        self.doubts: list[str] = []
        self.background = False
        self.assigns = False

    def read_text(self, text: str, via: tuple[str, ...]) -> None:
        self.doubts += characters.strange_characters(text)
        source = text.encode()
        # A parser is cheap to make, and one for each call needs no lock.
        root = Parser(_BASH).parse(source.translate(_AS_LETTERS)).root_node
        if root.has_error:
            self.doubts.append(f"{shown(text)} does not parse")
        walk = Walk(source, HANDLERS)
        walk.visit(root)
        self.redirections += walk.redirections
        self.doubts += walk.doubts
        self.background = self.background or walk.background
        self.assigns = self.assigns or walk.assigns
        for words in walk.commands:
            self._add(words, via)

    def _add(self, words: Sequence[Word], via: tuple[str, ...]) -> None:
        argv = tuple([word.literal for word in words])
        self.commands.append(
            Command(
                argv,
                " ".join([word.source for word in words]),
                canonical(argv),
                via,
                True in [word.expands for word in words],
            )
        )
        self._check_program(words[0])
        found = inside(words)
        if found is not None:
            self._unpack(found, (*via, argv[0].rpartition("/")[2]))

    def _check_program(self, word: Word) -> None:
        if word.doubt is not None or word.expands or not _USUAL_NAME.fullmatch(word.literal):
            self.doubts.append(f"the program name {shown(word.source)} is not a plain word")
        elif word.source in _MISPLACED:
            self.doubts.append(f"the keyword {shown(word.source)} stands where a program should")

    def _unpack(self, found: Inside, via: tuple[str, ...]) -> None:
        self.doubts += found.doubts
        self.assigns = self.assigns or found.assigns
        if len(via) > DEEPEST_WRAPPING:
            self.doubts.append(f"commands inside commands, more than {DEEPEST_WRAPPING} deep")
            return
        for words in found.commands:
            if words[0].source == "[[":
                # Behind `time` the grammar sees words, some of which bash still evaluates.
                self.doubts.append("`[[` stands where it is not read as a test")
            self._add(words, via)
        for text in found.texts:
            if found.plain_shell and (different := BASH_ONLY.search(text)):
                self.doubts.append(f"{shown(different[0])} means something else outside bash")
            self.read_text(text, via)

    def result(self) -> ShellText:
        """The findings, with what only shows when all of them are known."""
        if any(command.argv[0] in _MOVES for command in self.commands):
            self._check_places()
        return ShellText(
            tuple(self.commands),
            tuple(self.redirections),
            tuple(dict.fromkeys(self.doubts)),
            self.background,
            self.assigns,
        )

    def _check_places(self) -> None:
        relative = [
            target for found in self.redirections if (target := found.target) is not None
        ] + [command.argv[0] for command in self.commands if "/" in command.argv[0]]
        for path in relative:
            if not path.startswith("/"):
                self.doubts.append(f"after a change of folder {shown(path)} may be another file")
