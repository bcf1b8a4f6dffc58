"""The whole screen as rows: what is known of a run, and how large the screen is, in; a frame out.

Nothing is written and nothing is remembered here.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.surfaces.cli.call_cards import todo_lines
from holdfast.surfaces.cli.full_screen.sheets import Seen, ruled
from holdfast.surfaces.cli.full_screen.spans import (
    EMPTY,
    Look,
    Row,
    Span,
    cut,
    shown,
    spread,
    width_of,
    wrapped,
)
from holdfast.surfaces.cli.full_screen.timeline import Child
from holdfast.surfaces.cli.narrow import middle_cut
from holdfast.surfaces.cli.rows import text_width

_PANE_FROM = 90
"""Columns a screen has that has room for a pane."""
_PANE = 34
_BETWEEN = 3
_SHORTEST = 10
"""Columns that a workspace is told in at least."""
_RULES_FROM = 12
"""Rows a screen has that has room for lines across."""


class Size(NamedTuple):
    """Of a screen."""

    columns: int
    rows: int


class Frame(NamedTuple):
    """A screen: its rows, what stands beside them from a column on, and where somebody types."""

    rows: list[Row]
    beside: list[Row]
    column: int
    cursor: tuple[int, int] | None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is, for its whole time."""

    session_id: str = ""
    model: str = ""
    profile: str = ""
    workspace: str = ""


class Parts(NamedTuple):
    """What is on a screen, from above to below."""

    header: Row
    body: Sequence[Row]
    sheet: Seen | None
    pane: Sequence[Row]
    """Empty: there is none."""
    rule: Row
    line: Seen
    status: Row


def room_of_body(size: Size, pane: Sequence[Row]) -> Size:
    """How much of the screen the timeline has, sheets included."""
    columns = size.columns - (_PANE + 2 if pane else 0)
    others = 5 if size.rows >= _RULES_FROM else 3
    return Size(max(columns, 1), max(size.rows - others, 1))


def frame_of(parts: Parts, size: Size) -> Frame:
    """The screen."""
    room = room_of_body(size, parts.pane)
    sheet = parts.sheet or Seen([])
    over = sheet.rows[: room.rows]
    body = [*parts.body[-(room.rows - len(over)) :]] if len(over) < room.rows else []
    body += [EMPTY] * (room.rows - len(over) - len(body))
    first = len(body)
    body += over
    has_rules = size.rows >= _RULES_FROM
    across = [ruled_plain(size.columns)] if has_rules else []
    above = [parts.header, *across]
    rows = [*above, *body, *([parts.rule] if has_rules else []), *parts.line.rows, parts.status]
    cursor = None
    if parts.sheet is not None and sheet.cursor is not None and sheet.cursor[0] < len(over):
        cursor = len(above) + first + sheet.cursor[0], sheet.cursor[1]
    elif parts.sheet is None and parts.line.cursor is not None:
        cursor = len(rows) - 1 - len(parts.line.rows), parts.line.cursor[1]
    beside = [EMPTY] * len(above) + [*parts.pane][: room.rows]
    return Frame(rows[: size.rows], beside, size.columns - _PANE, cursor)


def ruled_plain(columns: int, told: str = "") -> Row:
    """A line across, perhaps with a word in it."""
    if told:
        return ruled(told, columns, "dim")
    return (Span("─" * columns, "dim"),)


def header_row(facts: Facts, state: str, look: Look, columns: int) -> Row:
    """Who works where, and in which state; what there is no room for is left out."""
    stands: Row = (Span(f"● {shown(state)} ", look),)
    room = columns - width_of(stands)
    parts = [facts.session_id, facts.model, f"profile {facts.profile}"]
    kept = [shown(one) for one in parts if one]
    while len(kept) > 1 and text_width(" · ".join(kept)) + 2 > room:
        kept.pop()
    told = middle_cut(" · ".join(kept), max(room - 2, 1))
    left_over = room - text_width(told) - _BETWEEN - 2
    if len(kept) == len(parts) and left_over >= _SHORTEST:
        told = f"{told} · {middle_cut(shown(facts.workspace), left_over)}"
    left: Row = (Span(f" {told}", "accent"),)
    return spread(left, stands, columns) if width_of(left) < room else cut(stands, columns)


def pane_rows(todos: JsonValue, children: Sequence[Child], size: Size) -> list[Row]:
    """What is to be done and who works below, where there is any of it, and room."""
    if size.columns < _PANE_FROM:
        return []
    rows: list[Row] = []
    lines = list(todo_lines(todos))
    if lines:
        rows.append((Span("To do", "strong"),))
        for line in lines:
            rows += wrapped(line.text, _PANE - 1, line.tone)
    if children:
        rows += [EMPTY] if rows else []
        rows.append((Span("Subagents", "strong"),))
        for one in children:
            begin = "  " * (one.depth - 1)
            rows += wrapped(one.name, _PANE - 1, "accent", begin)
            rows += list(wrapped(one.doing, _PANE - 1, "dim", f"{begin}  "))[:2]
    room = room_of_body(size, rows).rows
    if len(rows) <= room:
        return rows
    return [*rows[: room - 1], (Span(f"… {len(rows) - room + 1} more", "dim"),)]


def status_row(told: str, hint: str, columns: int) -> Row:
    """What was used, and what can be pressed."""
    return spread((Span(f" {shown(told)}", "dim"),), (Span(f"{hint} ", "dim"),), columns)


def todo_count(todos: JsonValue) -> str:
    """How much of it is done, where there is no pane."""
    lines = list(todo_lines(todos))
    done = sum(line.text.startswith("[x]") for line in lines)
    return f"{done} of {len(lines)} done" if lines else ""
