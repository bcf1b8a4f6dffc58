"""What is found in a command text. Values only: how it is found is not known here."""

from typing import Literal

import msgspec

from holdfast.contract.truncate import cut_text

LONGEST_PIECE = 60


Shape = Literal["number", "names", "braces", "document"]
"""Digits, file names that fit a pattern, several plain words, a quoted here-document."""


class Word(msgspec.Struct, frozen=True, gc=False):
    """One word of a command: as written, and as the program would get it.

    ``doubt`` says why the value is not known before it runs; ``literal`` is then the source, unless
    the ``shape`` is a document. ``shape`` says what is known of the value all the same, for
    programs to which that is enough. ``expands`` marks a known pattern that the shell replaces by
    file or folder names or by a number.
    """

    source: str
    literal: str
    doubt: str | None = None
    expands: bool = False
    shape: Shape | None = None


class Command(msgspec.Struct, frozen=True, gc=False):
    """One simple command that would run.

    ``text`` is what an allow pattern is matched against, ``canonical`` what deny and ask patterns
    are matched against too. ``via`` names the programs around it, outermost first.
    """

    argv: tuple[str, ...]
    text: str
    canonical: str
    via: tuple[str, ...] = ()
    expands: bool = False


class Redirection(msgspec.Struct, frozen=True, gc=False):
    """A file the shell itself opens; ``target`` is None when only the run can tell which."""

    mode: Literal["read", "write"]
    target: str | None


class ShellText(msgspec.Struct, frozen=True):
    """A command text taken apart. Only one without doubts was understood completely.

    ``assigns`` says that a harmless variable is set in front of a command. No doubt comes of it,
    but a list of commands does not cover it.
    """

    commands: tuple[Command, ...]
    redirections: tuple[Redirection, ...]
    doubts: tuple[str, ...]
    background: bool
    assigns: bool = False


def shown(piece: str) -> str:
    """A piece of the text, short and printable, for a sentence a person reads."""
    clipped = cut_text(piece, LONGEST_PIECE)
    printable = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in clipped
    )
    return f"`{printable}`"
