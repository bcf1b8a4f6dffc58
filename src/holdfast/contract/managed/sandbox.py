"""The hand of a managed session as one thing: what it is made of, what it can do, what it answers.

Values and protocols. Who carries an action out is not known here.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.shell import CommandPolicyView, HandError, HandUsage
from holdfast.contract.mounts import Mount
from holdfast.contract.steps import Step

HandAccess = Literal["read", "write", "confirmed", "shell"]
"""Of an action: it reads, writes in writable mounts, asks a person each time, or looks after the
persistent shell."""


class ActionView(msgspec.Struct, frozen=True, kw_only=True):
    """Something the hand can do."""

    name: str
    description: str
    access: HandAccess


class SandboxDescribed(msgspec.Struct, frozen=True, kw_only=True):
    """What the hand is made of."""

    kind: str
    summary: str
    provisioned_resource_count: int
    resources: tuple[Mount, ...]
    constraints: tuple[str, ...]
    actions: tuple[ActionView, ...] = ()
    command_policy: CommandPolicyView
    action_examples: tuple[Step, ...] = ()


class SandboxResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an action gave. That it failed is told here."""

    ok: bool
    name: str
    text: str
    output: JsonObject | None = None
    artifacts: tuple[str, ...] = ()
    usage: HandUsage = HandUsage()
    error: HandError | None = None


class Sandbox(Protocol):
    """A hand: given what it works on, told what it is, asked to do something."""

    def provision(self, resources: tuple[Mount, ...], /) -> None:
        """Work on these from here on, and on nothing else."""
        ...

    async def describe(self) -> SandboxDescribed:
        """What it is made of."""
        ...

    async def execute(self, name: str, given: JsonObject, /) -> SandboxResult:
        """Carry an action out; it raises nothing but that the call was interrupted."""
        ...


class SandboxDesk(CallPort, Protocol):
    """What of a session's hand its tools cannot know themselves."""

    @property
    def resources(self) -> tuple[Mount, ...]:
        """What is mounted."""
        ...

    async def described(self, resources: tuple[Mount, ...], /) -> SandboxDescribed:
        """The hand over these, but for its actions."""
        ...

    async def words(self, command: str, directory: str | None, /) -> tuple[str, ...]:
        """A command that only reads as its words, if the managed hand runs it there;
        PolicyDenied."""
        ...
