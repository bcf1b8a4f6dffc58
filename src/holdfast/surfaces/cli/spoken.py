"""What an agent says and thinks, as it comes: at a terminal as Markdown, block by block.

The block that is not whole yet is shown as it was written, and replaced once it is. What is said
when is not known here.
"""

from holdfast.surfaces.cli.markdown_blocks import Block, Blocks
from holdfast.surfaces.cli.paint import Paint


class Spoken:
    """One text after the other."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._text: list[str] = []
        self._blocks = Blocks()
        self._last: Block | None = None
        self.is_thought = False
        """Whether what is under way is a thought."""

    @property
    def text(self) -> str:
        """What came of the text that is under way."""
        return "".join(self._text)

    def says(self, text: str, *, thinks: bool = False) -> None:
        """One more piece."""
        if thinks != self.is_thought and self._text:
            self.end()
        self.is_thought = thinks
        self._text.append(text)
        if not self._paint.is_terminal:
            return
        if thinks:
            self._paint.piece(text, "dim")
            return
        for block in self._blocks.feed(text):
            self._show(block)
        if self._blocks.open.strip():
            lead = "\n" if self._last is not None and not self._last.list_mark else ""
            self._paint.for_now(f"{lead}{self._blocks.open}")

    def end(self) -> None:
        """It is whole."""
        text, self._text = self.text, []
        if not text:
            return
        if not self._paint.is_terminal:
            self._paint.piece(text)
        elif not self.is_thought:
            for block in self._blocks.rest():
                self._show(block)
        self._paint.end_line()
        self.forget()

    def forget(self) -> None:
        """Show nothing more of it."""
        self._text, self._blocks, self._last = [], Blocks(), None
        self.is_thought = False

    def _show(self, block: Block) -> None:
        last, self._last = self._last, block
        below = last is not None and bool(last.list_mark) and last.list_mark == block.list_mark
        self._paint.markdown(block.text, apart=last is not None and not below)
