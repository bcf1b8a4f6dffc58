"""A session's shell as tools, summaries and notes show it. Values, and the port behind them.

Names of variables are told, and never their values.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.shell import PersistentFacts
from holdfast.contract.steps import Step

ShellStatus = Literal["none", "active", "closed"]
"""Whether there is a persistent shell; `closed` also where its process is gone."""


class CommandPreview(msgspec.Struct, frozen=True, kw_only=True):
    """The last command, in short."""

    command_id: str
    command: str
    args: tuple[str, ...] = ()
    cwd: str
    updated_at: str
    output_preview: str = ""
    stdout_preview: str = ""
    stderr_preview: str = ""


class CommandRecord(CommandPreview, frozen=True, kw_only=True):
    """A command that has run."""

    exit_code: int | None = None
    timed_out: bool = False
    duration_ms: int = 0


class PersistentView(msgspec.Struct, frozen=True, kw_only=True):
    """The persistent shell, as it is known."""

    shell_id: str
    shell_path: str = "bash"
    status: ShellStatus
    started_at: str | None = None
    updated_at: str | None = None
    last_command_at: str | None = None
    command_count: int = 0
    busy: bool = False
    """Of the live process, in the calling session alone."""
    current_command: str | None = None
    current_command_started_at: str | None = None


class EnvironmentKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Which variables a session has set."""

    count: int = 0
    keys: tuple[str, ...] = ()
    to_set_again: tuple[str, ...] = ()
    """Of these: their values are written down nowhere, and the process that knew them is gone."""


class ShellState(msgspec.Struct, frozen=True, kw_only=True):
    """What of a session's shell is durable."""

    cwd: str
    env: EnvironmentKeys = EnvironmentKeys()
    persistent_shell: PersistentView | None = None
    last_command: CommandPreview | None = None
    recent_commands: tuple[CommandRecord, ...] = ()
    """The newest first, five at the most."""


class LivePreview(msgspec.Struct, frozen=True, kw_only=True):
    """The end of what a running command has printed."""

    stdout_preview: str = ""
    stderr_preview: str = ""


class BusyPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do while a command runs in the shell."""

    step: Step | None
    """None, here as below: this agent has no such tool."""
    allowlisted_read_tools: tuple[str, ...]
    evidence_plan: Step | None
    avoid_tools: tuple[str, ...]
    live_output_preview: LivePreview | None = None


class ShellPosture(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a command that changes something can be run in the shell now."""

    status: ShellStatus
    busy: bool = False
    cwd: str
    persistent_shell: PersistentView | None = None
    last_command_preview: CommandPreview | None = None
    busy_plan: BusyPlan | None = None
    recovery_plan: Step | None = None


class ShellView(Protocol):
    """Whoever knows how the shells of an agent's sessions stand."""

    def live(self) -> PersistentFacts | None:
        """The calling session's persistent shell, as it is this moment; None: none lives here."""
        ...

    async def state(self, session_id: str | None = None, /) -> ShellState:
        """What is durable of a session's shell; without an id, of the calling one."""
        ...

    async def posture(self, session_id: str | None = None, /) -> ShellPosture:
        """What can be done with it. The live view counts for the calling session alone."""
        ...
