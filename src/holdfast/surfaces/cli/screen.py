"""Where a verb writes: answers to standard output, remarks to standard error.

Machines get JSON; people get a look. Verbs never touch the streams themselves.
"""

import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TextIO, cast

import msgspec

from holdfast.contract.json_value import encode_json
from holdfast.surfaces.cli.looks import Look, PlainLook, printable
from holdfast.surfaces.cli.rows import rows_of_line

_RICH_LOOK = "holdfast.surfaces.cli.rich_look"


class Screen:
    """The two streams of one run."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._look: Look | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees the answers as they come."""
        return self._out.isatty()

    @property
    def look(self) -> Look:
        """How to show something to whoever reads."""
        if self._look is None:
            self._look = self._rich() if self.is_terminal else PlainLook(self._out)
        return self._look

    @property
    def stage(self) -> TextIO:
        """Where somebody watches while it is worked: the answer's place only at a terminal."""
        return self._out if self.is_terminal else self._err

    @property
    def beside(self) -> TextIO:
        """Where remarks go."""
        return self._err

    def answer_to(self, out: TextIO) -> None:
        """Write answers there from now on."""
        self._out = out
        self._look = None

    def be_plain(self) -> None:
        """Show text and nothing else."""
        self._look = PlainLook(self._out)

    def _rich(self) -> Look:
        make = cast("Callable[[TextIO], Look]", import_module(_RICH_LOOK).RichLook)
        return make(self._out)

    @property
    def descriptor(self) -> int:
        """Where answers go, for a verb that writes bytes; OSError where that is no file."""
        return self._out.fileno()

    def raw(self, text: str) -> None:
        """An answer as it is; on a terminal without what could steer it."""
        self._out.write((printable(text) if self.is_terminal else text) + "\n")

    def piece(self, text: str) -> None:
        """A piece of an answer whose line goes on."""
        self._out.write(printable(text) if self.is_terminal else text)

    def show_now(self) -> None:
        """Let whoever reads see what was answered so far."""
        self._out.flush()

    def document(self, value: object) -> None:
        """One JSON document."""
        self.raw(indented(encode_json(value)))

    def json_line(self, value: object) -> None:
        """One JSON value on a line."""
        self.raw(encode_json(value).decode())

    def remark(self, text: str) -> None:
        """One line beside the answer."""
        line = f"holdfast: {one_line(text)}"
        rows = rows_of_line(line, _columns()) if self._err.isatty() else [line]
        self._err.write("".join(f"{row}\n" for row in rows))


def _columns() -> int:
    return shutil.get_terminal_size().columns - 1


def screen_of_this_process() -> Screen:
    """The standard streams, able to write any text."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # JSON is UTF-8 whatever the locale says, and no answer may fail on a character.
            reconfigure(encoding="utf-8", errors="backslashreplace")
    return Screen(sys.stdout, sys.stderr)


def indented(encoded: bytes) -> str:
    """JSON text, spread over lines."""
    return msgspec.json.format(encoded, indent=2).decode()


def one_line(text: str) -> str:
    """A message on one line, whatever it quotes."""
    return printable(" ".join(text.split()))
