"""A line that somebody types: keys in, a text with a place in it out. Nothing is shown here."""

from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.rows import width_at_most

MOST = 20_000
"""Characters a line may have."""
_INSTEAD = {"\n": "⏎", "\t": " "}


class LineInput:
    """The text, and where the next character goes."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0

    def take(self, key: Key) -> bool:
        """Obey a key; whether it means something here."""
        match key.name:
            case "text" | "paste":
                self._put(key.text)
            case "backspace":
                self._cut(self.at - 1, self.at)
            case "delete" | "ctrl-d":
                self._cut(self.at, self.at + 1)
            case "ctrl-u":
                self._cut(0, self.at)
            case "ctrl-k":
                self._cut(self.at, len(self.text))
            case "ctrl-w":
                before = self.text[: self.at].rstrip()
                self._cut(before.rfind(" ") + 1, self.at)
            case _:
                return self._moved(key.name)
        return True

    def taken(self) -> str:
        """The text; the line is empty then."""
        text, self.text, self.at = self.text, "", 0
        return text

    def seen(self, columns: int) -> tuple[str, int]:
        """As much of it as there is room for, with the place in it; and its column."""
        room = max(columns - 1, 1)
        begin, column = self.at, 0
        while begin > 0 and column + (wide := _width(self.text[begin - 1])) <= room:
            begin, column = begin - 1, column + wide
        end, taken = self.at, column
        while end < len(self.text) and taken + (wide := _width(self.text[end])) <= room:
            end, taken = end + 1, taken + wide
        return "".join(map(_seen, self.text[begin:end])), column

    def _moved(self, name: str) -> bool:
        match name:
            case "left":
                self.at = max(self.at - 1, 0)
            case "right":
                self.at = min(self.at + 1, len(self.text))
            case "home" | "ctrl-a":
                self.at = 0
            case "end" | "ctrl-e":
                self.at = len(self.text)
            case _:
                return False
        return True

    def _put(self, text: str) -> None:
        text = text[: MOST - len(self.text)]
        self.text = f"{self.text[: self.at]}{text}{self.text[self.at :]}"
        self.at += len(text)

    def _cut(self, begin: int, end: int) -> None:
        begin = max(begin, 0)
        self.text = f"{self.text[:begin]}{self.text[end:]}"
        self.at = min(begin, len(self.text))


def _seen(character: str) -> str:
    return printable(_INSTEAD.get(character, character))


def _width(character: str) -> int:
    return width_at_most(_seen(character))
