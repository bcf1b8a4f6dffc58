"""Rules of a profile: those of every layer count together, and each says where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import Places

from holdfast import Holdfast, tool
from holdfast.app.keys import Table
from holdfast.app.locations import state_home
from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import read_project
from holdfast.app.rule_sources import name_sources
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.trust import TrustFile

MINE = """
# my own
[[profile.bare.rules]]
permission = "fs.write"
pattern = "*"
action = "deny"
"""
THEIRS = '[[profile.bare.rules]]\npermission = "fs.write"\npattern = "*"\naction = "allow"\n'


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
def put(path: str) -> str:
    """Write (not really), e.g. path='x'."""
    return path


def trusted(places: Places) -> None:
    seen = read_project(places.project)
    assert seen is not None
    TrustFile(state_home(places.environment)).trust(places.project, seen)


async def test_a_trusted_project_adds_rules_to_a_profile_and_takes_no_deny_back(
    places: Places,
) -> None:
    places.project_file.write_text(THEIRS, "utf-8")
    trusted(places)
    found = places.load(user=MINE)
    assert found.trusted
    assert [(one.action, one.source) for one in found.settings.profile["bare"].rules] == [
        ("deny", f"{places.user_file}:3"),
        ("allow", f"{places.project_file}:1"),
    ]
    hf = Holdfast(
        tools=[put],
        configuration=found,
        workspace=places.project,
        surroundings=surroundings_of_this_process(found.settings, environment=places.environment),
    )
    async with hf:
        refused = await hf.settle("put", {"path": "x"})
    assert refused.failure is not None
    assert f"({places.user_file}:3)" in refused.failure.message


def test_variables_and_overrides_add_rules_too(places: Places) -> None:
    more = '[{ permission = "sh", pattern = "*" }]'
    variable = "HOLDFAST_PROFILE__BARE__RULES"
    found = places.load(
        user=MINE, variables={variable: more}, overrides={"profile.bare.rules": more}
    )
    assert [one.source for one in found.settings.profile["bare"].rules] == [
        f"{places.user_file}:3",
        f"environment variable {variable}: profile.bare",
        "override profile.bare.rules: profile.bare",
    ]


def test_a_rule_does_not_say_itself_where_it_stands(places: Places) -> None:
    with pytest.raises(ConfigurationError, match=r"profile\.bare\.rules #1\.source: there is no"):
        places.load(user=f'{MINE}source = "/etc/holdfast/policy.toml:1"\n')


NAMES = st.sampled_from(["code", '"code"', " 'code' ", "other", "co-de"])


@given(st.lists(st.tuples(NAMES, st.integers(0, 3)), max_size=6))
def test_every_rule_is_given_the_line_of_its_heading(written: list[tuple[str, int]]) -> None:
    text, lines, table = "", dict[str, list[int]](), dict[str, list[Table]]()
    for name, blank in written:
        text += "\n" * blank
        plain = name.strip().strip("\"'")
        lines.setdefault(plain, []).append(text.count("\n") + 1)
        table.setdefault(plain, []).append({"permission": "x"})
        text += f'  [[ profile.{name} .rules ]] # one\npermission = "x"\n'
    whole: Table = {"profile": {name: {"rules": rules} for name, rules in table.items()}}
    name_sources(whole, "f.toml", text)
    for name, rules in table.items():
        assert [rule["source"] for rule in rules] == [f"f.toml:{line}" for line in lines[name]]
