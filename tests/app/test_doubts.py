"""What a configuration says of tools in vain: a misspelt name, a project that wants more."""

from pathlib import Path

import pytest
from places import Places

from holdfast import Holdfast, tool
from holdfast.app.doubts import Doubt, vain_filters, vain_limits
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Surroundings
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


MISSPELT = """
[profile.code.tools]
deny = ["bsh", "web_*", "execute_*", "hidden"]
also_allow = ["todos"]
[profile.mine]
toolsets = ["locked"]
tools.allow = ["wirte"]
[limits.tool.bsh]
wall_seconds = 1
[limits.tool.bash]
wall_seconds = 1
"""
FITS_NOTHING = [
    "profile.code.tools.also_allow: no tool is called 'todos'; did you mean 'todo'?",
    "profile.code.tools.deny: no tool is called 'bsh'; did you mean 'bash'?",
    "profile.code.tools.deny: no tool is called 'execute_*'; correct or remove it",
    "limits.tool.bsh: no tool has this name; did you mean 'bash'?",
]


def test_a_session_remarks_on_names_of_its_profile_that_no_tool_has(
    places: Places, tmp_path: Path
) -> None:
    @tool
    def hidden() -> None:
        """Hide me."""

    made = Holdfast(
        tools=[hidden],
        profile="code",
        configuration=places.load(user=MISSPELT),
        surroundings=Surroundings(data_home=tmp_path / "data"),
    )
    assert [one for one in made.remarks if "no tool" in one] == FITS_NOTHING


@pytest.mark.parametrize("given", [(), ("hidden", "other")])
def test_what_profiles_name_is_doubted_in_all_of_them(
    places: Places, given: tuple[str, ...]
) -> None:
    settings = places.load(user=MISSPELT).settings
    found = vain_filters(settings, settings.profile, given, only_these=bool(given))
    doubts = [f"{one.what}; {one.step}" for one in found]
    mine = "profile.mine.tools.allow: no tool is called 'wirte'; did you mean 'write'?"
    # Where a program may bring further tools, only what is like a known one is doubted.
    assert doubts == [one for one in FITS_NOTHING[:3] if given or "did you" in one] + [mine]


def test_limits_of_built_in_tools_are_no_doubt_and_misspelt_ones_are(places: Places) -> None:
    limits = places.load(user=MISSPELT).settings.limits
    meant = Doubt("limits.tool.bsh: no configured tool has this name", "did you mean 'bash'?")
    assert list(vain_limits(limits, [])) == [meant]
    assert list(vain_limits(limits, KNOWN)) == [meant]


def test_an_unknown_toolset_is_an_error_also_of_a_profile_not_in_use(places: Places) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"config.toml: profile.mine.toolsets: there is no toolset 'lokked'; did you mean",
    ):
        places.load(user='[profile.mine]\ntoolsets = ["locked", "lokked"]\n')
