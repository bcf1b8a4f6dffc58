"""Handing work to an agent of its own session: values, and the port behind which that happens."""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject

AgentMode = Literal["primary", "subagent", "all"]
"""Who may start an agent: people, other agents, or both."""

MOST_DEPTH = 5
"""How deep agents may stand below the session that a person began, which is 0."""
ABORTED_BY_PARENT = "aborted by parent"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is to do."""

    agent: str
    prompt: str
    background: bool = False
    metadata: JsonObject = {}


class Delegated(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it, or where it goes on."""

    output: str | None = None
    session_id: str | None = None


class FinishedTask(msgspec.Struct, frozen=True, kw_only=True):
    """The end of work in the background."""

    session_id: str
    agent: str
    output: str | None = None
    error: str | None = None
    """Why there is no output."""


class Delegation(CallPort, Protocol):
    """Whoever starts agents for the calling session."""

    async def start(self, work: Work, /) -> Delegated:
        """Its output, or for work in the background its session at once.

        InvalidArguments for an agent that is not there or cannot be started so, PolicyDenied too
        deep below, Unavailable where there are no agents.
        """
        ...
