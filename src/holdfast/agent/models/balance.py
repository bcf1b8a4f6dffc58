"""Whether JSON that comes in pieces has closed what it opened. Every character is looked at once.

It does not tell whether the JSON is any good; who wants to know reads it.
"""

_STEP = 64 * 1024


class Balance:
    """Takes a text piece by piece, and knows whether an object has begun and ended in it."""

    def __init__(self) -> None:
        self._depth = 0
        self._has_begun = False
        self._in_string = False
        self._left = ""
        """A backslash whose other half has not come."""

    @property
    def is_closed(self) -> bool:
        """Whether there was an object or a list, and nothing of it is open."""
        return self._has_begun and self._depth <= 0 and not self._in_string

    def add(self, piece: str) -> None:
        """The next piece."""
        for begin in range(0, len(piece), _STEP):
            self._add(piece[begin : begin + _STEP])

    def _add(self, piece: str) -> None:
        text = (self._left + piece).replace("\\\\", "")
        self._left = "\\" if text.endswith("\\") else ""
        parts = text.removesuffix("\\").replace('\\"', "").split('"')
        outside = "".join(parts[self._in_string :: 2])
        if len(parts) % 2 == 0:
            self._in_string = not self._in_string
        opened = outside.count("{") + outside.count("[")
        self._has_begun = self._has_begun or opened > 0
        self._depth += opened - outside.count("}") - outside.count("]")
