"""Workflows: programs that map a session to a session, put together from agents and each other.

What an agent does with a session is not known here.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import cast

from anyio import to_thread

from holdfast.agent.flow.loop_session import LoopSession
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.model import ChatModel
from holdfast.runtime.flow_session import Session


class AgentParam:
    """What makes an agent: what it is told to be, the model that answers, and its tools.

    A model may be named as the configuration names it; None: the only one that is configured.
    """

    def __init__(
        self,
        system_prompt: str | Session,
        provider: ChatModel | str | None = None,
        tools: Iterable[FlowToolCall] = (),
    ) -> None:
        self.session = (
            Session.from_agent_prompt(system_prompt)
            if isinstance(system_prompt, str)
            else system_prompt
        )
        self.provider = provider
        self._tools: dict[str, FlowToolCall] = {}
        for tool in tools:
            self.register_tool(tool)

    @property
    def tools(self) -> tuple[FlowToolCall, ...]:
        """Its own tools, in the order they came."""
        return tuple(self._tools.values())

    def register_tool(self, tool: FlowToolCall) -> None:
        """Give it a tool; one of a name that it has already is ignored."""
        self._tools.setdefault(tool.name, tool)

    def unregister_tool(self, name: str) -> None:
        """Take a tool away; harmless when it has none of the name."""
        self._tools.pop(name, None)


class Workflow(ABC):
    """Maps a session to a session. Agents and workflows it is given as attributes are its parts."""

    @abstractmethod
    def forward(self, session: Session) -> Session:
        """What it does. Called through the workflow itself."""

    async def forward_async(self, session: Session) -> Session:
        """The same for code in an event loop; without one of its own, in a worker thread."""
        return await to_thread.run_sync(self.forward, session)

    def __call__(self, session: Session) -> Session:
        """Wait for what comes in, then do it."""
        if isinstance(session, LoopSession):
            session.wait()
        return self.forward(session)

    async def call_async(self, session: Session) -> Session:
        """The same for code in an event loop; what comes back is done."""
        if isinstance(session, LoopSession):
            await session.waited()
        out = await self.forward_async(session)
        return await out.waited() if isinstance(out, LoopSession) else out

    def named_agents(self) -> list[tuple[str, AgentParam]]:
        """Its agents and those of its parts, by their dotted names, in the order of these.

        An agent that stands in several places has several names.
        """
        return sorted(self._agents("", frozenset()), key=lambda named: named[0])

    def _agents(self, prefix: str, above: frozenset[int]) -> Iterator[tuple[str, AgentParam]]:
        line = above | {id(self)}
        for name, part in cast("dict[str, object]", vars(self)).items():
            if isinstance(part, AgentParam):
                yield f"{prefix}{name}", part
            if isinstance(part, Workflow) and id(part) not in line:
                yield from part._agents(f"{prefix}{name}.", line)
