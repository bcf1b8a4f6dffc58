"""`render_chart`: numbers as a picture, and as a block that a surface can draw by itself."""

import re
from typing import Annotated

import msgspec

from holdfast.contract.artifacts import CHART_END, CHART_START, Artifacts
from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments, OperationFailed
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools.host.chart_data import Chart, DataFormat, chart_of, read_table
from holdfast.tools.host.chart_svg import ChartType, Words, chart_svg, slices_of
from holdfast.tools.host.marker_block import given, holds_marker, kept_facts, marker_block

_SVG = "image/svg+xml"
_MOST_SERIES = 12
_UNSAFE = re.compile(r"[^a-z0-9]+")

Names = Annotated[
    list[Annotated[str, msgspec.Meta(min_length=1)]],
    msgspec.Meta(min_length=1, max_length=_MOST_SERIES),
]


class RenderedChart(msgspec.Struct, frozen=True):
    """The block a surface looks for."""

    text: str


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="other",
    interrupt_behavior="cancel",
    parallel_safe=True,
    limits=Limits(output=OutputBound(max_bytes=1024 * 1024)),
)
def render_chart(  # noqa: PLR0913 - the arguments models know
    artifacts: Artifacts,
    data: str,
    chartType: ChartType,
    series: Names,
    format: DataFormat = "csv",
    xColumn: str | None = None,
    title: str | None = None,
    tooltipSuffix: str | None = None,
) -> RenderedChart:
    r"""Draw a chart from a table and show it to the user; at most 500 rows, sampled evenly.

    The picture is kept as an SVG file. Example: {"data": "month,sold\nMay,3\nJune,5",
    "chartType": "bar", "series": ["sold"], "xColumn": "month", "title": "Sold"}

    Args:
        data: The table itself, with column names: CSV, TSV, or JSON (a list of objects).
        chartType: What to draw; a pie shows the first series only.
        series: The columns of numbers to draw.
        format: How data is written.
        xColumn: The column of labels; by default the first one that is no series.
        title: What stands above it.
        tooltipSuffix: What stands behind each value, such as " kg".
    """
    for field, text in (("data", data), ("title", title), ("tooltipSuffix", tooltipSuffix)):
        _refuse_marker(field, text or "")
    table = read_table(data, format)
    _refuse_marker("data", "\n".join(table.columns))
    chart = chart_of(table, series, xColumn)
    if chartType == "pie" and not slices_of(chart):
        raise OperationFailed(
            f"A pie needs a value above nought, and {chart.series[0].name!r} has none. Draw"
            " another kind of chart."
        )
    asked = given({"title": title, "tooltipSuffix": tooltipSuffix})
    shown: JsonObject = {"chartType": chartType, **asked, **_numbers(chart)}
    header = _header(chart)
    _refuse_marker("data", f"{header}\n{encode_json(shown).decode()}")
    picture = chart_svg(chartType, chart, Words(title or "", tooltipSuffix or ""))
    kept = artifacts.write(f"{_slug(title)}.svg", picture.encode())
    context = kept_facts(kept, artifacts.context_id, artifacts.context_type)
    facts: JsonObject = {**shown, "filename": kept.name, "mime_type": _SVG, **context}
    return RenderedChart(marker_block(header, CHART_START, facts, None, CHART_END))


def _refuse_marker(field: str, text: str) -> None:
    """What is written may hold one only once it is read: quotes and escapes fall away."""
    if holds_marker(text):
        raise InvalidArguments(
            f"{field} holds a marker, by which a surface finds charts in an answer. Leave it out.",
            field=field,
        )


def _numbers(chart: Chart) -> JsonObject:
    rows: list[JsonValue] = [
        [label, *(one.values[place] for one in chart.series)]
        for place, label in enumerate(chart.labels)
    ]
    names: list[JsonValue] = [one.name for one in chart.series]
    return {
        "xColumn": chart.x_name,
        "series": names,
        "columns": [chart.x_name, *names],
        "rows": rows,
        "total_rows": chart.total_rows,
    }


def _header(chart: Chart) -> str:
    shown, total = len(chart.labels), chart.total_rows
    rows = f"{shown:,} rows" if shown == total else f"{shown:,} of {total:,} rows, sampled evenly"
    without = ", ".join(chart.not_numeric)
    left = f"; left out, without numbers: {without}" if without else ""
    return " ".join(f"Chart of {rows}{left}.".split())


def _slug(title: str | None) -> str:
    return _UNSAFE.sub("-", (title or "").lower()).strip("-")[:60] or "chart"
