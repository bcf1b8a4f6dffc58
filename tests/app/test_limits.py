"""The host changes any limit by configuration; no tool has to know."""

import pytest
from places import Places
from support import make_tool

from holdfast import Holdfast, tool
from holdfast.app.settings import Surroundings, limited
from holdfast.contract.tool import Limits, OutputBound


@tool
def lines(count: int) -> dict[str, list[str]]:
    """Write lines."""
    return {"lines": ["x" * 9] * count}


@pytest.mark.req("SPEC-TRUNC-14")
@pytest.mark.parametrize(
    ("key", "value", "cut"),
    [("max_bytes", "400", True), ("max_items", "3", True), ("max_bytes", "100000", False)],
)
async def test_a_host_moves_the_bound_of_a_tool_by_configuration(
    places: Places, key: str, value: str, cut: bool
) -> None:
    overrides = {f"limits.tool.lines.{key}": value}
    settings = places.load(overrides=overrides).settings
    surroundings = Surroundings(data_home=places.home / "data")
    async with Holdfast(tools=[lines], settings=settings, surroundings=surroundings) as hf:
        envelope = await hf.settle("lines", {"count": 100})
    assert envelope.metadata.truncated is cut


@pytest.mark.req("SPEC-TRUNC-14")
def test_every_limit_of_a_tool_can_be_moved_both_ways(places: Places) -> None:
    keys = {"wall_seconds": "900.5", "max_bytes": "1_000_000", "max_items": "12"}
    overrides = {f"limits.tool.probe.{key}": value for key, value in keys.items()}
    changed = limited(make_tool(), places.load(overrides=overrides).settings.limits)
    assert changed.limits == Limits(
        wall_seconds=900.5, output=OutputBound(max_bytes=1_000_000, max_items=12)
    )


def test_infinity_takes_the_wall_clock_away(places: Places) -> None:
    settings = places.load(overrides={"limits.tool.probe.wall_seconds": "inf"}).settings
    assert limited(make_tool(), settings.limits).limits.wall_seconds is None


def test_a_tool_nobody_names_stays_as_it_is(places: Places) -> None:
    settings = places.load(overrides={"limits.tool.other.max_bytes": "5"}).settings
    probe = make_tool()
    assert limited(probe, settings.limits) is probe


@pytest.mark.req("SPEC-TRUNC-14")
async def test_quotas_and_argument_size_are_configuration_too(places: Places) -> None:
    settings = places.load(
        user="[limits]\nargument_bytes = 20\nsidecar_call_bytes = 500\n"
        "[limits.tool.lines]\nmax_bytes = 100\n"
    ).settings
    surroundings = Surroundings(data_home=places.home / "data")
    async with Holdfast(tools=[lines], settings=settings, surroundings=surroundings) as hf:
        cut = await hf.settle("lines", '{"count": 99}')
        refused = await hf.settle("lines", '{"count": 99, "pad": "xxxxxxxx"}')
    assert cut.metadata.output_bytes == 989
    assert cut.metadata.dropped_bytes == 489
    assert refused.failure is not None
    assert "at most 20 are accepted" in refused.failure.message
