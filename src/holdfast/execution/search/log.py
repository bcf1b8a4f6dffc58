"""What ripgrep says on its error stream: what it passed over, and what went wrong.

Read from a file and not from a pipe: it writes in very small pieces. A name with a line feed in it
can look like another line, which can change a count and nothing else.
"""

import re
from typing import NamedTuple

_IGNORED = re.compile(rb"^rg: DEBUG\|ignore::walk\|[^ ]* ignoring (.*?): Ignore\(", re.MULTILINE)
_OTHER = re.compile(
    rb"^rg: DEBUG\|rg::haystack\|[^ ]* ignoring (.*?): failed to pass haystack filter", re.MULTILINE
)
_BINARY = re.compile(
    rb"^rg: DEBUG\|grep_printer::[^ ]* ignoring (.*?): found binary data", re.MULTILINE
)
_TROUBLE = re.compile(rb"^rg: (?!DEBUG\|)(.*)$", re.MULTILINE)
_OF_SYSTEM = re.compile(rb"\(os error \d+\)$")
_NOT_SAID = re.compile(rb"^rg: DEBUG\|.*\n?", re.MULTILINE)


class Log(NamedTuple):
    """What was passed over."""

    ignored: frozenset[bytes]
    """By ignore files and by name; directories among them were not entered."""
    other: tuple[bytes, ...]
    """Neither files nor directories."""
    binary: int
    unreadable: int
    said: str
    """All that is no log."""


def read_log(text: bytes) -> Log:
    """Read all of it."""
    unreadable = sum(bool(_OF_SYSTEM.search(line)) for line in _TROUBLE.findall(text))
    return Log(
        ignored=frozenset(_IGNORED.findall(text)),
        other=tuple(_OTHER.findall(text)),
        binary=len(_BINARY.findall(text)),
        unreadable=unreadable,
        said=_NOT_SAID.sub(b"", text).decode("utf-8", "replace").strip(),
    )
