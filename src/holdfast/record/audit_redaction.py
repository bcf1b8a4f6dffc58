"""Taking out of the audit log what must not stand in it: the operator's patterns, known secrets.

Text only. Where patterns and secrets come from is not known here.
"""

import re
import warnings
from collections.abc import Iterable, Iterator

from holdfast.contract.late_pattern import late_pattern

REDACTED = "***REDACTED***"

MODEL_KEYS = ("OAI_API_KEY", "OPENAI_API_KEY")
"""Variables whose values are taken out however short they are."""

SHOWN_CHARACTERS = 4_096
"""So much of one text is shown."""
_LOOKED_AT = 2 * SHOWN_CHARACTERS
"""So much of it patterns see: one that begins in what is shown ends well before."""

_SEPARATORS = late_pattern("[,;]")


class Redaction:
    """Replaces every match of the patterns and every occurrence of the values."""

    def __init__(self, patterns: str = "", values: Iterable[str] = ()) -> None:
        """``patterns``: split on comma and semicolon, each a regular expression or else literal."""
        written = (one.strip() for one in _SEPARATORS.split(patterns))
        self._patterns = [_compiled(one) for one in dict.fromkeys(written) if one]
        self._values = sorted({value for value in values if value})

    def text(self, text: str) -> str:
        """The text without any of it; a very long one is cut, and says so."""
        shown, done = "", 0
        for start, end in sorted(self._spots(text)):
            if start >= SHOWN_CHARACTERS:
                break
            if start >= done:
                shown += text[done:start] + REDACTED
            done = max(done, end)
        shown += text[done:SHOWN_CHARACTERS]
        missing = len(text) - max(done, SHOWN_CHARACTERS)
        return shown if missing <= 0 else f"{shown}… [{missing:,} characters omitted]"

    def _spots(self, text: str) -> Iterator[tuple[int, int]]:
        looked_at = text[:_LOOKED_AT]
        for pattern in self._patterns:
            for found in pattern.finditer(looked_at):
                if found.end() > found.start():
                    yield found.span()
        for value in self._values:
            yield from _occurrences(value, text)


def _compiled(written: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what may mean something else one day means this now
            return re.compile(written)
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(written))


def _occurrences(value: str, text: str) -> Iterator[tuple[int, int]]:
    """Every place of the value that begins in what is shown, overlapping ones too."""
    start = text.find(value)
    while 0 <= start < SHOWN_CHARACTERS:
        yield start, start + len(value)
        start = text.find(value, start + 1)
