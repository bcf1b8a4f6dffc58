"""`task` hands work to agents: those that take it, each in a session under itself, below another's.

Who runs an agent's loop is handed in; here it is a few lines of the test.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import (
    Agent,
    ConfigurationError,
    Holdfast,
    ManifestRule,
    Rule,
    Subagent,
    Visibility,
    tool,
)
from holdfast.app.agent_settings import AgentSettings
from holdfast.app.settings import Settings
from holdfast.contract.agents import CompiledAgent
from holdfast.contract.events import ChildCreated, SessionCreated
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio

Look = Callable[[Holdfast, CompiledAgent], Awaitable[str]]


def runner(look: Look) -> Callable[[CompiledAgent], Callable[[Any, str], Awaitable[str]]]:
    """What runs an agent: it looks around in its session."""

    def made(agent: CompiledAgent) -> Callable[[Any, str], Awaitable[str]]:
        async def run(child: Any, prompt: str) -> str:
            return f"{prompt}: {await look(child, agent)}"

        return run

    return made


async def name_of(_child: Holdfast, agent: CompiledAgent) -> str:
    return agent.id


async def reads_the_root(child: Holdfast, agent: CompiledAgent) -> str:
    envelope = await child.settle("read", {"path": f"{agent.agent.instructions}/notes.txt"})
    return "read it" if envelope.ok else str(envelope.failure)


MAIN = Agent(id="main", profile="locked", mode="primary")
REVIEWER = Agent(id="reviewer", mode="subagent", description="Reviews.")
EITHER = Agent(id="either")


@pytest.mark.req("SPEC-TASK-03")
async def test_only_agents_of_the_right_mode_take_work(workspace: Path) -> None:
    agents = [MAIN, REVIEWER, EITHER]
    async with opened(workspace, "locked", agents=agents, runner=runner(name_of)) as hf:
        for name in ("reviewer", "either"):
            told = await result(hf, "task", subagent_type=name, prompt="Look")
            assert told == {"output": f"Look: {name}"}
        said: list[str] = []
        for name in ("main", "nobody"):
            refused = await failure(hf, "task", subagent_type=name, prompt="x")
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "subagent_type")
            said.append(refused.message.replace(name, "NAME"))
        assert said[0] == said[1], "an unknown one and one of the wrong mode are told alike"


@pytest.mark.req("SPEC-TASK-03")
async def test_an_agent_hands_work_to_those_it_names(workspace: Path) -> None:
    async def echo(_child: Holdfast, prompt: str) -> str:
        return prompt

    handed_in = {
        "helper": Subagent(run=echo, description="Helps."),
        "other": Subagent(run=echo, description="Helps, too."),
    }
    agent = msgspec.structs.replace(MAIN, subagents=("reviewer", "helper"))
    async with opened(
        workspace,
        "bare",
        agent=agent,
        agents=[REVIEWER, EITHER],
        runner=runner(name_of),
        subagents=handed_in,
    ) as hf:
        for name in ("reviewer", "helper"):
            assert await result(hf, "task", subagent_type=name, prompt="x")
        for name in ("either", "other", "main"):
            refused = await failure(hf, "task", subagent_type=name, prompt="x")
            assert refused.message.endswith("Available: helper, reviewer.")


async def test_without_a_runner_no_agent_is_looked_at(workspace: Path) -> None:
    broken = msgspec.structs.replace(UNRECORDED, agent={"x": AgentSettings(profile="nowhere")})
    async with opened(workspace, "locked", settings=broken) as hf:
        refused = await failure(hf, "task", subagent_type="x", prompt="x")
        assert refused.kind == FailureKind.UNAVAILABLE
    with pytest.raises(ConfigurationError, match=r"agent\.x\.profile: there is no profile"):
        async with opened(workspace, "locked", settings=broken, runner=runner(name_of)):
            pass


async def test_an_agent_of_the_configuration_takes_work_under_its_own_name(
    workspace: Path,
) -> None:
    seen: list[tuple[list[str], bool]] = []

    async def looks(child: Holdfast, agent: CompiledAgent) -> str:
        names = [one.name for one in child.tools]
        seen.append((names, (await child.settle("read", {"path": "notes.txt"})).ok))
        return agent.agent.instructions

    table = AgentSettings(
        mode="subagent", instructions="Be strict.", tools=Visibility(allow=("read", "task"))
    )
    settings = Settings(agent={"reviewer": table})
    async with opened(workspace, "locked", settings=settings, runner=runner(looks)) as hf:
        told = await result(hf, "task", subagent_type="reviewer", prompt="Look")
        assert told == {"output": "Look: Be strict."}
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        payloads = [one.payload for one in await journal.events(hf.session_id)]
        (child,) = [one for one in payloads if isinstance(one, ChildCreated)]
        (begun, *_) = await journal.events(child.child_session_id)
        assert isinstance(begun.payload, SessionCreated)
        assert (begun.payload.agent_id, begun.payload.profile) == ("reviewer", "locked")
        assert begun.payload.workspace == str(workspace)
    assert seen == [(["read", "task"], True)]


@pytest.mark.parametrize("parent_has_it", [True, False])
async def test_a_root_of_a_child_counts_where_its_parent_has_it(
    workspace: Path, tmp_path: Path, parent_has_it: bool
) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "notes.txt").write_text("of the root", "utf-8")
    child = Agent(id="child", profile="locked", roots=(str(lib),), instructions=str(lib))
    parent = Agent(id="parent", profile="locked", roots=(str(lib),) if parent_has_it else ())
    async with opened(
        workspace, "bare", agent=parent, agents=[child], runner=runner(reads_the_root)
    ) as hf:
        told = await result(hf, "task", subagent_type="child", prompt="x")
    assert (told["output"] == "x: read it") is parent_has_it
    assert "of the root" not in told["output"]


async def test_a_deny_of_the_parent_holds_for_its_child_in_every_root(
    workspace: Path, tmp_path: Path
) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "notes.txt").write_text("of the root", "utf-8")
    rule = ManifestRule(permission="fs.read", pattern="notes.txt", action="deny")
    allow = ManifestRule(permission="read", pattern=f"{lib}/notes.txt", action="allow")
    child = Agent(
        id="child", profile="locked", roots=(str(lib),), instructions=str(lib), rules=(allow,)
    )
    parent = Agent(id="parent", profile="locked", roots=(str(lib),), rules=(rule,))
    async with opened(
        workspace, "bare", agent=parent, agents=[child], runner=runner(reads_the_root)
    ) as hf:
        told = await result(hf, "task", subagent_type="child", prompt="x")
    assert "The manifest rule fs.read" in told["output"]


async def test_a_rule_of_the_manifest_above_stands_above_and_not_in_the_childs(
    workspace: Path,
) -> None:
    """A program without an agent may have such rules; its subagents have their own manifest."""
    rule = Rule(
        permission="read", pattern="notes.txt", action="deny", scope="manifest", source="us"
    )
    child = Agent(id="child", profile="locked", instructions=".")
    async with opened(
        workspace, "locked", rules=[rule], agents=[child], runner=runner(reads_the_root)
    ) as hf:
        told = await result(hf, "task", subagent_type="child", prompt="x")
    assert "(us) denies" in told["output"]


async def test_agents_go_on_handing_work_down(workspace: Path) -> None:
    async def hands_on(child: Holdfast, agent: CompiledAgent) -> str:
        if agent.id == "leaf":
            return "done"
        told = await result(child, "task", subagent_type="leaf", prompt="deeper")
        return str(told["output"])

    agents = [Agent(id="middle", subagents=("leaf",)), Agent(id="leaf", mode="subagent")]
    async with opened(workspace, "locked", agents=agents, runner=runner(hands_on)) as hf:
        told = await result(hf, "task", subagent_type="middle", prompt="go")
    assert told == {"output": "go: deeper: done"}


async def names_seen(child: Holdfast, _agent: CompiledAgent) -> str:
    return " ".join(one.name for one in child.tools)


@pytest.mark.req("SPEC-TASK-05")
async def test_what_an_agent_may_not_see_its_subagents_do_not_see_either(workspace: Path) -> None:
    @tool
    def danger() -> str:
        """Danger."""
        return "done"

    @tool
    def lent() -> str:
        """Lent to the subagent."""
        return "done"

    boss = Agent(id="boss", mode="primary", tools=Visibility(allow=("task", "todo", "read")))
    middle = Agent(id="middle", subagents=("below",))
    below = Agent(id="below", mode="subagent", tools=Visibility(allow=("b*", "todo")))

    async def deeper(child: Holdfast, agent: CompiledAgent) -> str:
        if agent.id == "below":
            return await names_seen(child, agent)
        told = await result(child, "task", subagent_type="below", prompt="deeper")
        return str(told["output"])

    async def own(child: Holdfast, _prompt: str) -> str:
        return " ".join(one.name for one in child.tools)

    async with opened(
        workspace,
        "locked",
        tools=[danger],
        agent=boss,
        agents=[middle, below],
        runner=runner(deeper),
        subagents={"helper": Subagent(run=own, description="Helps.", tools=[lent])},
    ) as hf:
        for name in ("below", "middle"):
            told = await result(hf, "task", subagent_type=name, prompt="x")
            assert str(told["output"]).endswith(": todo")
        helped = await result(hf, "task", subagent_type="helper", prompt="x")
        assert {*helped["output"].split()} == {"task", "todo", "read", "lent"}
