"""The look for a person at a terminal. The only module that imports rich.

Colours follow the terminal, and whether somebody refuses them.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.highlighter import JSONHighlighter
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from holdfast.surfaces.cli.colours import unwanted
from holdfast.surfaces.cli.looks import Card, Finding, Line, Scene, Status, indent, printable

_CODES = re.compile(r"\x1b\[[0-9;]*m")
_WIDEST = 100
_COLOURS: dict[Status, str] = {"OK": "green", "WARN": "yellow", "FAIL": "red"}


class RichLook:
    """Tables, panels and colours."""

    def __init__(self, out: TextIO) -> None:
        plain = unwanted(os.environ) is not None
        self._console = Console(
            file=out, no_color=plain, highlight=False, markup=False, emoji=False
        )

    @property
    def width(self) -> int | None:
        """Of the terminal."""
        return self._console.width

    def text(self, text: str, /) -> None:
        """A paragraph."""
        self._console.print(Text(text))

    def heading(self, text: str, /) -> None:
        """The title of what follows."""
        self._console.print(Text(text, style="bold cyan"))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]], /) -> None:
        """Rows under headings."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for at, heading in enumerate(headings):
            table.add_column(Text(heading), style="bold" if at == 0 else "", no_wrap=at == 0)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._console.print(table)

    def fields(self, values: Mapping[str, str], /) -> None:
        """Names with a value each."""
        grid = Table.grid(padding=(0, 2))
        for name, value in values.items():
            grid.add_row(Text(name, style="dim"), Text(value))
        self._console.print(grid)

    def outline(self, lines: Sequence[Line], /) -> None:
        """Lines inside of each other, coloured by how they ended."""
        for line in lines:
            colour = "" if line.status == "OK" else _COLOURS[line.status]
            text = Text(line.text, style=colour)
            self._console.print(Padding(text, (0, 0, 0, len(indent(line)))))

    def json(self, text: str, /) -> None:
        """JSON that is already indented."""
        self._console.print(_json(text), soft_wrap=True)

    def findings(self, findings: Sequence[Finding], /) -> None:
        """What checks found, the next step below."""
        grid = Table.grid(padding=(0, 2))
        for found in findings:
            detail = Text(found.detail)
            if found.next_step:
                detail.append(f"\n→ {found.next_step}", style="bold")
            status = Text(found.status, style=f"bold {_COLOURS[found.status]}")
            grid.add_row(status, Text(found.name), detail)
        self._console.print(grid)

    def scene(self, scene: Scene, /) -> None:
        """One stop of the tour."""
        parts: list[RenderableType] = [Text(scene.explanation, style="italic"), Text("")]
        parts += [
            Text("sent", style="dim"),
            Padding(Text(scene.sent, style="yellow"), (0, 0, 0, 2)),
        ]
        if scene.repairs:
            parts.append(Text("repairs", style="dim"))
            parts += [Text(f"  ✓ {repair}", style="green") for repair in scene.repairs]
        if scene.judged:
            parts.append(Text("judged", style="dim"))
            parts += [Text(f"  {part}") for part in scene.judged]
        parts += [Text("envelope", style="dim"), Padding(_json(scene.envelope), (0, 0, 0, 2))]
        panel = Panel(
            Group(*parts),
            title=Text(scene.title, style="bold"),
            title_align="left",
            border_style="green" if scene.ok else "red",
            width=min(self._console.width, _WIDEST),
        )
        self._console.print(panel)

    def card(self, card: Card, /) -> None:
        """A call of a tool."""
        parts: list[RenderableType] = [Text(line, style="yellow") for line in card.sent]
        parts += [Text(line) for line in card.answer]
        colour = _COLOURS[card.status]
        panel = Panel(
            Group(*parts),
            title=Text(card.title, style="bold"),
            subtitle=Text(card.state, style=colour),
            title_align="left",
            subtitle_align="right",
            border_style=colour,
            width=min(self._console.width, _WIDEST),
        )
        self._console.print(panel)


def _json(text: str) -> Text:
    coloured = Text(printable(text))
    JSONHighlighter().highlight(coloured)
    return coloured


def markdown_rows(out: TextIO, text: str, columns: int, colours: bool, /) -> list[str]:  # noqa: FBT001 - loaded by its name
    """What a model wrote, as it meant it to look, in rows for a terminal."""
    console = Console(file=out, width=columns, no_color=not colours, highlight=False, emoji=False)
    # Colours of the terminal itself, which can be read on whatever ground it has.
    written = Markdown(text, code_theme="ansi_dark", hyperlinks=False)
    for token in written.parsed:
        # Tags are text here: there is no page that they could be a part of.
        token.type = "code_block" if token.type == "html_block" else token.type
        for inner in token.children or ():
            inner.type = "text" if inner.type == "html_inline" else inner.type
    with console.capture() as shown:
        console.print(written)
    rows = [row.rstrip(" ") for row in shown.get().split("\n")]
    filled = [at for at, row in enumerate(rows) if _CODES.sub("", row).strip()]
    return rows[filled[0] : filled[-1] + 1] if filled else []
