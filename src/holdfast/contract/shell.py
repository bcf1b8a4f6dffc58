"""Commands as a tool runs them: `rt.shell`. Who runs them is not known here."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.gates import Refusal

KilledBy = Literal["user", "timeout", "idle", "abort", "lost"]
"""``lost``: given up, because the sandbox went away or nothing else helped."""

Confinement = Literal["namespaces", "bubblewrap", "landlock", "unconfined"]

CommandText = str | Sequence[str]
"""A text goes to bash with pipefail; a sequence is a program and its arguments, without a shell."""


class CommandLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a command may take, in seconds; None: as long as it likes."""

    wall: float | None = None
    idle: float | None = None
    """Without a byte of output on either stream."""
    grace: float = 3.0
    """Between SIGTERM and SIGKILL."""


NO_LIMITS = CommandLimits()


class Printed(msgspec.Struct, frozen=True):
    """What one stream held: its beginning, its end, and how much it was."""

    head: bytes
    tail: bytes
    """The end, as far as it is not in the head."""
    total: int

    @property
    def complete(self) -> bool:
        """Whether head and tail are all there was."""
        return len(self.head) + len(self.tail) == self.total

    def text(self) -> str:
        """As text; a gap is named, and bytes that are no UTF-8 are replaced."""
        if self.complete:
            return (self.head + self.tail).decode("utf-8", "replace")
        missing = self.total - len(self.head) - len(self.tail)
        head, tail = (part.decode("utf-8", "replace") for part in (self.head, self.tail))
        return f"{head}\n... [{missing:,} bytes omitted] ...\n{tail}"


class CommandReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a command went. That it failed is told here, never raised."""

    cwd: str = ""
    """Where it ran."""
    exit_code: int | None
    """128 + N when signal N ended it; None when it was killed from here, or never started."""
    signal: int | None = None
    killed_by: KilledBy | None = None
    unstarted: str | None = None
    """Why it could not be started at all."""
    stdout: Printed
    stderr: Printed
    order: tuple[tuple[Literal["stdout", "stderr"], int], ...] = ()
    """How the streams came: so many bytes of one, then so many of the other."""
    output_path: str | None = None
    """Where both streams are as a whole, where memory did not hold them."""
    dropped_bytes: int = 0
    """Neither in memory nor in the file: past the quota."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    job: str | None = None
    """What it started goes on as this background job."""
    waiting_for: str | None = None
    """It was waiting for input; the prompt it had printed."""
    refusals: tuple[Refusal, ...] = ()
    """What the sandbox kept it from."""
    warnings: tuple[str, ...] = ()
    confinement: Confinement


_WRITES = "requires.fs.write"


def first_refusal(refusals: Sequence[Refusal]) -> Refusal:
    """The one to speak of: what is known counts more than what a command says."""
    return min(refusals, key=lambda one: one.basis == "said")


def denial_of(report: CommandReport) -> PolicyDenied | None:
    """What a tool raises for a command that failed because of the sandbox; None: it did not.

    The failure names what was refused and what would permit it, and keeps what was printed. Where
    nobody but the command says that this is why it failed, the words say so. Such a one is rejected
    all the same: the command did fail, and the policy does not admit what it named.
    """
    if report.exit_code == 0 or not report.refusals:
        return None
    first = first_refusal(report.refusals)
    said = f"The command says it could not reach {first.target!r}, which this session may not:"
    known = "The sandbox refused it:"
    wanted = [one.requirement for one in report.refusals if one.requirement is not None]
    hint = f" It would be admitted by {first.requirement}." if first.requirement else ""
    if _WRITES in hint and "**" not in hint:
        hint += " For a file that is not there yet, name its folder."
    return PolicyDenied(
        f"{said if first.basis == 'said' else known} {first.reason}{hint}",
        extras={
            "target": first.target,
            "requirements": [*wanted],
            "exit_code": report.exit_code,
            "stdout": report.stdout.text(),
            "stderr": report.stderr.text(),
        },
    )


JobState = Literal["running", "exited", "killed"]


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A command that goes on in the background."""

    id: str
    command: str
    cwd: str
    state: JobState
    exit_code: int | None = None
    killed_by: str | None = None
    """``user``, ``session``, ``lost`` or ``signal:N``."""
    forced: bool = False
    """It did not end when it was asked to, or was not asked: SIGKILL ended it."""
    pid: int | None = None
    """Its number inside of its sandbox."""
    started_at: str
    seconds: float
    log_path: str | None
    byte_count: int
    """All it has printed."""


class JobWait(msgspec.Struct, frozen=True, kw_only=True):
    """What came of waiting."""

    facts: JobFacts
    met: bool
    """What was waited for happened; False: the time is over, or the job ended before."""
    matched: str | None = None
    """The line of the log that fits the pattern."""


class LiveCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command as somebody sees it who looks on while it runs, or shortly after."""

    id: str
    call_id: str
    """The call it belongs to."""
    kind: Literal["foreground", "job", "persistent"]
    command: str
    state: JobState
    exit_code: int | None = None
    killed_by: str | None = None
    """``user``, ``timeout``, ``abort``, ``session``, ``lost`` or ``signal:N``."""
    started_at: str
    stdout_tail: str
    stderr_tail: str


class LiveCommands(Protocol):
    """The commands of a session that run now, and those that ended moments ago."""

    def all(self) -> tuple[LiveCommand, ...]:
        """Every one of them, the oldest first."""
        ...

    def terminate(self, command: str, /) -> bool:
        """End one and all it started, by a person's wish; False when it is over or unknown."""
        ...


class Jobs(Protocol):
    """The background jobs of a session; they survive the call and die with the session."""

    async def start(
        self,
        command: CommandText,
        /,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> JobFacts:
        """Start one; OperationFailed when it cannot be started."""
        ...

    def all(self) -> tuple[JobFacts, ...]:
        """Every job of the session, the oldest first."""
        ...

    def poll(self, job: str, /) -> JobFacts:
        """How it stands; InvalidArguments when there is no such job."""
        ...

    async def wait(
        self,
        job: str,
        /,
        *,
        seconds: float,
        port: int | None = None,
        pattern: str | None = None,
    ) -> JobWait:
        """Wait until it ends, until it listens on a port, or until its log holds a pattern."""
        ...

    def tail(self, job: str, /, *, max_bytes: int = 16_384) -> str:
        """The end of what it printed."""
        ...

    async def kill(self, job: str, /, *, grace: float = 3.0) -> JobFacts:
        """End it and all it started; harmless when it has ended."""
        ...


class PersistentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a persistent shell stands."""

    shell_id: str
    status: Literal["idle", "busy", "closed"]
    cwd: str
    env_keys: tuple[str, ...]
    """The names of variables that differ from the base environment; values are not shown."""
    command_count: int
    current_command: str | None = None
    current_command_started_at: str | None = None
    stdout_preview: str = ""
    stderr_preview: str = ""
    alive: bool = True
    """Its process runs; where it does not, the next command begins a new one."""


class ShellChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is different in a shell from its next command on."""

    cwd: str | None = None
    """Where it goes; None: it stays."""
    variables: Mapping[str, str] = {}
    forgotten: tuple[str, ...] = ()
    """Variables that are again as in the base environment."""


NO_CHANGE = ShellChange()


class PersistentReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one command of a persistent shell gave."""

    facts: PersistentFacts
    report: CommandReport


class PersistentShell(Protocol):
    """One shell per session: its directory and exported variables go on from command to command."""

    async def run(
        self, command: str, /, *, limits: CommandLimits = NO_LIMITS, before: ShellChange = NO_CHANGE
    ) -> PersistentReport:
        """Run a command after those that wait. One that is killed takes the shell with it, and the
        next one finds a new shell with the same directory and variables.

        ``before``: what is changed first.
        """
        ...

    async def opened(self, begin: ShellChange = NO_CHANGE, /, *, anew: bool) -> PersistentFacts:
        """Have a shell whose process lives: the one there is, as it is, or a new one that begins
        like this. ``anew``: a new one in any case; a running command is ended."""
        ...

    def variables(self) -> Mapping[str, str]:
        """What it exports with another value than the base environment has, or beside it."""
        ...

    def inspect(self) -> PersistentFacts:
        """How it stands, at once."""
        ...

    async def wait(self, *, seconds: float) -> PersistentFacts:
        """Wait until it is idle."""
        ...

    async def restart(self) -> PersistentFacts:
        """A new shell with the base environment; a running command is ended."""
        ...

    async def close(self) -> None:
        """End it; a later command begins anew."""
        ...


class Shell(Protocol):
    """Commands within a call's reach, confined by the kernel; Unavailable without a sandbox."""

    async def run(
        self,
        command: CommandText,
        /,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        limits: CommandLimits = NO_LIMITS,
    ) -> CommandReport:
        """Run a command to its end. A non-zero exit is a report like any other."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Background jobs."""
        ...

    @property
    def persistent(self) -> PersistentShell:
        """The session's one persistent shell."""
        ...
