"""A project's file can only narrow. What it wanted beyond that is a notice, and not applied."""

import pytest
from places import Places
from support import make_tool

from holdfast.app.settings import Settings, limited
from holdfast.contract.tool import Limits, OutputBound, Tool


def _limits(tool: Tool) -> tuple[float | None, int, int | None]:
    output = tool.limits.output
    return tool.limits.wall_seconds, output.max_bytes, output.max_items


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[tools]\nfiles = ["evil.py"]', "tools.files"),
        ('[secrets]\nvariables = ["HOME"]', "secrets.variables"),
        ("[limits]\nargument_bytes = 99_000_000_000", "limits.argument_bytes"),
        ('[profile.code.tools]\nallow = ["*"]', "profile.code.tools.allow"),
        ('[profile.code.tools]\nalso_allow = ["*"]', "profile.code.tools.also_allow"),
        ('[profile.other.tools]\ndeny = ["x"]', "profile.other.tools.deny"),
    ],
)
def test_what_would_widen_is_not_applied_and_is_reported(
    places: Places, text: str, key: str
) -> None:
    loaded = places.load(project=text)
    assert loaded.settings == Settings()
    (notice,) = loaded.notices
    assert notice.startswith(f"{places.project_file}: {key}")


def test_a_project_may_deny_more_but_take_nothing_back(places: Places) -> None:
    user = '[profile.code.tools]\nallow = ["a*"]\ndeny = ["ax"]\n'
    project = '[profile.code.tools]\nallow = []\ndeny = ["ay", "ax"]\n'
    loaded = places.load(user=user, project=project)
    visibility = loaded.settings.profile["code"].tools
    assert visibility.allow == ("a*",)
    assert visibility.deny == ("ax", "ay")
    assert len(loaded.notices) == 1


def test_a_profile_named_later_can_be_narrowed_too(places: Places) -> None:
    variables = {"HOLDFAST_PROFILE__NIGHT__TOOLS__ALLOW": '["a*"]'}
    loaded = places.load(project='[profile.night.tools]\ndeny = ["ab"]\n', variables=variables)
    assert loaded.settings.profile["night"].tools.deny == ("ab",)
    assert loaded.notices == ()


def test_limits_may_get_smaller_but_not_larger_than_the_persons(places: Places) -> None:
    user = "[limits]\nargument_bytes = 500\nsidecar_call_bytes = 500\n"
    project = "[limits]\nargument_bytes = 400\nsidecar_call_bytes = 600\n"
    loaded = places.load(user=user, project=project)
    assert loaded.settings.limits.argument_bytes == 400
    assert loaded.settings.limits.sidecar_call_bytes == 500
    (notice,) = loaded.notices
    assert "limits.sidecar_call_bytes = 600: larger than 500" in notice


@pytest.mark.parametrize(
    "key",
    ["argument_bytes", "sidecar_call_bytes", "tool.probe.max_bytes", "tool.probe.wall_seconds"],
)
def test_a_limit_as_large_as_the_persons_is_taken_and_no_larger_one(
    places: Places, key: str
) -> None:
    table, _, name = f"limits.{key}".rpartition(".")
    user = f"[{table}]\n{name} = 500\n"
    assert places.load(user=user, project=f"[{table}]\n{name} = 500\n").notices == ()
    (notice,) = places.load(user=user, project=f"[{table}]\n{name} = 501\n").notices
    assert f"limits.{key} = 501: larger than 500" in notice


def test_a_tools_limit_from_a_project_never_exceeds_the_tools_own(places: Places) -> None:
    project = "[limits.tool.probe]\nmax_bytes = 900\nwall_seconds = 1.5\nmax_items = 7\n"
    limits = places.load(project=project).settings.limits
    small = make_tool(limits=Limits(wall_seconds=1.0, output=OutputBound(max_bytes=100)))
    assert _limits(limited(small, limits)) == (1.0, 100, 7)
    large = make_tool(limits=Limits(wall_seconds=None, output=OutputBound(max_bytes=9_000)))
    assert _limits(limited(large, limits)) == (1.5, 900, 7)


def test_a_tools_limit_larger_than_the_persons_is_reported(places: Places) -> None:
    user = "[limits.tool.probe]\nmax_bytes = 50\n"
    loaded = places.load(user=user, project="[limits.tool.probe]\nmax_bytes = 60\n")
    assert _limits(limited(make_tool(), loaded.settings.limits))[1] == 50
    (notice,) = loaded.notices
    assert "limits.tool.probe.max_bytes = 60: larger than 50" in notice


def test_the_person_at_the_keyboard_outweighs_the_project(places: Places) -> None:
    loaded = places.load(
        project="[limits.tool.probe]\nmax_bytes = 5\nmax_items = 5\n",
        overrides={"limits.tool.probe.max_bytes": "800"},
    )
    assert _limits(limited(make_tool(), loaded.settings.limits))[1:] == (800, 5)
