"""A session is opened under an agent: its profile, tools, requirements, rules, skills and name."""

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from app.agent_kit import around, ground_in
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import (
    Agent,
    Answer,
    Ask,
    ConfigurationError,
    Holdfast,
    Inspection,
    ManifestRule,
    Opinion,
    Rule,
    Runtime,
    Visibility,
    tool,
)
from holdfast.app.agent_settings import AgentSettings
from holdfast.app.agents import compiled
from holdfast.app.outside import Bounds
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import LimitSettings, PolicySettings, Settings
from holdfast.app.source_settings import McpSettings
from holdfast.contract.agents import NO_AGENT, AgentManifest
from holdfast.contract.events import SessionCreated
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.sources.intake import to_tool

pytestmark = pytest.mark.anyio

DENIES = ManifestRule(permission="fs.read", pattern="a.txt", action="deny", reason="Not that one.")


@tool(requires={"fs": {"read": ["own/*"]}}, uses={"path": "fs.read"})
def text_of(rt: Runtime, path: str) -> str:
    """Read a text."""
    return rt.fs.read_text(path).text


@tool
def other() -> str:
    """Do nothing."""
    return "done"


def configured(**agents: AgentSettings) -> Settings:
    return msgspec.structs.replace(UNRECORDED, agent=agents)


def made(workspace: Path, **options: object) -> Holdfast:
    """A session that is not opened."""
    given = {"settings": UNRECORDED, "surroundings": around(workspace.parent), **options}
    return Holdfast(tools=[text_of, other], workspace=workspace, **cast("Any", given))


# --- which agent ------------------------------------------------------------------------------


async def test_an_agent_is_named_or_handed_over(workspace: Path) -> None:
    table = AgentSettings(profile="locked", tools=Visibility(deny=("bash",)))
    code = Agent(id="coder", profile="locked", tools=Visibility(deny=("bash",)))
    for options in (
        {"agent": "coder", "settings": configured(coder=table)},
        {"agent": "coder", "agents": [code]},
        {"agent": "coder", "agents": iter([code])},
        {"agent": code},
        {"agent": code, "agents": [code]},
    ):
        names = [one.name for one in made(workspace, **options).tools]
        assert "read" in names
        assert "bash" not in names
        assert names[-2:] == ["text_of", "other"]
    assert "bash" in [one.name for one in made(workspace, profile="locked").tools]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"agent": "codr"},
            r"there is no agent 'codr'; did you mean 'coder'\?; add an \[agent",
        ),
        ({"agents": [Agent(id="coder")]}, r"agent\.coder: there are two agents of this name"),
        ({"agent": Agent(id="coder")}, r"agent\.coder: there are two agents of this name"),
        ({"profile": "locked"}, r"the agent has the profile 'code', and 'locked' was asked for"),
    ],
)
def test_what_does_not_fit_together_is_told(
    workspace: Path, options: dict[str, Any], said: str
) -> None:
    given = {"agent": "coder", "settings": configured(coder=AgentSettings(profile="code"))}
    with pytest.raises(ConfigurationError, match=said):
        made(workspace, **{**given, **options})


def test_an_agent_that_nobody_opens_stops_nobody(workspace: Path) -> None:
    broken = AgentSettings(profile="nowhere", roots=("/nowhere/at/all",))
    settings = configured(broken=broken, coder=AgentSettings())
    assert made(workspace, settings=settings).tools
    assert made(workspace, settings=settings, agent="coder").tools
    with pytest.raises(ConfigurationError, match=r"agent\.broken\.profile"):
        made(workspace, settings=settings, agent="broken")


def test_the_profile_that_was_asked_for_may_be_the_agents_own(workspace: Path) -> None:
    assert made(workspace, profile="locked", agent=Agent(id="a", profile="locked")).tools
    without = made(workspace, profile="locked", agent=Agent(id="a"))
    assert "read" in [one.name for one in without.tools]


async def test_a_compiled_agent_is_taken_as_it_is_and_for_its_workspace_alone(
    tmp_path: Path,
) -> None:
    ground = ground_in(tmp_path)
    ready = compiled(Agent(id="coder", profile="locked"), ground)
    assert "read" in [one.name for one in made(tmp_path / "ws", agent=ready).tools]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(ConfigurationError, match=r"agent\.coder: it was compiled for"):
        made(elsewhere, agent=ready)


async def test_the_journal_says_which_agent_it_was(workspace: Path) -> None:
    for agent, told in ((Agent(id="coder"), "coder"), (None, None)):
        options = {} if agent is None else {"agent": agent}
        async with made(workspace, settings=Settings(), **options) as hf:
            await hf.settle("other")
            journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
            (begun, *_) = await journal.events(hf.session_id)
            assert isinstance(begun.payload, SessionCreated)
            assert begun.payload.agent_id == told
            assert (await journal.session(hf.session_id)).state.agent_id == told


async def test_skills_come_with_the_agent(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n", "utf-8"
    )
    agent = Agent(id="coder", skills=(str(tmp_path / "skills"),))
    assert [one.name for one in made(workspace, agent=agent).skills] == ["greet"]
    assert made(workspace, agent=Agent(id="coder")).skills == ()


def test_no_agent_is_none_and_something_else_is_no_agent(workspace: Path) -> None:
    assert [one.name for one in made(workspace, agent=None).tools] == [
        one.name for one in made(workspace).tools
    ]
    with pytest.raises(TypeError, match=r"takes a name or an Agent; got 3"):
        made(workspace, agent=3)


# --- which tools ------------------------------------------------------------------------------


def test_a_tool_of_the_configuration_may_be_hidden_before_it_is_there(workspace: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"tools\.deny\[0\]: there is no tool 'txt_of'"):
        made(workspace, agent=Agent(id="a", tools=Visibility(deny=("txt_of",))))
    hidden = made(workspace, agent=Agent(id="a", tools=Visibility(deny=("text_of",))))
    assert [one.name for one in hidden.tools] == ["question", "other"]


def test_a_tool_of_a_server_may_be_hidden_before_the_server_is_there(workspace: Path) -> None:
    table = McpSettings(url="https://mcp.example.org/mcp")
    settings = msgspec.structs.replace(UNRECORDED, mcp={"issues": table})

    def hiding(name: str, **options: object) -> Holdfast:
        agent = Agent(id="a", profile="locked", tools=Visibility(deny=(name,)))
        return made(workspace, agent=agent, settings=settings, **options)

    assert hiding("issues_close")
    assert hiding("*_close")
    with pytest.raises(ConfigurationError, match=r"there is no tool 'tickets_close'"):
        hiding("tickets_close")
    with pytest.raises(ConfigurationError, match=r"there is no tool 'issues_close'"):
        hiding("issues_close", servers=())


def test_a_tool_of_a_manifest_may_be_hidden_before_it_is_declared(
    workspace: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "tools.json"
    manifest.write_text('{"tools": []}', "utf-8")
    agent = Agent(id="a", tools=Visibility(deny=("later",)))
    assert made(workspace, agent=agent, manifests=[manifest])
    with pytest.raises(ConfigurationError, match=r"there is no tool 'later'"):
        made(workspace, agent=agent)


def test_what_sources_bring_is_hidden_by_profile_and_agent() -> None:
    tools = [to_tool(text_of), to_tool(other)]
    both = (Visibility(deny=("text_of",)), Visibility(allow=("text_of", "other")))
    assert [one.name for one in Bounds(LimitSettings(), both).applied(tools)] == ["other"]


# --- what it requires -------------------------------------------------------------------------


async def test_what_is_declared_is_the_agents_and_all_tools_within_every_ceiling(
    workspace: Path,
) -> None:
    for name in ("own", "more", "else"):
        (workspace / name).mkdir()
        (workspace / name / "a.txt").write_text(name, "utf-8")
    agent = Agent(id="coder", requires={"fs": {"read": ["more/*", "else/*"]}})
    ceiling = RequirementSettings(read=("own/*", "more/*"))

    async def reached(**options: object) -> list[str]:
        async with made(workspace, **options) as hf:
            paths = [f"{name}/a.txt" for name in ("own", "more", "else")]
            return [one for one in paths if (await hf.settle("text_of", {"path": one})).ok]

    def with_policy(policy: PolicySettings) -> Settings:
        return msgspec.structs.replace(UNRECORDED, policy=policy)

    assert await reached() == ["own/a.txt"]
    assert await reached(agent=agent) == ["own/a.txt", "more/a.txt", "else/a.txt"]
    bounded = with_policy(PolicySettings(ceiling=ceiling))
    assert await reached(agent=agent, settings=bounded) == ["own/a.txt", "more/a.txt"]
    strict = with_policy(PolicySettings(strict=True))
    assert await reached(agent=agent, settings=strict) == ["own/a.txt"], "what the tool requires"


# --- rules of the manifest --------------------------------------------------------------------


@pytest.mark.req("SPEC-CON-26")
async def test_rules_of_the_manifest_come_from_the_agent_alone(workspace: Path) -> None:
    (workspace / "own").mkdir()
    (workspace / "own" / "a.txt").write_text("x", "utf-8")
    denies = msgspec.structs.replace(DENIES, pattern="own/a.txt")
    agent = Agent(id="coder", rules=(denies,))
    allows = Rule(
        permission="text_of", pattern="own/a.txt", action="allow", scope="project", source="us"
    )
    async with made(workspace, agent=agent, rules=[allows]) as hf:
        refused = await failure(hf, "text_of", path="own/a.txt")
        assert "The manifest rule fs.read 'own/a.txt' (agent.coder.rules[0])" in refused.message
        assert "Not that one." in refused.message
    async with made(workspace, rules=[allows]) as hf:
        assert (await hf.settle("text_of", {"path": "own/a.txt"})).ok
    foreign = msgspec.structs.replace(allows, scope="manifest")
    with pytest.raises(ConfigurationError, match=r"rules: us: .* the rules of the agent 'coder'"):
        made(workspace, agent=agent, rules=[foreign])


# --- the watchdog -----------------------------------------------------------------------------


@pytest.mark.req("SPEC-CON-26")
async def test_the_watchdog_receives_the_compiled_agent(workspace: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    seen: list[AgentManifest] = []

    def watching(inspection: Inspection) -> Opinion:
        seen.append(inspection.manifest)
        with pytest.raises(AttributeError):
            inspection.manifest.agent = "somebody"  # pyright: ignore[reportAttributeAccessIssue] - a hook must not be able to
        return Opinion()

    agent = Agent(
        id="coder",
        mode="primary",
        roots=(str(lib),),
        requires={"fs": {"read": ["docs/**"]}},
        rules=(DENIES,),
        tools=Visibility(deny=("text_of",)),
    )
    async with made(workspace, agent=agent, hooks=[watching]) as hf:
        assert (await hf.settle("other")).ok
    (manifest,) = seen
    assert manifest.agent == "coder"
    assert (manifest.profile, manifest.mode) == ("bare", "primary")
    assert manifest.tools == ("question", "other")
    assert manifest.requires.fs.read == ("docs/**",)
    assert [one.source for one in manifest.rules] == ["agent.coder.rules[0]"]
    assert manifest.roots == (str(workspace), str(lib))
    assert hash(manifest)
    as_json = cast("dict[str, Any]", decode_json(encode_json(manifest)))
    assert as_json["requires"]["fs"] == {"read": ["docs/**"], "write": []}
    assert as_json["rules"][0]["reason"] == "Not that one."


async def test_without_an_agent_it_is_told_the_profile_and_the_tools(workspace: Path) -> None:
    seen: list[AgentManifest] = []

    def watching(inspection: Inspection) -> Opinion:
        seen.append(inspection.manifest)
        return Opinion()

    async with made(workspace, hooks=[watching]) as hf:
        await hf.settle("other")
    assert [encode_json(one) for one in seen] == [
        b'{"agent":"bare","tools":["question","text_of","other"]}'
    ]
    assert encode_json(NO_AGENT) == b'{"agent":"","tools":[]}'


async def test_an_ask_of_the_agent_is_asked(workspace: Path) -> None:
    reasons: list[str] = []

    async def decide(ask: Ask) -> Answer:
        reasons.append(ask.reason)
        return Answer(allowed=True, by="test")

    rules = (ManifestRule(permission="other", pattern="*"),)
    async with opened(
        workspace, "bare", tools=[other], agent=Agent(id="a", rules=rules), approver=decide
    ) as hf:
        assert await result(hf, "other") == {"text": "done"}
    assert len(reasons) == 1
    async with opened(workspace, "bare", tools=[other], agent=Agent(id="a", rules=rules)) as hf:
        assert (await failure(hf, "other")).kind == FailureKind.REJECTED
