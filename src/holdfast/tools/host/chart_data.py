"""Rows and columns out of CSV, TSV or JSON, and the numbers of a chart out of those.

Pure. What cannot be read is raised with the argument at fault; how a chart looks is not known here.
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Literal, NamedTuple

from holdfast.contract.errors import InvalidArguments, OperationFailed
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json

DataFormat = Literal["csv", "tsv", "json"]
MOST_ROWS = 500
MOST_COLUMNS = 1_000
LONGEST_LABEL = 200
_LARGEST = 1e300
"""Beyond it sums and differences would overflow."""
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)


class Table(NamedTuple):
    """Named columns, and those rows that are kept, with a value for each."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Sampled evenly where there are too many."""
    total_rows: int


class Series(NamedTuple):
    """A column of numbers; None where there is none."""

    name: str
    values: tuple[float | None, ...]


class Chart(NamedTuple):
    """What is to be shown."""

    x_name: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    total_rows: int
    not_numeric: tuple[str, ...]
    """Series that were asked for and hold no number."""


def read_table(data: str, written_in: DataFormat) -> Table:
    """The table; InvalidArguments about `data` when there is none in it."""
    if written_in == "json":
        return _of_json(data)
    try:
        return _of_lines(data, "," if written_in == "csv" else "\t", written_in)
    except csv.Error as problem:
        raise _unreadable(written_in, str(problem)) from None


def chart_of(table: Table, series: Sequence[str], x_column: str | None) -> Chart:
    """The columns that were asked for."""
    for field, name in (*(("series", name) for name in series), ("xColumn", x_column)):
        if name is not None and name not in table.columns:
            raise InvalidArguments(
                f"There is no column {name[:LONGEST_LABEL]!r}; the columns are:"
                f" {', '.join(table.columns)[:2000]}.",
                field=field,
                expected="one of the columns",
            )
    rows = table.rows
    found = [_series(table, rows, name) for name in dict.fromkeys(series)]
    numeric = tuple(one for one in found if any(value is not None for value in one.values))
    if not numeric:
        raise OperationFailed(
            f"None of the series holds a number: {', '.join(series)[:500]}. Name columns of"
            f" numbers; the columns are: {', '.join(table.columns)[:2000]}."
        )
    x_name = x_column or next((name for name in table.columns if name not in series), None)
    if x_name is None:
        labels = [str(place) for place in range(1, len(rows) + 1)]
    else:
        at = table.columns.index(x_name)
        labels = [row[at][:LONGEST_LABEL] for row in rows]
    missing = tuple(one.name for one in found if one not in numeric)
    return Chart(x_name or "row", tuple(labels), numeric, table.total_rows, missing)


def sampled(count: int, most: int = MOST_ROWS) -> list[int]:
    """Which of so many rows are kept: all, or evenly many of them, the first and the last too."""
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // (most - 1) for place in range(most)]


def number_in(text: str) -> float | None:
    """The number a text is, if it is one that can be drawn."""
    text = text.strip()
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif not _PLAIN.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) and abs(value) <= _LARGEST else None


def _series(table: Table, rows: Iterable[tuple[str, ...]], name: str) -> Series:
    place = table.columns.index(name)
    return Series(name, tuple(number_in(row[place]) for row in rows))


def _names(header: Iterable[str], written_in: str) -> tuple[str, ...]:
    """The columns: each has a name of its own."""
    names: dict[str, None] = {}
    for place, written in enumerate(header, 1):
        if place > MOST_COLUMNS:
            raise _unreadable(written_in, f"a table has at most {MOST_COLUMNS:,} columns")
        name = written.strip()[:LONGEST_LABEL] or f"column {place}"
        while name in names:
            name = f"{name} ({place})"
        names[name] = None
    return tuple(names)


def _table(columns: tuple[str, ...], lines: Iterable[Sequence[str]], total: int) -> Table:
    """A table of rows that may be too short or too long: only those that are kept are filled up."""
    width = len(columns)
    rows = ((*line[:width], *[""] * (width - len(line))) for line in lines)
    return Table(columns, tuple(rows), total)


def _of_lines(data: str, delimiter: str, written_in: DataFormat) -> Table:
    """Read twice, so that no more than the rows that are kept is in memory."""

    def lines() -> Iterator[list[str]]:
        return (row for row in csv.reader(StringIO(data, newline=""), delimiter=delimiter) if row)

    total = sum(1 for _ in lines()) - 1
    if total < 1:
        raise _unreadable(written_in, "it needs a line of column names and at least one row")
    reading = lines()
    columns = _names(next(reading), written_in)
    kept = frozenset(sampled(total))
    return _table(columns, (row for at, row in enumerate(reading) if at in kept), total)


def _of_json(data: str) -> Table:
    try:
        value = decode_json(data)
    except (ValueError, RecursionError) as problem:
        raise _unreadable("json", str(problem)) from None
    if isinstance(value, dict):
        return _of_columns(value)
    rows = value if isinstance(value, list) else []
    objects = [row for row in rows if isinstance(row, dict)]
    if objects and len(objects) == len(rows):
        keys = list(dict.fromkeys(name for row in objects for name in row))
        found = (objects[place] for place in sampled(len(objects)))
        lines = ([_text(row.get(name)) for name in keys] for row in found)
        return _table(_names(keys, "json"), lines, len(objects))
    lists = [row for row in rows if isinstance(row, list)]
    if len(lists) == len(rows) > 1:
        header, *others = lists
        columns = _names(map(_text, header), "json")
        found = (others[place][: len(columns)] for place in sampled(len(others)))
        return _table(columns, ([_text(cell) for cell in row] for row in found), len(others))
    raise _unreadable("json", "it is no list of objects, such as [{'month': 'May', 'sold': 3}]")


def _of_columns(value: JsonObject) -> Table:
    """An object of lists: by column, its values."""
    columns = {name: cells for name, cells in value.items() if isinstance(cells, list)}
    longest = max((len(cells) for cells in columns.values()), default=0)
    if not longest or len(columns) < len(value):
        raise _unreadable("json", "it is an object, and not every value of it is a list")
    names = _names(columns, "json")
    lines = (
        [_text(cells[place]) if place < len(cells) else "" for cells in columns.values()]
        for place in sampled(longest)
    )
    return _table(names, lines, longest)


def _text(cell: JsonValue) -> str:
    if cell is None or isinstance(cell, list | dict):
        return ""
    return str(cell)


def _unreadable(written_in: str, why: str) -> InvalidArguments:
    return InvalidArguments(
        f"data cannot be read as {written_in}: {why[:300]}.",
        field="data",
        expected=f"{written_in} with column names",
    )
