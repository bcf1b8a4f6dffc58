"""Whatever is written, there are settings or a ConfigurationError; a project never widens."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from places import make_places

from holdfast.app.configuration import Configuration, ConfigurationError
from holdfast.app.settings import LimitSettings, Settings

_SIZES = ("argument_bytes", "sidecar_call_bytes", "sidecar_session_bytes")
_PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
_VALUES = st.sampled_from(
    ["1", "0", "-5", "true", "inf", "nan", '"x"', "[]", '["a"]', "{}", "1979-05-27", "x", "[1", ""]
)
_KEYS = st.sampled_from(
    [
        "limits",
        "limits.argument_bytes",
        "limits.tool",
        "limits.tool.w",
        "limits.tool.w.wall_seconds",
        "limits.tool.w.max_bytes",
        "profile.code",
        "profile.code.tools.deny",
        "profile.code.tools.allow",
        "secrets.variables",
        "tools.files",
        "nonsense",
    ]
)
_LINES = st.lists(st.tuples(_KEYS, _VALUES), max_size=5).map(
    lambda pairs: "".join(f"{key} = {value}\n" for key, value in pairs)
)
_ENTRIES = st.dictionaries(_KEYS | _PLAIN, _VALUES | _PLAIN, max_size=4)


def _load(
    user: str, project: str, variables: dict[str, str], overrides: dict[str, str]
) -> Configuration | None:
    with tempfile.TemporaryDirectory() as folder:
        places = make_places(Path(folder))
        named = {f"HOLDFAST_{key.upper().replace('.', '__')}": v for key, v in variables.items()}
        try:
            return places.load(user=user, project=project, variables=named, overrides=overrides)
        except ConfigurationError:
            return None


@given(user=_LINES | _PLAIN, project=_LINES | _PLAIN, variables=_ENTRIES, overrides=_ENTRIES)
def test_loading_never_raises_anything_but_a_configuration_error(
    user: str, project: str, variables: dict[str, str], overrides: dict[str, str]
) -> None:
    loaded = _load(user, project, variables, overrides)
    assert loaded is None or isinstance(loaded.settings, Settings)


@st.composite
def _limits(draw: st.DrawFn) -> str:
    chosen = draw(st.dictionaries(st.sampled_from(_SIZES), st.integers(1, 1 << 40)))
    return "[limits]\n" + "".join(f"{key} = {value}\n" for key, value in chosen.items())


def _sizes(limits: LimitSettings) -> list[int]:
    return [limits.argument_bytes, limits.sidecar_call_bytes, limits.sidecar_session_bytes]


@given(user=_limits(), project=_limits())
def test_a_projects_limits_are_never_above_what_held_without_it(user: str, project: str) -> None:
    without, with_it = _load(user, "", {}, {}), _load(user, project, {}, {})
    assert without is not None
    assert with_it is not None
    pairs = zip(_sizes(with_it.settings.limits), _sizes(without.settings.limits), strict=True)
    assert all(narrowed <= before for narrowed, before in pairs)


_NAMES = st.lists(st.text("ab*", min_size=1, max_size=3), max_size=3)


@given(allow=_NAMES, deny=_NAMES, more=_NAMES, also=_NAMES, name=st.text("ab", min_size=1))
def test_a_project_never_shows_a_tool_that_was_hidden(
    allow: list[str], deny: list[str], more: list[str], also: list[str], name: str
) -> None:
    user = f"[profile.code.tools]\nallow = {allow}\ndeny = {deny}\n"
    project = f"[profile.code.tools]\nallow = {also}\nalso_allow = {also}\ndeny = {more}\n"
    without, with_it = _load(user, "", {}, {}), _load(user, project, {}, {})
    assert without is not None
    assert with_it is not None
    hidden = not without.settings.profile["code"].tools.admits(name)
    assert not (hidden and with_it.settings.profile["code"].tools.admits(name))
