"""Subagents that a program hands in, and the sessions they run in: a child of the parent's.

A child has the parent's workspace, configuration and approver, and never more permissions: the
parent's capabilities, rules and limits stand above its own. Nobody answers its questions; what was
remembered for the parent's session alone is not handed on.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.contract.agents import CompiledAgent, RunLimits
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.delegation import AgentMode, Work
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Tool
from holdfast.policy.powers import AgentRules
from holdfast.policy.reach import Reach
from holdfast.runtime.delegation import Agent
from holdfast.runtime.searching import SessionSearch
from holdfast.runtime.turn import Turn

Run = Callable[[Any, str], Awaitable[str]]
"""Runs an agent in an opened child, a `Holdfast`, with a prompt; gives its last message."""


Runner = Callable[[CompiledAgent], Run]
"""Makes what runs an agent's loop in a session that was opened for it."""


class Subagent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that work can be handed to by `task`."""

    run: Run
    description: str
    """What it is for, in one line."""
    mode: AgentMode = "subagent"
    profile: str | None = None
    """Its own profile; None: the parent's."""
    tools: Iterable[object] | None = None
    """Tools of its own; None: those that were handed to the parent."""
    agent: CompiledAgent | None = None
    """The agent that its sessions are opened under; None: none."""
    pauses: bool = False
    """Whether its run can be left while a person is waited for, and gone on with later."""

    def __post_init__(self) -> None:
        """Tools that can be read only once are for every child, too."""
        if self.tools is not None:
            msgspec.structs.force_setattr(self, "tools", tuple(self.tools))


class Above(msgspec.Struct, frozen=True):
    """What stands above the session of a subagent. Made by `task`, never by a program."""

    session_id: str
    child_id: str
    depth: int
    """Of the child."""
    metadata: JsonObject
    reach: Reach
    tools: Callable[[str], Tool | None]
    """Those of the session above, by name."""
    sees: Callable[[str], bool]
    """Whether the session above sees a tool of this name, if it has one."""
    from_elsewhere: tuple[Tool, ...]
    """What came to that one from its sources."""
    rules: tuple[AgentRules, ...]
    commands: tuple[CommandPolicy, ...]
    """What the profiles above hold commands to."""
    confirmed: Callable[[str], bool]
    """Whether the sessions above leave the commands of a tool of this name to a person: they have
    it themselves, or run any command."""
    turn: Turn
    search: SessionSearch
    left: Callable[[], RunLimits | None]
    """What the run above may still use."""
    top: str
    """The session that a person began."""
    own_tools: bool = False
    """Whether the subagent was given tools of its own."""
    waits: bool = True
    """Whether the session above waits for it."""
    paused: bool = False
    """Whether it is a session that paused, and goes on."""


def confirmed_below(
    tools: Callable[[str], Tool | None],
    commands: Sequence[CommandPolicy],
    above: Above | None,
    name: str,
) -> bool:
    """Whether a session with these tools and policies, and those above it, leave the commands of a
    tool to a person: what it has no tool for and does not run itself, nobody below it runs."""
    if all(policy == "any" for policy in commands):
        return True
    tool = tools(name)
    if tool is None or not tool.person_decides:
        return False
    return above is None or above.confirmed(name)


def always(_name: str) -> bool:
    """What a session says that nothing stands above."""
    return True


Child = AbstractAsyncContextManager[object]
"""A session that is to be opened: a `Holdfast`."""
OpenChild = Callable[[Subagent, Above], Child]
"""Makes the session of a subagent, below another one."""


def agents_of(
    subagents: Mapping[str, Subagent], above: Callable[[str, JsonObject], Above], make: OpenChild
) -> dict[str, Agent]:
    """The agents that a session can hand work to."""

    def opener(name: str, subagent: Subagent) -> Callable[[str, Work, bool], Child]:
        def opened(session_id: str, work: Work, paused: bool) -> Child:  # noqa: FBT001 - a port's
            metadata: JsonObject = {**work.metadata, "agent": name}
            told = above(session_id, metadata)
            return make(subagent, replace(told, waits=not work.background, paused=paused))

        return opened

    return {
        name: Agent(mode=one.mode, session=opener(name, one), run=one.run)
        for name, one in subagents.items()
    }
