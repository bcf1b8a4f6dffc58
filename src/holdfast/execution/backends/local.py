"""The backends of this machine: processes in the kernel's confinement, files below one directory.

``local`` takes the strongest confinement that starts; ``bubblewrap`` that one and no other.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, cast

from holdfast.contract.audit import NO_AUDIT, AuditLog
from holdfast.contract.backend import (
    BackendCapabilities,
    BackendSandboxSpec,
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    IsolationLevel,
    OpenedSandbox,
    PathFailure,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.gates import Refusal
from holdfast.contract.sandbox import KEPT_FROM_COMMANDS, SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.backends.disk_files import sandbox_files
from holdfast.execution.backends.local_commands import LocalAudit, LocalCommands, Unrunnable
from holdfast.execution.backends.local_files import (
    FILE_PAYLOADS,
    BelowDirectory,
    FilePayload,
    FilesOf,
    LocalFiles,
)
from holdfast.execution.backends.places import Places, make_places
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts
from holdfast.execution.spool import Spool


class LocalSettings(NamedTuple):
    """How much of the machine a local sandbox may have. What is not said is the safe choice."""

    paths: Literal["working_dir", "anywhere"] = "working_dir"
    """``anywhere``: file payloads and ``cwd`` reach what the program itself reaches."""
    environment: Literal["minimal", "inherited"] = "minimal"
    """``inherited``: every variable of the program, its secrets among them."""
    confinement: Confinement | None = None
    """This one and no other; None: the strongest there is, and never none at all."""
    parent: Mapping[str, str] = os.environ
    """What the environment of its processes is taken from."""
    files: FilesOf = sandbox_files
    protected: tuple[str, ...] = KEPT_FROM_COMMANDS
    """What commands do not write below a working directory that outlives the sandbox."""
    audit: AuditLog = NO_AUDIT
    """Where its programs are written down."""


class LocalBackend:
    """Runs payloads on this machine, confined by the kernel."""

    accepted: frozenset[type[BackendTool]] = FILE_PAYLOADS | {
        BackendToolCommandRun,
        BackendToolCodeRun,
    }

    def __init__(
        self, settings: LocalSettings, name: str = "local", isolation: IsolationLevel = "process"
    ) -> None:
        self.name = name
        self.capabilities = BackendCapabilities(isolation=isolation)
        self._settings = settings

    def why_unavailable(self) -> str | None:
        """Only bubblewrap can be missing in a way that is cheap to see."""
        if self._settings.confinement == "bubblewrap" and shutil.which("bwrap") is None:
            return "bubblewrap is not installed; install the package bubblewrap"
        return None

    def open(self, spec: BackendSandboxSpec, /) -> OpenedSandbox | ToolExecutionFailure:
        """Make its directories; processes are confined when the first is needed."""
        try:
            places = make_places(spec.working_dir, self._settings.parent.get("HOME"))
        except OSError as problem:
            return ToolExecutionFailure("os_error", f"its directory cannot be made: {problem}")
        # What is removed with the sandbox runs nothing later.
        protected = () if spec.working_dir is None else self._settings.protected
        settings = self._settings._replace(protected=protected)
        return LocalSandbox(settings, places, spec.env or {}, self.name)


def bubblewrap(settings: LocalSettings) -> LocalBackend:
    """The same, with bubblewrap and nothing else."""
    chosen = settings._replace(confinement="bubblewrap")
    return LocalBackend(chosen, "bubblewrap", "container")


class LocalSandbox:
    """One working directory, and confinement for its processes."""

    def __init__(
        self, settings: LocalSettings, places: Places, variables: Mapping[str, str], name: str
    ) -> None:
        self._places = places
        self._closed = False
        working_dir = places.working_dir
        parts = SandboxParts(
            policy=_policy(working_dir, settings.protected),
            scratch=places.scratch,
            workspace=working_dir,
            environment=settings.parent,
            spools=_in_memory,
            variables={**_inherited(settings), **variables},
            confinement=settings.confinement,
        )
        audit = LocalAudit(settings.audit, f"({name})", tuple(variables))
        self._commands = LocalCommands(Sandbox(parts), places.scratch, working_dir, audit)
        self._gate = BelowDirectory(working_dir, anywhere=settings.paths == "anywhere")
        files = settings.files(self._gate, working_dir)
        self._files = LocalFiles(files, self._gate, working_dir)

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Run one operation; trouble is a value."""
        if self._closed:
            return ToolExecutionFailure("sandbox_closed", "the sandbox is closed")
        try:
            return self._dispatched(payload)
        except Unrunnable as problem:
            return ToolExecutionFailure("dispatch_error", str(problem))
        except OSError as problem:
            return ToolExecutionFailure("os_error", str(problem), type(problem).__name__)
        except Exception as problem:  # noqa: BLE001 - nothing may leave a backend as an exception
            kind = type(problem).__name__
            return ToolExecutionFailure("unexpected", f"{kind}: {problem}", kind)

    def close(self) -> None:
        """End what runs, then remove what was made."""
        self._closed = True
        try:
            self._commands.close()
        finally:
            self._places.remove()

    def _dispatched(self, payload: BackendTool) -> ToolResult | bool:
        match payload:
            case BackendToolCommandRun():
                cwd = self._directory(payload.cwd)
                return cwd if isinstance(cwd, PathFailure) else self._commands.command(payload, cwd)
            case BackendToolCodeRun():
                return self._commands.code(payload)
            case _:
                return self._files.run(cast("FilePayload", payload))

    def _directory(self, cwd: str | None) -> str | PathFailure:
        """Where a command begins. It only looks; what the command reaches is the kernel's word."""
        if cwd is None:
            return self._places.working_dir
        judged = self._gate("read", cwd)
        if isinstance(judged, Refusal):
            return PathFailure("os_error", judged.reason, cwd, field="cwd")
        return judged.path


def _policy(working_dir: str, protected: Iterable[str]) -> SandboxPolicy:
    kept = {f"{working_dir.rstrip('/')}/{name}" for name in protected}
    return SandboxPolicy(
        readable=(working_dir,), writable=(working_dir,), protected=tuple(sorted(kept))
    )


def _inherited(settings: LocalSettings) -> Mapping[str, str]:
    return settings.parent if settings.environment == "inherited" else {}


def _in_memory(_name: str) -> Spool:
    """No file: beginning and end of an output are kept, the rest is counted."""
    return Spool(lambda: None, 0)
