"""A chart as an SVG picture: the same bytes for the same data, on every machine.

Pure. Every text is escaped and cut; every coordinate is a finite number. Which data is shown, and
where the picture goes, is decided elsewhere.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from holdfast.contract.truncate import cut_text
from holdfast.tools.host.chart_data import Chart, Series, number_in
from holdfast.tools.host.chart_scale import Scale, shown_number

ChartType = Literal["line", "bar", "area", "scatter", "pie"]

WIDTH, HEIGHT = 800, 450
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 60, 60
MOST_SLICES = 24
_CHARACTER, _GAP = 6.7, 12.0
"""How wide a character of a label is about, and what is left free between two of them."""
_SWATCH = 14.0
_LEGEND, _LINE = 46.0, 16.0
"""Where the first line of the legend stands, and how far the next is below it."""
_TITLE, _NAME, _LABEL = 80, 24, 14
"""So many characters of a text are shown."""
_PIE = (250.0, 250.0, 160.0)
_HALF, _ALL = 0.5, 1 - 1e-6
_COLOURS = (
    "#3b82f6", "#ef6c4d", "#22a06b", "#a56ef0", "#d99a1c", "#14a3b8",
    "#e0559b", "#7a8b2a", "#8c6d5a", "#6478a0", "#c24747", "#3f8f8f",
)  # fmt: skip
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#374151}"
    ".t{font-size:16px;font-weight:600}"
    ".g{stroke:#9ca3af;stroke-opacity:.35}"
    ".a{stroke:#6b7280;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#d1d5db}.a{stroke:#9ca3af}}"
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Words(NamedTuple):
    """What stands beside the data."""

    title: str = ""
    suffix: str = ""


def chart_svg(kind: ChartType, chart: Chart, words: Words) -> str:
    """The whole picture."""
    drawn = _pie(chart, words) if kind == "pie" else _plot(kind, chart, words)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' role="img" aria-label={quoteattr(_clean(words.title or kind, _TITLE))}>',
        f"<style>{_STYLE}</style>",
        _text(WIDTH / 2, 24, words.title, _TITLE, 'class="t" text-anchor="middle"'),
        *drawn,
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def slices_of(chart: Chart) -> list[tuple[str, float]]:
    """What a pie is cut into: positive values of the first series, the smallest put together."""
    found = [
        (label, value)
        for label, value in zip(chart.labels, chart.series[0].values, strict=True)
        if value is not None and value > 0
    ]
    if len(found) <= MOST_SLICES:
        return found
    largest = sorted(range(len(found)), key=lambda place: (-found[place][1], place))
    kept = sorted(largest[: MOST_SLICES - 1])
    rest = math.fsum(found[place][1] for place in largest[MOST_SLICES - 1 :])
    return [*(found[place] for place in kept), ("other", rest)]


class _Plot(NamedTuple):
    """What is drawn, and where."""

    kind: ChartType
    chart: Chart
    words: Words
    xs: Sequence[float]
    """Where each row stands."""
    labels: Sequence[tuple[float, str]]
    """What stands below."""
    ys: Scale
    top: float


def _plot(kind: ChartType, chart: Chart, words: Words) -> Iterator[str]:
    values = [value for one in chart.series for value in one.values if value is not None]
    from_zero = kind in ("bar", "area")
    legend = list(_legend(chart.series))
    top = max(TOP, legend[-1].y + _LINE)
    ys = Scale.over([*values, 0.0] if from_zero else values, HEIGHT - BOTTOM, top)
    plot = _Plot(kind, chart, words, *_across(kind, chart), ys, top)
    yield from _grid(plot)
    yield f'<path class="a" d="M{LEFT} {_n(top)}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
    if ys.low < 0 < ys.high:
        yield f'<path class="a" d="M{LEFT} {_n(ys.at(0.0))}H{WIDTH - RIGHT}"/>'
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, chart.x_name, _NAME, _MIDDLE)
    for number in range(len(chart.series)):
        yield from (_bars if kind == "bar" else _points)(plot, number)
    for number, entry in enumerate(legend):
        yield _swatch(entry.x, entry.y - 9, number)
        yield _text(entry.x + _SWATCH, entry.y, entry.name, _NAME, "")


def _across(kind: ChartType, chart: Chart) -> tuple[list[float], list[tuple[float, str]]]:
    """Rows stand by their numbers where their labels are such, or else side by side."""
    numbers = [number_in(label) for label in chart.labels]
    known = [number for number in numbers if number is not None]
    rising = all(one < two for one, two in pairwise(known))
    if kind != "bar" and len(known) == len(numbers) and (rising or kind == "scatter"):
        scale = Scale.over(known, LEFT, WIDTH - RIGHT, exact=True)
        ticks = [(scale.at(tick), scale.shown(tick)) for tick in scale.ticks()]
        return [scale.at(number) for number in known], ticks
    room = (WIDTH - LEFT - RIGHT) / max(1, len(numbers))
    xs = [LEFT + room * (place + 0.5) for place in range(len(numbers))]
    widest = max((_width(_clean(label, _LABEL)) for label in chart.labels), default=0.0)
    step = max(1, math.ceil((widest + _GAP) / room))
    return xs, list(zip(xs, chart.labels, strict=True))[::step]


def _grid(plot: _Plot) -> Iterator[str]:
    for tick in plot.ys.ticks():
        y = plot.ys.at(tick)
        yield f'<path class="g" d="M{LEFT} {_n(y)}H{WIDTH - RIGHT}"/>'
        yield _text(LEFT - 8, y + 4, plot.ys.shown(tick), _LABEL, 'text-anchor="end"')
    for x, label in plot.labels:
        yield _text(x, HEIGHT - BOTTOM + 18, label, _LABEL, _MIDDLE)


def _bars(plot: _Plot, number: int) -> Iterator[str]:
    chart, series = plot.chart, plot.chart.series[number]
    room = (WIDTH - LEFT - RIGHT) / max(1, len(chart.labels))
    wide = room * 0.8 / len(chart.series)
    floor = plot.ys.at(0.0)
    for place, value in enumerate(series.values):
        if value is None:
            continue
        x, y = LEFT + room * (place + 0.1) + wide * number, plot.ys.at(value)
        yield (
            f'<rect x="{_n(x)}" y="{_n(min(y, floor))}" width="{_n(wide)}"'
            f' height="{_n(abs(y - floor))}" fill="{_colour(number)}">'
            f"{_tip(series, chart.labels[place], value, plot.words)}</rect>"
        )


def _points(plot: _Plot, number: int) -> Iterator[str]:
    series, colour = plot.chart.series[number], _colour(number)
    points = [
        None if value is None else (x, plot.ys.at(value))
        for x, value in zip(plot.xs, series.values, strict=True)
    ]
    if plot.kind != "scatter":
        for run in _runs(points):
            yield from _line(plot, run, colour)
    size = 4 if plot.kind == "scatter" else 2.5
    for point, label, value in zip(points, plot.chart.labels, series.values, strict=True):
        if point is not None and value is not None:
            yield (
                f'<circle cx="{_n(point[0])}" cy="{_n(point[1])}" r="{_n(size)}" fill="{colour}">'
                f"{_tip(series, label, value, plot.words)}</circle>"
            )


def _line(plot: _Plot, run: Sequence[tuple[float, float]], colour: str) -> Iterator[str]:
    line = "L".join(f"{_n(x)} {_n(y)}" for x, y in run)
    if plot.kind == "area":
        floor = _n(plot.ys.at(0.0))
        shape = f"M{_n(run[0][0])} {floor}L{line}L{_n(run[-1][0])} {floor}Z"
        yield f'<path d="{shape}" fill="{colour}" fill-opacity=".25"/>'
    yield f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _runs(points: Sequence[tuple[float, float] | None]) -> Iterator[list[tuple[float, float]]]:
    """What stands together without a gap."""
    run: list[tuple[float, float]] = []
    for point in (*points, None):
        if point is not None:
            run.append(point)
        elif run:
            yield run
            run = []


def _pie(chart: Chart, words: Words) -> Iterator[str]:
    slices = slices_of(chart)
    largest = max((value for _, value in slices), default=1.0)
    total = math.fsum(value / largest for _, value in slices) or 1.0
    begun = 0.0
    for number, (label, value) in enumerate(slices):
        share = value / largest / total
        tip = _tip(chart.series[0], label, value, words)
        yield _slice(begun, share, f'fill="{_colour(number)}"', tip)
        begun += share
        top = 70 + number * 15
        yield _swatch(470, top, number)
        said = f"{_clean(label, _NAME)}: {shown_number(value)}{words.suffix} ({share:.1%})"
        yield _text(486, top + 9, said, _TITLE, "")


def _slice(begun: float, share: float, fill: str, tip: str) -> str:
    x, y, radius = _PIE
    if share > _ALL:
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" {fill}>{tip}</circle>'
    (x1, y1), (x2, y2) = (
        (x + radius * math.sin(end * math.tau), y - radius * math.cos(end * math.tau))
        for end in (begun, begun + share)
    )
    arc = f"A{_n(radius)} {_n(radius)} 0 {int(share > _HALF)} 1 {_n(x2)} {_n(y2)}"
    shape = f"M{_n(x)} {_n(y)}L{_n(x1)} {_n(y1)}{arc}Z"
    return f'<path d="{shape}" {fill} stroke="#ffffff" stroke-opacity=".6">{tip}</path>'


class _Entry(NamedTuple):
    """One name of the legend."""

    x: float
    y: float
    name: str


def _legend(series: Sequence[Series]) -> Iterator[_Entry]:
    """One after the other, in as many lines as they need."""
    x, y = float(LEFT), _LEGEND
    for one in series:
        name = _clean(one.name, _NAME)
        wide = _SWATCH + _width(name)
        if x > LEFT and x + wide > WIDTH - RIGHT:
            x, y = float(LEFT), y + _LINE
        yield _Entry(x, y, name)
        x += wide + _GAP


def _swatch(x: float, y: float, number: int) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="10" height="10" fill="{_colour(number)}"/>'


def _width(text: str) -> float:
    return _CHARACTER * len(text)


_MIDDLE = 'text-anchor="middle"'


def _text(x: float, y: float, text: str, most: int, attributes: str) -> str:
    said = escape(_clean(text, most))
    return f'<text x="{_n(x)}" y="{_n(y)}" {attributes}>{said}</text>' if said else ""


def _tip(series: Series, label: str, value: float, words: Words) -> str:
    said = f"{_clean(series.name, _NAME)}, {_clean(label, _NAME)}: {shown_number(value)}"
    return f"<title>{escape(_clean(said + words.suffix, _TITLE))}</title>"


def _clean(text: str, most: int) -> str:
    """One line of characters that XML may hold, cut to a length."""
    line = " ".join(_NOT_XML.sub("", text).split())
    return cut_text(line, most)


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _n(value: float) -> str:
    """A coordinate, short."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
