"""An agent is compiled once, before its session starts; an error names the entry it is about."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from app.agent_kit import around, ground_in, problem_of

from holdfast.app.agent_settings import AgentSettings, RuleSettings
from holdfast.app.agents import compiled, subagents_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import PROFILES
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import ProfileSettings, Settings
from holdfast.contract.agents import Agent, ManifestRule, RunLimits, Visibility
from holdfast.contract.delegation import AgentMode
from holdfast.contract.rules import Rule


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    made = tmp_path / "lib"
    made.mkdir()
    return made


def made(**given: object) -> Agent:
    """As somebody makes it whom no type checker watches."""
    return Agent(id="coder", **cast("Any", given))


def rule(**given: object) -> ManifestRule:
    return ManifestRule(**cast("Any", {"permission": "bash", "pattern": "rm *", **given}))


@pytest.mark.req("SPEC-CON-26")
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (
            made(requires={"fs": {"read": ["docs/**", "{worksapce}/**"]}}),
            "agent.coder.requires.read[1]: unknown variable {worksapce}; did you mean {workspace}?",
        ),
        (
            made(requires={"fs": {"write": ["a", "../b"]}}),
            "agent.coder.requires.write[1]: path pattern '../b' climbs out with '..'",
        ),
        (made(requires={"net": {"hosts": ["a.org", ""]}}), "agent.coder.requires.hosts[1]: "),
        (
            made(rules=(rule(), rule(), rule(action="deny", pinned=True))),
            "agent.coder.rules[2]: only an ask can be pinned; a deny is final",
        ),
        (made(rules=(rule(permission="fs.read", pattern="../x"),)), "agent.coder.rules[0]: rule"),
        (
            made(rules=(rule(source="my.toml:3", permission="fs.read", pattern="../x"),)),
            "it stands in my.toml:3",
        ),
        (made(rules=(rule(action="perhaps"),)), "agent.coder.rules[0].action: Invalid enum value"),
        (made(tools=Visibility(deny=("read", "bsh"))), "agent.coder.tools.deny[1]: there is no"),
        (made(tools=Visibility(deny=("bsh",))), "did you mean 'bash'?"),
        (made(tools=Visibility(allow=("zz*",))), "agent.coder.tools.allow[0]: no tool fits 'zz*'"),
        (made(profile="cdoe"), "agent.coder.profile: there is no profile 'cdoe'"),
        (made(subagents=("other", "reviwer")), "agent.coder.subagents[1]: there is no agent"),
        (made(subagents=("main",)), "agent.coder.subagents[0]: 'main' has the mode primary"),
        (made(roots=("nowhere",)), "agent.coder.roots[0]: "),
        (made(roots=("",)), "agent.coder.roots[0]: '' is no absolute path"),
        (made(roots=("a\0b",)), "agent.coder.roots[0]: 'a\\x00b': "),
        (made(ad_hoc=("nowhere/notes.txt",)), "agent.coder.ad_hoc[0]: there is no "),
        (made(ad_hoc=(".",)), "agent.coder.ad_hoc[0]: "),
        (made(skills=("/nowhere/at/all",)), "agent.coder.skills[0]: '/nowhere/at/all' is no dir"),
        (made(limits=RunLimits(rounds=0)), "agent.coder.limits.rounds: Expected `int` >= 1"),
        (made(limits=RunLimits(cost=-1.0)), "agent.coder.limits.cost: Expected `float` > 0"),
        (made(mode="sometimes"), "agent.coder.mode: Invalid enum value 'sometimes'"),
        (made(roots="/srv"), "agent.coder.roots: Expected `array`, got `str`"),
        (made(tools={1, 2}), "agent.coder.tools: "),
        (made(description="a\nb"), "agent.coder.description: it has several lines"),
    ],
)
def test_an_error_names_the_offending_entry(agent: Agent, said: str, tmp_path: Path) -> None:
    ground = ground_in(tmp_path, agents={"other": "all", "reviewer": "subagent", "main": "primary"})
    assert said in problem_of(agent, ground)
    (tmp_path / "ws" / "a").mkdir()
    fine = msgspec.structs.replace(
        made(roots=("a",), subagents=("other",)), tools=Visibility(deny=("ba*", " read"))
    )
    assert compiled(fine, ground).id == "coder", "the same ground holds what is right"


@pytest.mark.parametrize("name", ["", "two words", "-x", "a.b", "ä", "x" * 65, "a\n"])
def test_a_name_is_one_word(name: str, tmp_path: Path) -> None:
    said = problem_of(Agent(id=name), ground_in(tmp_path))
    assert said.startswith(f"agent {name!r}: it cannot be called that")


def test_an_agent_of_no_name_at_all_is_refused(tmp_path: Path) -> None:
    agent = Agent(id=cast("str", 3))
    assert "agent.3.id: Expected `str`, got `int`" in problem_of(agent, ground_in(tmp_path))


@pytest.mark.req("SPEC-CON-26")
def test_the_compiled_form_is_immutable_whatever_becomes_of_what_it_is_made_from(
    tmp_path: Path, lib: Path
) -> None:
    reads = ["{workspace}/**"]
    agent = Agent(
        id="coder",
        profile="code",
        requires={"fs": {"read": reads}},
        rules=(rule(action="deny"),),
        roots=(str(lib),),
    )
    one = compiled(agent, ground_in(tmp_path))
    before = hash(one)
    reads.clear()
    lib.rmdir()
    assert one.requires.fs.read == ("{workspace}/**",)
    assert one.roots == (str(lib),)
    assert hash(one) == before
    for name in one.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(one, name, None)


@pytest.mark.req("SPEC-CON-26")
def test_rules_of_the_manifest_are_those_of_the_profile_and_its_own(tmp_path: Path) -> None:
    agent = Agent(id="coder", profile="code", rules=(rule(action="deny", reason="Never."),))
    one = compiled(agent, ground_in(tmp_path))
    *shipped, own = one.rules
    assert [(found.permission, found.source) for found in shipped] == [
        ("web_fetch", "profile code, as it ships"),
        ("repo_clone", "profile code, as it ships"),
    ]
    assert own == Rule(
        permission="bash",
        pattern="rm *",
        action="deny",
        scope="manifest",
        source="agent.coder.rules[0]",
        reason="Never.",
    )
    assert {found.scope for found in one.rules} == {"manifest"}


def test_a_table_and_the_same_in_code_are_the_same(tmp_path: Path) -> None:
    table = AgentSettings(
        description="Writes code.",
        mode="subagent",
        model="large",
        instructions="Be brief.",
        requires=msgspec.convert(
            {"read": ["docs/**"], "hosts": ["a.org"], "shell": [{"cmd": "ls", "args": ["-l"]}]},
            RequirementSettings,
        ),
        rules=(RuleSettings(permission="bash", pattern="rm *", action="deny", source="x:1"),),
        tools=Visibility(deny=("bash",)),
        limits=RunLimits(rounds=3),
        tools_off=True,
    )
    code = Agent(
        id="coder",
        description="Writes code.",
        mode="subagent",
        model="large",
        instructions="Be brief.",
        requires={
            "fs": {"read": ["docs/**"]},
            "net": {"hosts": ["a.org"]},
            "shell": [{"cmd": "ls", "args": ["-l"]}],
        },
        rules=(rule(action="deny", source="x:1"),),
        tools=Visibility(deny=("bash",)),
        limits=RunLimits(rounds=3),
        tools_off=True,
    )
    ground = ground_in(tmp_path)
    assert compiled(table, ground, "coder") == compiled(code, ground)
    names = {*Agent.__struct_fields__} - {"id"}
    assert names == {*AgentSettings.__struct_fields__}, "neither form says more than the other"


def test_a_command_that_can_be_none_is_named(tmp_path: Path) -> None:
    commands = [{"cmd": "ls"}, {"cmd": "/bin/ls"}]
    table = msgspec.convert({"requires": {"shell": commands}}, AgentSettings)
    with pytest.raises(
        ConfigurationError, match=r"agent\.coder\.requires\.shell\[1\]: .*bare name"
    ):
        compiled(table, ground_in(tmp_path), "coder")


@pytest.mark.parametrize(
    ("own", "asked_for", "counts"), [("code", "bare", "code"), (None, "code", "code")]
)
def test_the_profile_is_the_agents_or_the_one_that_is_asked_for(
    own: str | None, asked_for: str, counts: str, tmp_path: Path
) -> None:
    ground = msgspec.structs.replace(ground_in(tmp_path), profile=asked_for)
    assert compiled(Agent(id="coder", profile=own), ground).profile == counts


def test_a_profile_of_the_configuration_is_a_profile(tmp_path: Path) -> None:
    settings = Settings(
        profile={"mine": ProfileSettings(rules=(RuleSettings(permission="x", pattern="y"),))}
    )
    one = compiled(Agent(id="coder", profile="mine"), ground_in(tmp_path, settings=settings))
    assert [found.source for found in one.rules] == ["profile mine"]
    assert "mine" not in PROFILES
    without = msgspec.structs.replace(ground_in(tmp_path), profile="mine")
    said = problem_of(Agent(id="coder"), without)
    assert said.startswith("there is no profile 'mine'"), "nobody's agent names it"


def test_a_tool_that_may_still_come_can_be_named(tmp_path: Path) -> None:
    agent = Agent(id="coder", tools=Visibility(deny=("issues_close",)))
    ground = ground_in(tmp_path)
    assert "there is no tool 'issues_close'" in problem_of(agent, ground)

    def may_come(name: str) -> bool:
        return name.startswith("issues_")

    later = msgspec.structs.replace(ground, may_come=may_come)
    assert compiled(agent, later).agent is agent


# --- whom it hands work to -------------------------------------------------------------------

WORKERS: Mapping[str, AgentMode] = {"a": "all", "main": "primary", "sub": "subagent"}


@pytest.mark.req("SPEC-TASK-03")
@pytest.mark.parametrize(("named", "may"), [(None, ("a", "sub")), (("sub",), ("sub",)), ((), ())])
def test_work_is_handed_to_those_that_take_it(
    named: tuple[str, ...] | None, may: tuple[str, ...], tmp_path: Path
) -> None:
    ground = ground_in(tmp_path, agents=WORKERS)
    assert compiled(Agent(id="coder", subagents=named), ground).subagents == may


@pytest.mark.req("SPEC-TASK-03")
async def test_each_is_run_by_what_its_runner_makes(tmp_path: Path) -> None:
    ground = ground_in(tmp_path)
    declared = [
        Agent(id=name, mode=mode, description=f"Is {name}.", profile="readonly")
        for name, mode in WORKERS.items()
    ]
    ready = [compiled(one, ground) for one in declared]

    def runner(one: object) -> Any:
        async def run(_child: object, prompt: str) -> str:
            return f"{prompt} {ready.index(cast('Any', one))}"

        return run

    found = subagents_of(ready, runner)
    assert list(found) == ["a", "sub"]
    assert [one.mode for one in found.values()] == ["all", "subagent"]
    assert [one.agent for one in found.values()] == [ready[0], ready[2]]
    assert (found["sub"].description, found["sub"].profile) == ("Is sub.", "readonly")
    assert await found["sub"].run(None, "x") == "x 2"


# --- where it works --------------------------------------------------------------------------


def test_a_root_is_absolute_below_home_or_from_the_workspace(tmp_path: Path, lib: Path) -> None:
    ground = ground_in(tmp_path)
    (tmp_path / "home" / "shared").mkdir()
    (tmp_path / "link").symlink_to(lib)
    agent = Agent(id="coder", roots=(str(lib), "~/shared", "../link", ".", "~/shared/../shared"))
    assert compiled(agent, ground).roots == (str(lib), str(tmp_path / "home" / "shared"))


def test_a_root_needs_a_workspace(tmp_path: Path, lib: Path) -> None:
    ground = msgspec.structs.replace(ground_in(tmp_path), workspace=None)
    said = problem_of(Agent(id="coder", roots=(str(lib),)), ground)
    assert said.startswith("agent.coder.roots[0]: a further root needs a workspace")


@pytest.mark.parametrize("key", ["roots", "ad_hoc"])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("home", "is or contains your home directory"),
        (".", "is or contains your home directory"),
        ("/", "is or contains your home directory"),
        ("apart", "where holdfast keeps its own files"),
        ("apart/state", "where holdfast keeps its own files"),
        ("apart/state/grants", "where holdfast keeps its own files"),
        ("apart/share/sessions", "where holdfast keeps its own files"),
        ("to_home", "is or contains your home directory"),
    ],
)
def test_a_place_that_would_give_too_much_is_refused(
    key: str, place: str, said: str, tmp_path: Path
) -> None:
    own = tmp_path / "apart"
    for name in ("state/grants", "share/sessions", "config"):
        (own / name).mkdir(parents=True)
    ground = ground_in(tmp_path)
    (tmp_path / "to_home").symlink_to(tmp_path / "home")
    surroundings = msgspec.structs.replace(
        around(tmp_path),
        data_home=own / "share",
        state_home=own / "state",
        config_home=own / "config",
    )
    ground = msgspec.structs.replace(ground, surroundings=surroundings)
    named = str(tmp_path / place) + ("/x.txt" if key == "ad_hoc" else "")
    assert said in problem_of(made(**{key: (named,)}), ground)
    assert problem_of(made(**{key: (named,)}), ground).startswith(f"agent.coder.{key}[0]: ")


def test_a_place_inside_of_home_is_as_good_as_any_other(tmp_path: Path) -> None:
    ground = ground_in(tmp_path)
    (tmp_path / "home" / "mine").mkdir()
    one = compiled(Agent(id="coder", roots=("~/mine",), ad_hoc=("~/mine/a.txt",)), ground)
    assert one.roots == one.ad_hoc == (str(tmp_path / "home" / "mine"),)


def test_a_file_that_is_open_need_not_be_there_yet_and_stands_for_its_directory(
    tmp_path: Path, lib: Path
) -> None:
    agent = Agent(id="coder", ad_hoc=(str(lib / "a.txt"), str(lib / "b.txt"), "new.txt"))
    assert compiled(agent, ground_in(tmp_path)).ad_hoc == (str(lib), str(tmp_path / "ws"))


def test_an_open_file_needs_no_workspace_when_it_is_named_in_full(
    tmp_path: Path, lib: Path
) -> None:
    ground = msgspec.structs.replace(ground_in(tmp_path), workspace=None)
    assert compiled(Agent(id="coder", ad_hoc=(str(lib / "a"),)), ground).ad_hoc == (str(lib),)
    assert "no absolute path" in problem_of(Agent(id="coder", ad_hoc=("a.txt",)), ground)


def test_without_a_home_a_name_below_it_is_refused(
    tmp_path: Path, lib: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = ground_in(tmp_path)
    homeless = msgspec.structs.replace(around(tmp_path), environment={})
    ground = msgspec.structs.replace(ground, surroundings=homeless)

    def nobody(_environment: Mapping[str, str]) -> None:
        return None

    monkeypatch.setattr("holdfast.app.agent_places.home_of", nobody)
    said = problem_of(Agent(id="coder", roots=("~/mine",)), ground)
    assert said == "agent.coder.roots[0]: ~/mine: there is no home directory; name it in full"
    assert compiled(Agent(id="coder", roots=(str(lib),)), ground).roots == (str(lib),)


def test_a_circle_of_links_is_no_place(tmp_path: Path) -> None:
    ground = ground_in(tmp_path)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert problem_of(Agent(id="coder", roots=("../circle",)), ground).startswith(
        "agent.coder.roots[0]: "
    )
    own = msgspec.structs.replace(around(tmp_path), config_home=tmp_path / "circle" / "x")
    (tmp_path / "lib").mkdir()
    still = msgspec.structs.replace(ground, surroundings=own)
    assert compiled(Agent(id="coder", roots=("../lib",)), still).roots
