"""Limits of single tools that change nothing: a misspelt name, a project that wants more."""

import pytest
from places import Places

from holdfast import tool
from holdfast.app.doubts import Doubt, vain_limits
from holdfast.contract.tool import Limits, OutputBound, Tool


@tool(limits=Limits(wall_seconds=None, output=OutputBound(max_bytes=500)))
def weather(city: str) -> str:
    """The weather."""
    return city


KNOWN = [weather.tool]
SMALLER = "a project may only make limits smaller until you run holdfast trust"


@pytest.mark.parametrize(
    ("project", "tools", "doubts"),
    [
        ("max_bytes = 500", KNOWN, []),
        ("wall_seconds = 999\nmax_items = 7", KNOWN, []),
        (
            "max_bytes = 501",
            KNOWN,
            [
                Doubt(
                    "not applied: limits.tool.weather.max_bytes = 501: larger than the tool's 500",
                    SMALLER,
                )
            ],
        ),
        ("wall_seconds = 120", [], []),
        (
            "wall_seconds = 999",
            [],
            [
                Doubt(
                    "limits.tool.weather.wall_seconds = 999:"
                    " larger than the 120 that tools have by default",
                    f"{SMALLER}; it is applied to a tool whose own is larger",
                )
            ],
        ),
    ],
)
def test_what_a_project_wants_beyond_the_tools_own_limit_is_said(
    places: Places, project: str, tools: list[Tool], doubts: list[Doubt]
) -> None:
    loaded = places.load(project=f"[limits.tool.weather]\n{project}\n")
    assert list(vain_limits(loaded.settings.limits, tools)) == doubts


def test_what_was_weighed_against_the_hosts_own_limit_is_not_said_twice(places: Places) -> None:
    loaded = places.load(
        user="[limits.tool.weather]\nmax_bytes = 900\n",
        project="[limits.tool.weather]\nmax_bytes = 800\n",
    )
    assert list(vain_limits(loaded.settings.limits, KNOWN)) == []


def test_a_name_that_no_tool_has_is_said_once_tools_are_known(places: Places) -> None:
    misspelt = "[limits.tool.wether]\nwall_seconds = 1\n"
    for loaded in (places.load(user=misspelt), places.load(user="", project=misspelt)):
        assert list(vain_limits(loaded.settings.limits, [])) == []
        assert list(vain_limits(loaded.settings.limits, KNOWN)) == [
            Doubt("limits.tool.wether: no configured tool has this name", "did you mean 'weather'?")
        ]
