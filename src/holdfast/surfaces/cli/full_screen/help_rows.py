"""What can be pressed, for whoever asks."""

from holdfast.surfaces.cli.full_screen.spans import Row, Span, wrapped

_KEYS = (
    ("Up, Down", "scroll; PageUp, PageDown, Home and End, too"),
    ("Tab", "go to the last card, then to the one above; Shift-Tab back"),
    ("Enter", "unfold the card, or fold it"),
    ("t", "end the command that runs in the card"),
    ("i", "say something to the agent; Enter sends it, Esc leaves the line"),
    ("Esc", "leave the card, and see the end again"),
    ("Ctrl-C", "stop the call; once more within 2 seconds, the run"),
    ("Ctrl-Z", "stop this program; fg goes on"),
    ("Ctrl-L", "draw the screen again"),
    ("?", "this"),
)
_WIDE = 10


def help_rows(columns: int) -> list[Row]:
    """What each key does."""
    rows: list[Row] = [(Span("Keys", "strong"), Span("  (any of them leaves this)", "dim"))]
    for key, says in _KEYS:
        first, *others = wrapped(says, columns - _WIDE - 1)
        rows.append((Span(f" {key:{_WIDE}}", "accent"), *first))
        rows += [(Span(" " * (_WIDE + 1)), *one) for one in others]
    return rows
