"""What stands on the screen of a terminal once all that was written to it has been obeyed."""

import re

_STEP = re.compile(r"\x1b\[(\d*)([A-Za-z])|([\s\S])")


class TerminalScreen:
    """As much of a terminal as is written to here: rows, the cursor, and what scrolled away."""

    def __init__(self, columns: int, height: int) -> None:
        self._columns = columns
        self._height = height
        self._rows = [""]
        self._row, self._column = 0, 0

    @property
    def lines(self) -> list[str]:
        """All rows there ever were, as they stand now."""
        return [row.rstrip() for row in self._rows]

    @property
    def seen(self) -> list[str]:
        """Those that are on the screen."""
        return self.lines[-self._height :]

    def write(self, text: str) -> "TerminalScreen":
        """Obey it."""
        for step in _STEP.finditer(text):
            number, command, character = step.groups()
            if character is not None:
                self._put(character)
            elif command == "A":
                top = max(len(self._rows) - self._height, 0)  # what scrolled away is out of reach
                self._row = max(self._row - int(number or 1), top)
            elif command == "J":
                self._rows[self._row] = self._rows[self._row][: self._column]
                del self._rows[self._row + 1 :]
            else:  # colours, and all rows scroll again
                assert command in {"m", "r"}, f"{command!r} is not known here"
        return self

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
            return
        if character == "\n" or self._column == self._columns:
            self._row, self._column = self._row + 1, 0
            if self._row == len(self._rows):
                self._rows.append("")
            if character == "\n":
                return
        row = self._rows[self._row].ljust(self._column)
        self._rows[self._row] = row[: self._column] + character + row[self._column + 1 :]
        self._column += 1
