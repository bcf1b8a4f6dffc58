"""Where lines stand among others, in time that follows their number.

Every line becomes one character, so that a run of lines is found as a plain text is: what is
compared is compared once, however alike the lines are. Pure.
"""

from collections.abc import Callable, Iterable, Sequence

from holdfast.tools.patch.model import Hunk

_UNLIKE = "\0"
"""What stands for a line that is not looked for."""


def _as_it_is(line: bytes) -> bytes:
    return line


class Signs:
    """A character for each line that some hunks, or others, look for."""

    def __init__(
        self,
        hunks: Iterable[Hunk],
        seen: Callable[[bytes], bytes] = _as_it_is,
        others: Iterable[bytes] = (),
    ) -> None:
        """``seen``: lines that are the same for it have the same sign."""
        self._seen = seen
        sought = dict.fromkeys(seen(line) for one in hunks for line in one.old)
        sought.update(dict.fromkeys(map(seen, others)))
        self._signs = {line: chr(number) for number, line in enumerate(sought, 1)}

    def of(self, lines: Iterable[bytes]) -> str:
        """The lines as a text."""
        signs, seen = self._signs, self._seen
        return "".join(signs.get(seen(line), _UNLIKE) for line in lines)

    def unlike(self, count: int) -> str:
        """So many lines that nobody looks for."""
        return _UNLIKE * count


def place_near(text: str, wanted: str, start: int) -> int | None:
    """Of the places of a run that nearest to a start; of two, the one behind it."""
    start = max(0, min(start, len(text)))
    behind = text.find(wanted, start)
    if behind == start:
        return start
    # Backwards by a search forwards: only that one never compares a character twice.
    reversed_start = max(0, len(text) - len(wanted) - start + 1)
    found = text[::-1].find(wanted[::-1], reversed_start)
    before = -1 if found < 0 else len(text) - len(wanted) - found
    if before < 0 or (behind >= 0 and behind - start <= start - before):
        return None if behind < 0 else behind
    return before


def places_of(text: str, wanted: str, start: int, most: int) -> Sequence[int]:
    """The places of a run from a start on, at most so many."""
    found: list[int] = []
    at = text.find(wanted, start)
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found
