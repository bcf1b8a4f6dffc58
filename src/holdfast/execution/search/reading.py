"""What ripgrep prints, as matches and as paths, taken while it prints.

Both stop when more is there than one answer may hold in memory, or than was asked for.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from holdfast.contract.search import Match

MOST_BYTES = 64 * 1024 * 1024
"""As much as is kept of one call's output at most; what is found beyond is not looked for."""
MOST_FOUND = 500_000

_LINE = re.compile(rb"([^\0]++)\0(\d++):([^\n]*+)\n").match
"""Asked at one place only: a search for the next one would read an unfinished line again and again.
"""
_WARNED = re.compile(
    rb"\A(?:[^\0]*?: (?:WARNING: stopped searching binary file after match"
    rb'|binary file matches) \(found "\\0" byte around offset \d+\)\n(?=\./))+'
)
"""Every path begins with ``./``, so that what comes behind such words does, too."""
_BINARY_MATCH = re.compile(rb": binary file matches \(found ")
_SEARCHED = re.compile(rb"\n(\d+) files searched\n")
_TOO_MUCH = "more was found than one answer may hold"
_LIMIT = "the limit was reached"

Judge = Callable[[bytes], str | None]
"""The path as it is shown; None: it may not be shown."""


class Lines:
    """Matching lines: ``path NUL number : line``."""

    def __init__(
        self,
        judge: Judge,
        limit: int | None,
        is_there: Callable[[bytes], bool] = lambda _path: False,
    ) -> None:
        """``is_there``: whether there is an entry of exactly that path."""
        self._judge = judge
        self._limit = limit or MOST_FOUND
        self._is_there = is_there
        self._rest = bytearray()
        self._size = 0
        self._at: tuple[bytes, str | None] = (b"", None)
        self._wanted = _LIMIT if limit else _TOO_MUCH
        self.matches: list[Match] = []
        self.files: set[str] = set()
        self.unclear: set[bytes] = set()
        """Names that look like words about another file: whose line it is cannot be told."""
        self.stopped: str | None = None

    def take(self, piece: bytes) -> bool:
        """Take a piece; False: enough."""
        self._size += len(piece)
        if self._size > MOST_BYTES:
            self.stopped = _TOO_MUCH
            return False
        self._rest += piece
        return b"\n" not in piece or self._parse()

    def _parse(self) -> bool:
        text = bytes(self._rest)
        end = 0
        while found := _LINE(text, end):
            end = found.end()
            path, number, line = found.groups()
            if b"\n" in path and (bare := _WARNED.sub(b"", path)) != path:
                if self._is_there(path):
                    self.unclear.add(path)
                    continue
                path = bare
            if path != self._at[0]:
                self._at = path, self._judge(path)
            shown = self._at[1]
            if shown is None:
                continue
            self.files.add(shown)
            line = line.removesuffix(b"\r")
            self.matches.append(Match(shown, int(number), line.decode("utf-8", "replace")))
            if len(self.matches) >= self._limit:
                self.stopped = self._wanted
                return False
        del self._rest[:end]
        return True

    @property
    def searched(self) -> int | None:
        """How many files were searched; None: it did not come to its end."""
        told = _SEARCHED.search(bytes(self._rest))
        return int(told.group(1)) if told else None

    @property
    def is_binary(self) -> bool:
        """Whether a file that was named outright matches, and is binary."""
        return bool(_BINARY_MATCH.search(bytes(self._rest)))


class Paths:
    """Paths of files: each begins with ``./`` and ends with NUL."""

    def __init__(
        self, fits: Callable[[bytes], Iterable[str]], limit: int | None, *, keeps_all: bool = True
    ) -> None:
        """``fits``: how those are shown that are wanted and may be, of a text of whole paths."""
        self._fits = fits
        self._limit = limit or MOST_FOUND
        self._wanted = _LIMIT if limit else _TOO_MUCH
        self._rest = b""
        self._keeps_all = keeps_all
        self.fitting: list[str] = []
        self.texts: list[bytes] = []
        """All of them, where they are wanted."""
        self.stopped: str | None = None

    def take(self, piece: bytes) -> bool:
        """Take a piece; False: enough."""
        text = self._rest + piece
        end = text.rfind(b"\0") + 1
        whole, self._rest = text[:end], text[end:]
        if self._keeps_all:
            self.texts.append(whole)
        self.fitting += self._fits(whole)
        if len(self.fitting) < self._limit:
            return True
        self.stopped = self._wanted
        del self.fitting[self._limit :]
        return False


def paths_ending(text: bytes, tail: re.Pattern[bytes] | None) -> Iterator[bytes]:
    """Those of a text of paths that end so. Most do not, and are never looked at by themselves."""
    if tail is None:
        yield from text.split(b"\0")[:-1]
        return
    for found in tail.finditer(text):
        yield text[text.rfind(b"\0", 0, found.start()) + 1 : found.end() - 1]
