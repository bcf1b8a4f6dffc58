"""What a session may do as it stands, as tools tell it. Values, and the port behind them."""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.steps import Step
from holdfast.contract.tool import Effect, InterruptBehavior, Ownership, PermissionPolicy

GATED = frozenset(
    {"memory_promote_note", "resources_promote_to_substrate", "resources_restore_version"}
)
"""Tools that write what all sessions of an agent share, once the outcome is reached."""
CHANGES_SHELL = frozenset(
    {
        *("shell_set_cwd", "shell_set_env", "shell_unset_env", "shell_open"),
        *("shell_restart", "shell_run", "shell_exec", "shell_close"),
    }
)
"""Tools that change the shell of a session."""
OVERRIDE = "require_outcome_pass"
"""The argument of gated tools by which a call says whether the outcome has to be reached."""


class PendingConfirmation(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits for a person."""

    id: str
    tool_name: str
    ownership: str
    permission_policy: str
    input: JsonValue
    requested_at: str


class PermissionPosture(msgspec.Struct, frozen=True, kw_only=True):
    """What a session may do, what it waits for, and what leads on."""

    artifact_paths: tuple[str, ...] = ()
    pending_tool_confirmation_request: PendingConfirmation | None = None
    outcome_evaluation: Evaluation
    next_outcome_step: Step | None = None
    context_pressure: Pressure | None = None
    """Where the context is short of room, or leaves out what was said."""
    shell_mutation_posture: ShellPosture
    read_only_alternative: Step | None = None
    next_shell_step: Step | None = None
    shell_read_first_alternatives: tuple[Step, ...] = ()
    always_ask_tools: tuple[str, ...] = ()
    outcome_gated_tools: tuple[str, ...] = ()


class PermissionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a call of one tool. Nothing of a tool that cannot be called is known."""

    tool_name: str
    artifact_paths: tuple[str, ...] = ()
    exists: bool
    allowed: bool
    """It can be called, and no rule refuses the call that is previewed."""
    permission_policy: PermissionPolicy | None = None
    requires_confirmation: bool = False
    requires_outcome_pass: bool = False
    ownership: Ownership | None = None
    effects: tuple[Effect, ...] = ()
    read_only: bool | None = None
    destructive: bool | None = None
    interrupt_behavior: InterruptBehavior | None = None
    outcome_evaluation: Evaluation | None = None
    """For tools that the outcome gates, and those that change the shell."""
    next_outcome_step: Step | None = None
    context_pressure: Pressure | None = None
    pending_tool_confirmation_request: PendingConfirmation | None = None
    """Of this tool alone."""
    shell_mutation_posture: ShellPosture | None = None
    read_only_alternative: Step | None = None
    shell_read_first_alternatives: tuple[Step, ...] = ()
    next_step: Step | None = None


class PermissionAdvice(CallPort, Protocol):
    """Whoever knows what the calling session may do. Nothing is run, and nobody is asked."""

    async def describe(self) -> PermissionPosture:
        """All of it."""
        ...

    async def check(self, tool_name: str, tool_args: JsonObject | None, /) -> PermissionCheck:
        """What would become of one call, with these arguments where they are given."""
        ...
