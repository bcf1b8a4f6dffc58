"""What was measured of reading and editing, as a table, and which targets hold."""

from collections.abc import Callable

FILES = """## Files

Milliseconds, {rounds} rounds in which all took turns, load average {load:.1f}. *tail*: the last 20
lines of a file of 1 GB. *edit*: one line of a file of 10 MB, replaced atomically; holdfast also
keeps what was there, so that it can be undone, and waits for the disk. Each row of holdfast is a
whole call.
"""

TAIL_MS, EDIT_MS = 50, 100


def tables(told: dict, table: Callable[..., str]) -> list[str]:
    """The section."""
    rows = [
        [row["what"], row["way"], f"{row['min']:,.2f}", f"{row['median']:,.2f}"]
        for row in told["rows"]
    ]
    words = FILES.format(**told)
    return [words, table(["what", "way", "min", "median"], rows, text_columns=2)]


def targets(told: dict) -> list[tuple[str, str, float, float | None]]:
    """Name, wanted, limit, measured."""
    best = {row["what"]: row["median"] for row in told["rows"] if row["way"] == "holdfast"}
    return [
        ("read of the tail of 1 GB, median ms", f"< {TAIL_MS}", TAIL_MS, best["tail"]),
        ("edit of 10 MB, median ms", f"< {EDIT_MS}", EDIT_MS, best["edit"]),
    ]
