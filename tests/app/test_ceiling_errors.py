"""A ceiling or a requirement that cannot be one: whose it is, where it stands, what to do."""

import json

import msgspec
import pytest
from places import Places

from holdfast import Holdfast, ToolDefinitionError, tool
from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings, Settings

HUGE = "{a,b}" * 9


@pytest.mark.parametrize(
    ("key", "entry", "said"),
    [
        ("read", "../x", "climbs out with '..'"),
        ("write", "{nope}/x", "unknown variable"),
        ("hosts", "https://x/y", "is no host"),
        ("read", HUGE, "alternatives"),
        ("shell", {"cmd": "/usr/bin/git"}, "git"),
    ],
)
@pytest.mark.parametrize("where", ["file", "variable", "override", "code"])
def test_a_ceiling_that_is_none_says_where_it_stands_and_what_to_do(
    places: Places, where: str, key: str, entry: object, said: str
) -> None:
    written = json.dumps([entry]).replace('{"cmd": ', "{ cmd = ")
    name = f"policy.ceiling.{key}"
    variable = f"HOLDFAST_POLICY__CEILING__{key.upper()}"
    ceiling = msgspec.convert({key: [entry]}, RequirementSettings)
    settings = Settings(policy=PolicySettings(ceiling=ceiling))
    origin, load = {
        "file": (
            f"{places.user_file}: {name}",
            lambda: places.load(user=f"[policy.ceiling]\n{key} = {written}\n"),
        ),
        "variable": (
            f"environment variable {variable}: {name}",
            lambda: places.load(variables={variable: written}),
        ),
        "override": (
            f"override {name}: {name}",
            lambda: places.load(overrides={name: written}),
        ),
        "code": (
            "policy.ceiling",
            lambda: Holdfast(settings=settings, workspace=places.project),
        ),
    }[where]
    with pytest.raises(ConfigurationError) as caught:
        load()
    assert str(caught.value).startswith(f"{origin}: ")
    assert said in str(caught.value)
    assert str(caught.value).endswith("; correct or remove that entry")


def test_a_tool_that_requires_what_cannot_be_is_named(places: Places) -> None:
    @tool(requires={"fs": {"read": ["../x"]}})
    def climbs() -> None:
        """Climb."""

    with pytest.raises(ToolDefinitionError, match=r"^tool 'climbs': requires: path pattern .*\.\."):
        Holdfast(tools=[climbs], settings=Settings(), workspace=places.project)
