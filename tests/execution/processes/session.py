"""A sandbox as a session has it, with its register, jobs and persistent shell."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from execution.processes import measured
from execution.processes.ground import measurable, policy_of

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.processes.capture import Scrubber
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.jobs import JobsParts, SessionJobs
from holdfast.execution.processes.persistent import SessionShell, ShellParts
from holdfast.execution.processes.register import LiveRegister
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.spool import Spool, SpoolFile
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds


class Session(NamedTuple):
    """What a test's session has."""

    sandbox: Sandbox
    register: LiveRegister
    jobs: SessionJobs
    shell: SessionShell
    workspace: Path
    folder: Path


@asynccontextmanager
async def session(
    tmp_path: Path,
    kind: Confinement | None,
    policy: SandboxPolicy | None = None,
    scrubber: Callable[[], Scrubber] | None = None,
    log_bytes: int = 1 << 30,
    path: str = os.defpath,
) -> AsyncGenerator[Session]:
    """A session whose sandbox is opened when it is first needed, and closed afterwards."""
    top = tmp_path.resolve()
    names = ("workspace", "spools", "root", "temporary", "session")
    workspace, spools, root, temporary, folder = places = [top / name for name in names]
    for place in places:
        place.mkdir()

    numbers = count()

    def spool(name: str) -> Spool:
        path = spools / f"{name}-{next(numbers)}"

        def create() -> SpoolFile:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            return SpoolFile(str(path), handle, 1 << 30)

        return Spool(create, 1 << 30)

    parts = SandboxParts(
        policy=measurable(policy or policy_of(workspace)),
        scratch=Scratch(str(root), str(temporary), str(top / "home")),
        workspace=str(workspace),
        environment={"PATH": path},
        spools=spool,
        scrubber=scrubber,
        confinement=kind,
    )
    sandbox, clock = Sandbox(parts), SystemClock()
    ids = TimeIds(clock)
    register = LiveRegister(ids, clock)
    jobs = SessionJobs(JobsParts(sandbox, ids, clock, register, str(folder), log_bytes))
    shell = SessionShell(ShellParts(sandbox, ids, clock, register))
    before, troubles = descriptors(), list[str]()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: troubles.append(str(context)))
    try:
        yield Session(sandbox, register, jobs, shell, workspace, folder)
    finally:
        await jobs.close()
        await shell.close()
        register.close()
        if measured.runs():
            await _written_down(sandbox)
        await sandbox.close()
        assert troubles == []
        async with asyncio.timeout(5):  # one that was lost is let go of by a thread
            while descriptors() > before:
                await asyncio.sleep(0.01)


async def _written_down(sandbox: Sandbox) -> None:
    """Under coverage wardens write down what they measured."""
    with suppress(SandboxUnavailable):  # it was closed, or never opened
        warden = await sandbox.warden()
        warden.rest()
        await asyncio.sleep(0.3)


def descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
