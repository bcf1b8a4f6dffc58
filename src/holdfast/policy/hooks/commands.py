"""A simple command as the hooks read it: program, flags, operands. From its canonical spelling."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from holdfast.contract.rules import Use

SEPARATOR = " ::"
"""Stands between flags and operands of a canonical spelling."""


class Line(msgspec.Struct, frozen=True):
    """One command line."""

    program: str
    flags: frozenset[str]
    operands: tuple[str, ...]
    """Subcommands first; what stood before a subcommand last."""
    written: str
    """As it stands in the text."""

    @property
    def text(self) -> str:
        """Program and operands, for looking up subcommands."""
        return " ".join((self.program, *self.operands))


def lines_in(uses: Iterable[Use]) -> Iterator[Line]:
    """Every simple command the call would run."""
    for use in uses:
        if use.kind == "command" and use.doubt is None:
            for spelling in use.spellings:
                yield _line(spelling, use.target)


@lru_cache(maxsize=256)
def _line(canonical: str, written: str) -> Line:
    before, _, after = canonical.partition(SEPARATOR)
    program, *words = before.split() or [""]
    flags = frozenset(word for word in words if word.startswith("-"))
    subcommands = [word for word in words if not word.startswith("-")]
    operands = [word.strip("\"'") for word in after.split()]
    return Line(program, flags, (*subcommands, *operands), written)


def doubtful_text(uses: Iterable[Use]) -> str:
    """What could not be taken apart, to be looked through as plain text."""
    return "\n".join(use.target for use in uses if use.kind == "command" and use.doubt is not None)
