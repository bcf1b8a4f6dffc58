"""`sandbox_process`: looks at, waits for and ends what `sandbox_exec` left running."""

from typing import Annotated, Literal

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import JobFacts, Jobs
from holdfast.contract.tool import Limits

_TAIL_BYTES = 64 * 1024
_LONGEST_WAIT = 300
_GRACE = 3.0
_MOST_NAMED = 20


class Polled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a process stands."""

    pid: str
    alive: bool
    log_file: str
    log_tail: str
    exit_code: int | None = None


class Waited(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of waiting."""

    pid: str
    exited: bool
    timed_out: bool
    log_file: str
    log_tail: str
    exit_code: int | None = None


class Killed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of ending it."""

    pid: str
    killed: bool
    """False: it had ended by itself."""
    signal: Literal["SIGTERM", "SIGKILL"] | None
    """What ended it; null: it had ended by itself."""


@builtin(
    read_only=False,
    destructive=True,
    effects=("sandbox_execute",),
    acp_kind="execute",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),  # it waits for a command, and for so long as the call says
    resource_key=lambda arguments: ("process", str(arguments.get("pid"))),
)
async def sandbox_process(
    rt: Runtime,
    action: Literal["poll", "wait", "kill"],
    pid: Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,12}$")],
    timeout: Annotated[int, msgspec.Meta(ge=1, le=_LONGEST_WAIT)] = 60,  # noqa: ASYNC109 - the name is the contract's
    tail_lines: Annotated[int, msgspec.Meta(ge=0, le=200)] = 40,
    force: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Polled | Waited | Killed:
    """Look at, wait for or end a background process that sandbox_exec started in this session.

    Example: {"action": "wait", "pid": "17", "timeout": 30, "tail_lines": 20}

    Args:
        action: poll tells how it stands, wait waits for its end, kill ends it and all it started.
        pid: The number that sandbox_exec gave, as text.
        timeout: How many seconds to wait at most.
        tail_lines: How many lines of its log to show, from the end.
        force: Kill at once, instead of asking it to end and killing it three seconds later.
    """
    jobs = rt.shell.jobs
    job = _job(jobs, pid)
    if action == "kill":
        ended = await jobs.kill(job.id, grace=0.0 if force else _GRACE)
        if job.state != "running" or ended.killed_by not in ("user", "lost"):
            return Killed(pid=pid, killed=False, signal=None)
        return Killed(pid=pid, killed=True, signal="SIGKILL" if ended.forced else "SIGTERM")
    if action == "wait":
        waited = await jobs.wait(job.id, seconds=timeout)
        return Waited(
            pid=pid,
            exited=waited.met,
            timed_out=not waited.met,
            log_file=waited.facts.log_path or "",
            log_tail=_tail(jobs, job.id, tail_lines),
            exit_code=waited.facts.exit_code,
        )
    return Polled(
        pid=pid,
        alive=job.state == "running",
        log_file=job.log_path or "",
        log_tail=_tail(jobs, job.id, tail_lines),
        exit_code=job.exit_code,
    )


def _job(jobs: Jobs, pid: str) -> JobFacts:
    """The newest one of that number: a number may be given again in another sandbox."""
    known = [one for one in jobs.all() if one.pid is not None]
    found = [one for one in known if one.pid == int(pid)]
    if found:
        return found[-1]
    numbers = ", ".join(str(one.pid) for one in known[-_MOST_NAMED:]) or "none"
    raise PolicyDenied(
        f"No process {pid} of this session is known, and no other is touched. Its newest are:"
        f" {numbers}.",
        field="pid",
    )


def _tail(jobs: Jobs, job: str, lines: int) -> str:
    if lines == 0:
        return ""
    return "".join(jobs.tail(job, max_bytes=_TAIL_BYTES).splitlines(keepends=True)[-lines:])
