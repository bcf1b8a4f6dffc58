"""The `[agent.NAME]` tables: their keys, whose file may have them, and what they name."""

from pathlib import Path

import pytest
from places import Places

from holdfast import ConfigurationError, Holdfast
from holdfast.app.agent_settings import AgentSettings
from holdfast.app.configuration import Configuration
from holdfast.app.locations import state_home
from holdfast.app.project_folder import read_project
from holdfast.app.settings import Surroundings
from holdfast.app.trust import TrustFile
from holdfast.contract.agents import RunLimits, Visibility

WHOLE = """
[agent.coder]
description = "Writes code."
mode = "primary"
model = "large"
profile = "code"
instructions = "Be brief."
roots = ["../lib"]
ad_hoc = ["notes.txt"]
subagents = ["reviewer"]
directives = true
guidance = false
tools_off = true

[agent.coder.requires]
read = ["docs/**"]
shell = [{ cmd = "ls", args = ["-l"] }]

[agent.coder.tools]
deny = ["web_fetch"]

[agent.coder.limits]
rounds = 10
tokens = 100_000
cost = 1.5
seconds = 600
retries = 0

[[agent.coder.rules]]
permission = "bash"
pattern = "rm *"
action = "deny"

[[agent.coder.rules]]
permission = "fs.write"
pattern = "dist/**"

[agent.reviewer]
mode = "subagent"
"""


def trust(places: Places) -> None:
    seen = read_project(places.project.resolve())
    assert seen is not None
    TrustFile(state_home(places.environment)).trust(places.project.resolve(), seen)


def test_a_table_says_all_that_an_agent_is(places: Places) -> None:
    loaded = places.load(user=WHOLE)
    coder = loaded.settings.agent["coder"]
    assert (coder.mode, coder.model, coder.profile) == ("primary", "large", "code")
    assert (coder.roots, coder.ad_hoc, coder.subagents) == (
        ("../lib",),
        ("notes.txt",),
        ("reviewer",),
    )
    assert (coder.directives, coder.guidance, coder.tools_off) == (True, False, True)
    assert coder.tools == Visibility(deny=("web_fetch",))
    assert coder.limits == RunLimits(rounds=10, tokens=100_000, cost=1.5, seconds=600.0, retries=0)
    assert [(one.cmd, one.args) for one in coder.requires.shell] == [("ls", ("-l",))]
    lines = [WHOLE.splitlines().index("[[agent.coder.rules]]") + 1]
    lines.append(lines[0] + 5)
    assert [one.source for one in coder.rules] == [f"{places.user_file}:{at}" for at in lines]
    assert loaded.settings.agent["reviewer"] == AgentSettings(mode="subagent")


def test_a_rule_of_a_profile_of_the_same_name_is_told_apart(places: Places) -> None:
    rule = 'permission = "bash"\npattern = "rm *"\n'
    loaded = places.load(user=f"[[agent.x.rules]]\n{rule}\n[[profile.x.rules]]\n{rule}")
    assert loaded.settings.agent["x"].rules[0].source == f"{places.user_file}:1"
    assert loaded.settings.profile["x"].rules[0].source == f"{places.user_file}:5"
    inline = places.load(user='[agent.x]\nrules = [{ permission = "bash", pattern = "x" }]\n')
    assert inline.settings.agent["x"].rules[0].source == f"{places.user_file}: agent.x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[agent.coder]\ninstrutions = ''", "agent.coder.instrutions: there is no such key; did"),
        ("[agnet.coder]", "agnet: there is no such key; did you mean 'agent'?"),
        ("[agent.coder]\nmode = 'both'", "agent.coder.mode: it must be one of primary, subagent"),
        ("[agent.coder.limits]\nround = 1", "agent.coder.limits.round: there is no such key"),
        ("[agent.coder.limits]\nrounds = 0", "agent.coder.limits.rounds: expected a whole number"),
        ("[agent.coder.limits]\ncost = 0", "agent.coder.limits.cost: expected a number > 0"),
        ("[agent.coder.requires]\nfs = []", "agent.coder.requires.fs: there is no such key"),
        ("[agent.coder]\nid = 'x'", "agent.coder.id: there is no such key"),
        ("[[agent.coder.rules]]\npattern = 'x'", "agent.coder.rules #1: permission is missing"),
        (
            "[[agent.coder.rules]]\npermission = 'x'\npattern = 'x'\nsource = 'me'",
            "agent.coder.rules #1.source: there is no such key",
        ),
        ("[agent]\ncoder = 3", "agent.coder: expected a table"),
    ],
)
def test_a_key_that_is_none_is_an_error(places: Places, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        places.load(user=text)
    assert str(raised.value).startswith(f"{places.user_file}: {said}")


def test_variables_and_overrides_say_more_of_an_agent(places: Places) -> None:
    loaded = places.load(
        user='[agent.coder]\nmodel = "small"\n',
        variables={"HOLDFAST_AGENT__CODER__MODEL": "large"},
        overrides={"agent.coder.limits.rounds": "3"},
    )
    assert loaded.settings.agent["coder"] == AgentSettings(
        model="large", limits=RunLimits(rounds=3)
    )


# --- whose file it is ---------------------------------------------------------------------------

THEIRS = """
[agent.coder]
profile = "code"
roots = ["/"]

[agent.coder.requires]
read = ["/**"]

[[agent.coder.rules]]
permission = "bash"
pattern = "*"
action = "allow"
"""


def test_a_project_that_is_not_trusted_declares_no_agent_and_widens_none(places: Places) -> None:
    mine = '[agent.coder]\nprofile = "readonly"\n'
    alone = places.load(project=THEIRS)
    assert alone.settings.agent == {}
    (notice,) = alone.notices
    assert notice.startswith(f"{places.project_file}: agent.coder: not taken from a project")
    both = places.load(user=mine)
    assert both.settings.agent == {"coder": AgentSettings(profile="readonly")}
    assert len(both.notices) == 1


def test_a_trusted_project_declares_agents_and_adds_to_those_of_the_person(places: Places) -> None:
    mine = (
        '[agent.coder]\nprofile = "readonly"\nmodel = "large"\n[[agent.coder.rules]]\n'
        'permission = "bash"\npattern = "rm *"\naction = "deny"\n'
    )
    places.load(user=mine, project=THEIRS)
    trust(places)
    loaded = places.load()
    assert (loaded.trusted, loaded.notices) == (True, ())
    coder = loaded.settings.agent["coder"]
    assert (coder.profile, coder.model, coder.roots) == ("code", "large", ("/",))
    # Rules are weighed together: nobody takes back what somebody else forbids.
    assert [(one.pattern, one.action) for one in coder.rules] == [("rm *", "deny"), ("*", "allow")]
    assert coder.rules[1].source == f"{places.project_file}:9"


def session(places: Places, loaded: Configuration, agent: str) -> Holdfast:
    surroundings = Surroundings(
        data_home=places.home / "data", state_home=places.home / "state", config_home=places.home
    )
    return Holdfast(
        workspace=places.project, configuration=loaded, agent=agent, surroundings=surroundings
    )


def test_even_a_trusted_project_gets_no_root_that_holds_everything(places: Places) -> None:
    places.load(project=THEIRS)
    trust(places)
    loaded = places.load()
    with pytest.raises(ConfigurationError, match=r"agent\.coder\.roots\[0\]: / is or contains"):
        session(places, loaded, "coder")


SKILL = "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n"


def test_skills_are_named_from_the_file_that_names_them(places: Places) -> None:
    folder = places.home / "mine" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, "utf-8")
    loaded = places.load(user='[agent.coder]\nskills = ["mine"]\n')
    assert loaded.settings.agent["coder"].skills == (str(places.home / "mine"),)
    assert [one.name for one in session(places, loaded, "coder").skills] == ["greet"]


def test_skills_of_a_trusted_project_are_the_copy_that_was_trusted(places: Places) -> None:
    folder = places.project / ".holdfast" / "mine" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, "utf-8")
    places.load(project='[agent.coder]\nskills = ["mine"]\n')
    trust(places)
    loaded = places.load()
    assert loaded.kept is not None
    assert loaded.settings.agent["coder"].skills == (str(loaded.kept / "mine"),)
    assert [one.name for one in session(places, loaded, "coder").skills] == ["greet"]


def test_skills_of_a_trusted_project_lie_in_its_folder(places: Places, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    places.load(project=f'[agent.coder]\nskills = ["{tmp_path}/elsewhere"]\n')
    trust(places)
    with pytest.raises(ConfigurationError, match=r"agent\.coder\.skills: .* is all that trust"):
        places.load()


def test_a_rule_that_cannot_be_is_named_with_its_place_in_the_file(places: Places) -> None:
    loaded = places.load(
        user='[[agent.coder.rules]]\npermission = "fs.read"\npattern = "../x"\naction = "deny"\n'
    )
    with pytest.raises(ConfigurationError) as raised:
        session(places, loaded, "coder")
    assert str(raised.value).startswith("agent.coder.rules[0]: rule 'fs.read': ")
    assert str(raised.value).endswith(f"; it stands in {places.user_file}:1")
