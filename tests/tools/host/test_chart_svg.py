"""Pictures of charts: well-formed, finite and the same, whatever the data."""

import math
import re
import tracemalloc
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import InvalidArguments, OperationFailed
from holdfast.contract.json_value import encode_json
from holdfast.tools.host.chart_data import (
    Chart,
    DataFormat,
    Series,
    chart_of,
    number_in,
    read_table,
    sampled,
)
from holdfast.tools.host.chart_scale import Scale
from holdfast.tools.host.chart_svg import ChartType, Words, chart_svg, slices_of

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "style", "text", "path", "rect", "circle", "title"}
kinds = st.sampled_from(get_args(ChartType))
INJECTIONS = (
    "</svg><script>alert(1)</script>", "]]>", '" onload="x', "&amp;", "<!--", "\x00\x1b", "\ud800",
    "\ufffe",
)  # fmt: skip
hostile = st.one_of(st.text(max_size=30), st.sampled_from(INJECTIONS))
numbers = st.one_of(
    st.none(), st.floats(-1e300, 1e300), st.integers(-100, 100).map(float), st.just(5e-324)
)


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    count = draw(st.integers(1, 12))
    series = [
        Series(draw(hostile), tuple(draw(st.lists(numbers, min_size=count, max_size=count))))
        for _ in range(draw(st.integers(1, 14)))
    ]
    label = st.one_of(hostile, st.floats(allow_nan=False).map(str))
    labels = draw(st.lists(label, min_size=count, max_size=count))
    shown = tuple(one for one in series if any(value is not None for value in one.values))
    fallback = (Series("a", (1.0, *[None] * (count - 1))),)
    return Chart(draw(hostile), tuple(labels), shown or fallback, count, ())


@given(kinds, charts(), hostile, hostile)
def test_every_picture_is_well_formed_and_holds_nothing_but_its_own_elements(
    kind: ChartType, chart: Chart, title: str, suffix: str
) -> None:
    picture = chart_svg(kind, chart, Words(title, suffix))
    root = ET.fromstring(picture)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= ELEMENTS
    assert not any(name.startswith("on") for one in root.iter() for name in one.attrib)
    assert len([*root.iter(f"{SVG}style")]) == 1
    assert picture == chart_svg(kind, chart, Words(title, suffix))


@given(kinds, charts())
def test_every_coordinate_is_a_number_within_reach(kind: ChartType, chart: Chart) -> None:
    root = ET.fromstring(chart_svg(kind, chart, Words()))
    for one in root.iter():
        drawn = " ".join(value for name, value in one.attrib.items() if name in DRAWN)
        assert not re.search("nan|inf", drawn, re.IGNORECASE)
        for text in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", drawn):
            assert -1 <= float(text) <= 900


DRAWN = ("x", "y", "d", "width", "height", "cx", "cy", "r")


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20), st.booleans())
def test_a_scale_holds_its_numbers_in_order_and_has_few_ticks(
    values: list[float], exact: bool
) -> None:
    scale = Scale.over(values, 0.0, 100.0, exact=exact)
    places = [scale.at(value) for value in sorted(values)]
    assert all(math.isfinite(place) and 0 <= place <= 100 for place in places)
    assert places == sorted(places)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 13
    assert all(math.isfinite(tick) and scale.shown(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0, 10], ["0", "2", "4", "6", "8", "10"]),
        ([-5, 19.5], ["-5", "0", "5", "10", "15", "20"]),
        ([0.1, 0.35], ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]),
        ([1_000, 5_000], ["1,000", "2,000", "3,000", "4,000", "5,000"]),
        ([0, 3e12], ["0", "1T", "2T", "3T"]),
        ([0, 1.4e9], ["0", "0.5B", "1.0B", "1.5B"]),
        ([0, 3e15], ["0", "1e+15", "2e+15", "3e+15"]),
    ],
)
def test_ticks_are_round(values: list[float], shown: list[str]) -> None:
    scale = Scale.over([*map(float, values)], 0.0, 1.0)
    assert [scale.shown(tick) for tick in scale.ticks()] == shown


@given(st.integers(0, 20_000), st.integers(2, 600))
def test_a_sample_is_even_and_keeps_both_ends(count: int, most: int) -> None:
    found = sampled(count, most)
    assert found == sorted(set(found))
    assert len(found) == min(count, most)
    if found:
        assert (found[0], found[-1]) == (0, count - 1)


@given(st.text(), st.sampled_from(get_args(DataFormat)), kinds)
def test_no_data_is_too_odd(data: str, written_in: DataFormat, kind: ChartType) -> None:
    try:
        table = read_table(data, written_in)
        assert len(set(table.columns)) == len(table.columns)
        assert all(len(row) == len(table.columns) for row in table.rows)
        chart = chart_of(table, table.columns[:12], None)
    except (InvalidArguments, OperationFailed):
        return
    ET.fromstring(chart_svg(kind, chart, Words()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3.0), (" -1.5 ", -1.5), ("1,234.5", 1234.5), ("1e3", 1000.0), (".5", 0.5),
        ("nan", None), ("inf", None), ("1e999", None), ("1,23", None), ("", None), ("0x10", None),
        ("1_000", None), ("٣", None),
    ],
)  # fmt: skip
def test_what_is_a_number(text: str, value: float | None) -> None:
    assert number_in(text) == value


@given(st.lists(st.floats(-10, 1e299), min_size=1, max_size=60))
def test_a_pie_has_few_slices_that_are_all_there_is(values: list[float]) -> None:
    labels = tuple(map(str, range(len(values))))
    chart = Chart("x", labels, (Series("a", tuple(values)),), len(values), ())
    slices = slices_of(chart)
    assert len(slices) <= 24
    whole = math.fsum(value for value in values if value > 0)
    assert math.isclose(math.fsum(value for _, value in slices), whole, rel_tol=1e-9)


def texts(picture: str) -> list[tuple[float, float, str]]:
    return [
        (float(one.attrib["x"]), float(one.attrib["y"]), one.text or "")
        for one in ET.fromstring(picture).iter(f"{SVG}text")
    ]


@given(st.lists(st.text("abc ", min_size=1, max_size=40), min_size=1, max_size=12))
def test_names_of_the_legend_stand_apart_and_above_the_plot(names: list[str]) -> None:
    series = tuple(Series(f"n{name}", (1.0, 2.0)) for name in names)
    drawn = texts(chart_svg("line", Chart("x", ("a", "b"), series, 2, ()), Words("title")))
    legend = [one for one in drawn if one[2].startswith("n")]
    assert len(legend) == len(names)
    for (x1, y1, text), (x2, y2, _) in pairwise(legend):
        assert y2 > y1 or x2 >= x1 + 6 * len(text) + 20
    for x, y, text in legend:
        assert 30 < y <= 430
        assert x + 6 * len(text) <= 800
    highest = min(y for x, y, _ in drawn if x < 70 and y > 30)
    assert highest > max(y for _, y, _ in legend)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 12),
        ([f"2026-01-{day:02d} 12:00" for day in range(1, 31)], 6),
    ],
)
def test_as_many_labels_stand_below_as_have_room(labels: list[str], shown: int) -> None:
    series = (Series("a", (1.0,) * len(labels)),)
    chart = Chart("x", tuple(labels), series, len(labels), ())
    below = [one for one in texts(chart_svg("bar", chart, Words())) if one[1] == 408]
    assert len(below) == shown
    for (x1, _, text), (x2, _, other) in pairwise(below):
        assert x2 - x1 > 3.3 * (len(text) + len(other))


def test_nought_is_marked_where_values_lie_on_both_sides_of_it() -> None:
    def lines(*values: float) -> int:
        chart = Chart("x", ("a", "b"), (Series("s", values),), 2, ())
        return chart_svg("bar", chart, Words()).count('class="a"')

    assert (lines(1.0, -1.0), lines(1.0, 2.0)) == (2, 1)


WIDE = 1_000
LONG = 20_000
SHAPES = {
    "csv": ",".join(f"c{at}" for at in range(WIDE)) + "\n" + "1\n" * LONG,
    "json": encode_json(
        [
            {f"c{at % WIDE}": 1} if at else {f"c{one}": 1 for one in range(WIDE)}
            for at in range(LONG)
        ]
    ).decode(),
    "columns": encode_json({f"c{at}": [1] * (1 if at else LONG) for at in range(WIDE)}).decode(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_takes_no_more_room_than_the_rows_that_are_kept(shape: str) -> None:
    """Short rows of a wide table are filled up, but not those that are not kept."""
    tracemalloc.start()
    try:
        table = read_table(SHAPES[shape], "csv" if shape == "csv" else "json")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(table.columns), len(table.rows), table.total_rows) == (WIDE, 500, LONG)
    assert {len(row) for row in table.rows} == {WIDE}
    assert most < 32 * 1024 * 1024


@pytest.mark.parametrize("shape", ["csv", "tsv", "objects", "lists", "columns"])
def test_a_table_with_too_many_columns_is_refused(shape: str) -> None:
    names = [f"c{at}" for at in range(100_000)]
    texts = {
        "csv": ",".join(names) + "\n1\n",
        "tsv": "\t".join(names) + "\n1\n",
        "objects": encode_json([{name: 1} for name in names]).decode(),
        "lists": encode_json([list(names), [1]]).decode(),
        "columns": encode_json({name: [1] for name in names}).decode(),
    }
    with pytest.raises(InvalidArguments, match="at most 1,000 columns"):
        read_table(texts[shape], "csv" if shape == "csv" else "tsv" if shape == "tsv" else "json")
