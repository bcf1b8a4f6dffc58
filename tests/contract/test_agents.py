"""An agent as its author declares it: a value that nobody changes afterwards."""

import msgspec
import pytest

from holdfast.contract.agents import (
    Agent,
    AgentManifest,
    CompiledAgent,
    ManifestRule,
    RunLimits,
    Visibility,
)
from holdfast.contract.delegation import AgentMode
from holdfast.contract.requirements import NOTHING_REQUIRED, FsRequirement, RequirementSet
from holdfast.contract.rules import Rule


def test_an_agent_needs_a_name_and_nothing_else() -> None:
    agent = Agent(id="coder")
    assert (agent.mode, agent.profile, agent.model, agent.subagents) == ("all", None, None, None)
    assert (agent.requires, agent.tools, agent.limits) == (
        NOTHING_REQUIRED,
        Visibility(),
        RunLimits(rounds=64, tokens=None, cost=None, seconds=None, retries=4),
    )
    assert (agent.directives, agent.guidance, agent.tools_off) == (False, True, False)


@pytest.mark.parametrize(
    ("mode", "takes_work"), [("primary", False), ("subagent", True), ("all", True)]
)
def test_who_takes_work(mode: AgentMode, takes_work: bool) -> None:
    assert Agent(id="a", mode=mode).takes_work is takes_work


def test_what_was_handed_over_as_a_list_cannot_change_later() -> None:
    reads, roots = ["docs/**"], ["/srv/lib"]
    table = {"fs": {"read": reads}}
    agent = Agent(
        id="coder",
        requires=table,
        roots=roots,  # pyright: ignore[reportArgumentType] - whoever uses no type checker
        rules=[ManifestRule(permission="bash", pattern="*")],  # pyright: ignore[reportArgumentType] - the same
    )
    before = hash(agent)
    reads.append("/**")
    roots.append("/")
    table.clear()
    assert agent.requires == RequirementSet(fs=FsRequirement(read=("docs/**",)))
    assert agent.roots == ("/srv/lib",)
    assert hash(agent) == before, "everything in it can be hashed: nothing in it can change"
    with pytest.raises(AttributeError):
        agent.profile = "code"  # pyright: ignore[reportAttributeAccessIssue] - it must not be possible


def test_requirements_that_are_none_name_the_agent() -> None:
    with pytest.raises(ValueError, match=r"^agent\.coder\.requires: .*unknown field `files`"):
        Agent(id="coder", requires={"files": ["x"]})


def test_patterns_are_looked_at_when_the_agent_is_compiled() -> None:
    assert Agent(id="coder", requires={"fs": {"read": ["{nowhere}/**"]}}).requires


def test_the_watchdog_receives_all_of_the_compiled_agent() -> None:
    rule = Rule(permission="*", pattern="x", scope="manifest", source="here")
    requires = RequirementSet(capabilities=("secrets.has",))
    compiled = CompiledAgent(
        agent=Agent(id="coder", mode="primary"),
        profile="code",
        requires=requires,
        rules=(rule,),
        workspace="/w",
        roots=("/lib",),
        ad_hoc=(),
        subagents=(),
    )
    assert compiled.id == "coder"
    assert compiled.manifest(["read", "bash"]) == AgentManifest(
        agent="coder",
        tools=("read", "bash"),
        mode="primary",
        profile="code",
        requires=requires,
        rules=(rule,),
        roots=("/w", "/lib"),
    )
    nowhere = msgspec.structs.replace(compiled, workspace=None, roots=())
    assert nowhere.manifest([]).roots == ()
