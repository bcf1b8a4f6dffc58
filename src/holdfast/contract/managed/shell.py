"""What the shell tools of the managed profile answer, and the port behind them. Values only.

Names of variables are told, and never their values.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.commanding import CommandDone
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import (
    BusyPlan,
    CommandPreview,
    CommandRecord,
    EnvironmentKeys,
    PersistentView,
    ShellState,
)
from holdfast.contract.shell import PersistentFacts, ShellChange
from holdfast.contract.steps import Step

MOST_SECONDS = 60.0
"""How long a command of the managed hand may take, and how long one is waited for."""
KEPT_COMMANDS = 5
"""How many of a session's commands are remembered."""

WaitStatus = Literal["idle", "running", "completed", "error"]


class CommandPolicyView(msgspec.Struct, frozen=True, kw_only=True):
    """What commands of the hand are held to."""

    shell: bool = True
    """A writable shell can be asked for; it is confirmed each time."""
    allowlisted_commands: tuple[str, ...]
    """What runs without being asked about: one plain command, and no shell."""
    cwd_scope: tuple[str, ...]
    """Where a writable command may begin, and anything below."""
    max_timeout_ms: int = 60_000
    exposed_env_keys: tuple[str, ...]


class ShellWays(msgspec.Struct, frozen=True, kw_only=True):
    """What can be done next."""

    artifact_paths: tuple[str, ...] = ()
    busy_plan: BusyPlan | None = None
    recovery_plan: Step | None = None
    next_step: Step | None = None


class ShellDescribed(msgspec.Struct, frozen=True, kw_only=True):
    """How the shell stands."""

    cwd: str
    env: EnvironmentKeys
    context_pressure: Pressure | None
    persistent_shell: PersistentView | None
    shell_state: ShellState
    artifact_paths: tuple[str, ...]
    last_command_preview: CommandPreview | None
    command_policy: CommandPolicyView
    busy_plan: BusyPlan | None
    recovery_plan: Step | None
    shell_read_first_alternatives: tuple[Step, ...]


class ShellHistory(ShellWays, frozen=True, kw_only=True):
    """The newest commands, the newest first."""

    cwd: str
    count: int
    commands: tuple[CommandRecord, ...]


class CommandText(CommandRecord, frozen=True, kw_only=True):
    """A command with what it printed."""

    stdout: str = ""
    stderr: str = ""
    summary: str = ""


class LiveOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What runs now, and the end of what it has printed."""

    shell_id: str
    command: str | None
    started_at: str | None
    stdout_preview: str = ""
    stderr_preview: str = ""


class LastOutput(ShellWays, frozen=True, kw_only=True):
    """The last command."""

    cwd: str
    last_command: CommandText | None
    live_command: LiveOutput | None = None


class CommandReread(ShellWays, frozen=True, kw_only=True):
    """One command; None: it is not among those that are remembered."""

    command: CommandText | None


class Waited(ShellWays, frozen=True, kw_only=True):
    """What came of waiting."""

    status: WaitStatus
    persistent_shell: PersistentView | None
    shell_state: ShellState
    result: CommandText | None = None
    error: str | None = None


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Where commands run from here on."""

    cwd: str
    shell_state: ShellState


class VariableChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A variable of later commands was set or is set no more."""

    key: str
    env: EnvironmentKeys
    shell_state: ShellState


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The persistent shell."""

    cwd: str
    persistent_shell: PersistentView | None
    shell_state: ShellState


class Closed(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one was open."""

    closed: bool
    shell_id: str | None
    shell_state: ShellState


class HandError(msgspec.Struct, frozen=True, kw_only=True):
    """Why the hand could not do it."""

    code: Literal["denied", "missing", "busy", "timeout", "failed"]
    message: str
    retryable: bool


class CommandOutput(msgspec.Struct, frozen=True, kw_only=True):
    """How a command of a writable shell went."""

    command_id: str
    command: str
    cwd: str
    env_keys: tuple[str, ...]
    exit_code: int | None
    timed_out: bool
    duration_ms: int
    stdout: str
    stderr: str
    truncated: bool = False
    signal: str | None = None
    persistent_shell: PersistentView | None = None
    shell_state: ShellState


class HandUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What it took."""

    duration_ms: int = 0


class CommandResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the hand answers for a command."""

    ok: bool
    name: str
    text: str
    output: CommandOutput | None
    artifacts: tuple[str, ...] = ()
    """Files with the whole of what it printed, where the answer shows a part."""
    usage: HandUsage = HandUsage()
    error: HandError | None = None


class ShellGround(msgspec.Struct, frozen=True, kw_only=True):
    """What a command begins with."""

    cwd: str
    environment: Mapping[str, str]
    to_set_again: tuple[str, ...] = ()


class ShellReading(CallPort, Protocol):
    """What is known of the shells of the agent's sessions."""

    async def described(self, session_id: str | None, /) -> ShellDescribed:
        """How one stands."""
        ...

    async def history(self, session_id: str | None, limit: int, /) -> ShellHistory:
        """Its newest commands."""
        ...

    async def last_output(self, session_id: str | None, /) -> LastOutput:
        """What the last one printed."""
        ...

    async def command(self, command_id: str, session_id: str | None, /) -> CommandReread:
        """One of them, by its id."""
        ...

    async def wait(self, seconds: float, /) -> Waited:
        """Wait for the command that runs in the persistent shell of the calling session."""
        ...


class ShellKeeping(CallPort, Protocol):
    """What goes on from command to command in the calling session: kept, and told."""

    def turn(self, seconds: float, /) -> AbstractAsyncContextManager[bool]:
        """Held by whoever runs a command in the persistent shell, from `change` to `ran`; whether
        their turn has come within so many seconds."""
        ...

    async def ground(self) -> ShellGround:
        """What a command begins with."""
        ...

    async def move(self, path: str, /) -> Moved:
        """Have later commands run there; InvalidArguments unless a directory in a mount."""
        ...

    def writable_place(self, path: str, field: str, /) -> str:
        """A directory in which a writable command may run; PolicyDenied elsewhere."""
        ...

    async def set_variable(self, key: str, value: str, /) -> VariableChanged:
        """Have later commands begin with a variable; PolicyDenied for a protected one."""
        ...

    async def unset_variable(self, key: str, /) -> VariableChanged:
        """Have them begin without it."""
        ...

    async def change(self, variables: Mapping[str, str], *, alive: bool) -> ShellChange:
        """What a shell has to be told before its next command. ``alive``: it exports these
        variables now, and was told before what was kept then; else it is a new one."""
        ...

    async def opened(self, facts: PersistentFacts, /) -> Opened:
        """The persistent shell is open."""
        ...

    async def closed(self, shell_id: str | None, /) -> Closed:
        """It is not open any more; None: none was."""
        ...

    async def learned(self, facts: PersistentFacts, variables: Mapping[str, str], /) -> None:
        """A command in it has ended, and left this."""
        ...

    async def ran(self, done: CommandDone, /) -> ShellState:
        """A command has run."""
        ...

    def whole(self, call_id: str, text: str, /) -> str | None:
        """Keep what an answer shows a part of; where it is, if there is room. Blocking."""
        ...

    def command_id(self, call_id: str, /) -> str:
        """By which a command of a call is known later."""
        ...
