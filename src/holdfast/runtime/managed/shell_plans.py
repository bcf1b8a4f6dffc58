"""How a shell stands, and what to do about it: values from values. Pure."""

from holdfast.contract.managed.shell_views import (
    BusyPlan,
    CommandPreview,
    CommandRecord,
    EnvironmentKeys,
    LivePreview,
    PersistentView,
    ShellPosture,
    ShellState,
)
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.steps import Step
from holdfast.runtime.managed.shell_ledger import Kept, Ledger, Process

READ_TOOLS = (
    *("shell_wait", "shell_describe", "shell_history", "shell_read_last_output"),
    *("shell_read_command", "bash", "read", "glob", "grep"),
    *("session_get_snapshot", "retrieval_search"),
)
AVOIDED_TOOLS = ("shell_run", "shell_exec", "shell_restart", "shell_close")

WAIT = Step(
    tool="shell_wait",
    args={"timeout_ms": 1000},
    rationale="A command runs in the persistent shell: wait for it before anything else is"
    " changed there.",
)
LAST_OUTPUT = Step(
    tool="shell_read_last_output",
    rationale="Reads what was printed so far, and what the command before printed.",
)


def state_of(ledger: Ledger, live: PersistentFacts | None, known: frozenset[str]) -> ShellState:
    """What is durable. ``known``: variables whose values this process knows."""
    lost = tuple(name for name in sorted(ledger.withheld) if name not in known)
    records = tuple(record(one) for one in ledger.commands)
    return ShellState(
        cwd=ledger.cwd,
        env=EnvironmentKeys(count=len(ledger.keys), keys=ledger.keys, to_set_again=lost),
        persistent_shell=view_of(ledger.process, live),
        last_command=preview(ledger.commands[0]) if ledger.commands else None,
        recent_commands=records,
    )


def record(kept: Kept) -> CommandRecord:
    """A command without what it printed."""
    text = kept.text
    return CommandRecord(**{name: getattr(text, name) for name in CommandRecord.__struct_fields__})


def preview(kept: Kept) -> CommandPreview:
    """The same in short."""
    text = kept.text
    return CommandPreview(
        **{name: getattr(text, name) for name in CommandPreview.__struct_fields__}
    )


def view_of(process: Process | None, live: PersistentFacts | None) -> PersistentView | None:
    """The persistent shell; one that was open is closed where no process lives."""
    if live is None:
        if process is None:
            return None
        return PersistentView(
            shell_id=process.shell_id,
            status="closed",
            started_at=process.started_at,
            updated_at=process.updated_at,
            last_command_at=process.last_command_at,
            command_count=process.command_count,
        )
    known = process if process is not None and process.shell_id == live.shell_id else None
    busy = live.status == "busy"
    return PersistentView(
        shell_id=live.shell_id,
        status="active" if busy or (live.alive and live.status != "closed") else "closed",
        started_at=None if known is None else known.started_at,
        updated_at=None if known is None else known.updated_at,
        last_command_at=None if known is None else known.last_command_at,
        command_count=live.command_count,
        busy=busy,
        current_command=live.current_command,
        current_command_started_at=live.current_command_started_at,
    )


def posture_of(state: ShellState, live: PersistentFacts | None, *, own: bool) -> ShellPosture:
    """What can be done with it. ``own``: the calling session can do something about it."""
    shell = state.persistent_shell
    busy = own and shell is not None and shell.busy
    status = "none" if shell is None else shell.status
    return ShellPosture(
        status=status,
        busy=busy,
        cwd=state.cwd,
        persistent_shell=shell,
        last_command_preview=state.last_command,
        busy_plan=_busy_plan(live) if busy and live is not None else None,
        recovery_plan=_recovery(status, state.cwd) if own else None,
    )


def _recovery(status: str, cwd: str) -> Step | None:
    if status == "closed":
        why = (
            "The persistent shell is closed: a fresh one goes on with the directory and variables."
        )
        return Step(tool="shell_restart", args={"cwd": cwd}, rationale=why)
    if status == "none":
        why = (
            "There is no persistent shell yet; one keeps directory and variables between commands."
        )
        return Step(tool="shell_open", args={"cwd": cwd}, rationale=why)
    return None


def _busy_plan(live: PersistentFacts) -> BusyPlan:
    printed = live.stdout_preview or live.stderr_preview
    return BusyPlan(
        step=WAIT,
        allowlisted_read_tools=READ_TOOLS,
        evidence_plan=LAST_OUTPUT,
        avoid_tools=AVOIDED_TOOLS,
        live_output_preview=LivePreview(
            stdout_preview=live.stdout_preview, stderr_preview=live.stderr_preview
        )
        if printed
        else None,
    )
