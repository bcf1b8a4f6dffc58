"""A terminal with another screen: what stands on it once all that was written has been obeyed.

Whatever is not known here is a failure: nothing but what is needed may reach a terminal.
"""

import re
from unicodedata import category

from terminal_screen import TerminalScreen

from holdfast.surfaces.cli.rows import text_width

_STEP = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|([\s\S])")
_MODES = {"7", "25", "1007", "1049", "2004", "2026"}


class FullTerminal:
    """As much of one as is written to by a run that has the whole screen."""

    def __init__(self, columns: int, height: int) -> None:
        self.columns, self.height = columns, height
        self.modes: set[str] = {"7", "25"}
        self.ordinary = TerminalScreen(columns, height)
        self.ever: set[str] = set()
        """Modes that were ever switched on."""
        self.styles: set[str] = set()
        """Every style that was ever written."""
        self._rows = [[" "] * columns for _ in range(height)]
        self.row, self.column = 0, 0
        self._region = 0, height
        self._rest = ""

    @property
    def is_other(self) -> bool:
        """Whether the other screen is shown."""
        return "1049" in self.modes

    @property
    def lines(self) -> list[str]:
        """The rows of the other screen."""
        return ["".join(row).rstrip() for row in self._rows]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)

    def resize(self, columns: int, height: int) -> None:
        """The window has another size; what stood there is of no use."""
        self.columns, self.height = columns, height
        self._rows = [["?"] * columns for _ in range(height)]
        self._region = 0, height

    def write(self, text: str) -> None:
        """Obey it; a sequence may come in pieces."""
        text = self._rest + text
        cut = text.rfind("\x1b", max(len(text) - 24, 0))
        whole = cut < 0 or (_STEP.match(text, cut, len(text)) is not None and text[cut + 1 :] != "")
        if not whole or (cut >= 0 and re.fullmatch(r"\x1b(\[\??[\d;]*)?", text[cut:])):
            text, self._rest = text[:cut], text[cut:]
        else:
            self._rest = ""
        for step in _STEP.finditer(text):
            private, numbers, command, character = step.groups()
            if character is None:
                self._obey(private, numbers, command)
            elif self.is_other:
                self._put(character)
            else:
                self.ordinary.write(character)

    def _obey(self, private: str, numbers: str, command: str) -> None:
        if private:
            assert numbers in _MODES, numbers
            assert command in "hl"
            (self.modes.add if command == "h" else self.modes.discard)(numbers)
            self.ever.add(numbers)
            return
        if command == "m":
            self.styles.add(numbers)
        elif self.is_other:
            self._move(numbers, command)
        else:
            self.ordinary.write(f"\x1b[{numbers}{command}")

    def _move(self, numbers: str, command: str) -> None:
        match command:
            case "H":
                row, _, column = numbers.partition(";")
                self.row, self.column = int(row or 1) - 1, int(column or 1) - 1
                assert self.row < self.height, "written below the screen"
            case "G":
                self.column = int(numbers or 1) - 1
            case "r":
                first, _, last = numbers.partition(";")
                self._region = int(first or 1) - 1, int(last or self.height)
                self.row = self.column = 0
            case "M":
                first, end = self._region
                assert self.row == first
                moved = [[" "] * self.columns for _ in range(int(numbers or 1))]
                self._rows[first:end] = [*self._rows[first + len(moved) : end], *moved]
            case "K":
                for at in range(self.column, self.columns):
                    self._rows[self.row][at] = " "
            case "J":
                assert numbers == "2"
                self._rows = [[" "] * self.columns for _ in range(self.height)]
            case _:
                raise AssertionError(f"{command!r} is not known here")

    def _put(self, character: str) -> None:
        assert category(character) not in {"Cc", "Cs"}, f"{character!r} reached the terminal"
        wide = text_width(character)
        if self.column + wide <= self.columns:  # what is cut takes no place
            self._rows[self.row][self.column] = character
            for at in range(1, wide):
                self._rows[self.row][self.column + at] = ""
        self.column = min(self.column + wide, self.columns - 1)  # there it stays
