"""Waiting for what a job does: listen on a port, or print a line that fits a pattern."""

import asyncio
import os
from functools import partial

from holdfast.contract.errors import SandboxNotRunning, Unavailable
from holdfast.execution.processes import command as commanding
from holdfast.execution.processes.command import Command
from holdfast.execution.processes.job import Job
from holdfast.execution.processes.limits import Limits
from holdfast.execution.processes.listening import TABLES, is_listened_on, tables_of_this_machine
from holdfast.execution.processes.log_search import LogSearch, check_pattern
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.wardens import Warden

PROBE_SECONDS = 0.1
LEAST_SEARCH_SECONDS = 1.0
"""What is in a log already is found however little time is given."""
_PROBE_LIMITS = Limits(wall=5.0, grace=0.0)


async def listens(sandbox: Sandbox, job: Job, port: int, seconds: float) -> bool:
    """Whether something listens on the port in time and before the job ends."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not await _listens_now(sandbox, port):
        left = min(PROBE_SECONDS, until - loop.time())
        if left <= 0 or job.over.done():
            return False
        await asyncio.wait([job.over], timeout=left)
    return True


async def search(sandbox: Sandbox, job: Job, pattern: str, seconds: float) -> str | None:
    """The first line of the job's log that fits, in time; also after the job has ended."""
    check_pattern(pattern)
    if job.log.path is None:
        raise Unavailable("the job's output could not be kept: there is no log to search")
    warden = await _had(sandbox)
    looking = LogSearch(warden, warden.spawner())
    tell = partial(asyncio.get_running_loop().call_soon_threadsafe, looking.look_again)
    try:
        log = os.open(job.log.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            looking.begin(log, pattern, sandbox.environment())
        finally:
            os.close(log)
        job.log.written.add(tell)
        return await _found(looking, job, max(seconds, LEAST_SEARCH_SECONDS))
    except OSError as problem:
        raise Unavailable(f"the log cannot be searched: {problem}") from None
    except SandboxUnavailable as problem:
        raise SandboxNotRunning(f"the log cannot be searched: {problem}") from None
    finally:
        job.log.written.discard(tell)
        await looking.close()


async def _found(looking: LogSearch, job: Job, seconds: float) -> str | None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    either = [looking.ended, job.over]
    await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if job.over.done():
        looking.look_for_the_last_time()
        await asyncio.wait([looking.ended], timeout=until - loop.time())
    return looking.found() if looking.ended.done() else None


async def _had(sandbox: Sandbox) -> Warden:
    try:
        return await sandbox.warden()
    except SandboxUnavailable as problem:
        raise SandboxNotRunning(f"there is no sandbox to look into: {problem}") from None


async def _listens_now(sandbox: Sandbox, port: int) -> bool:
    warden = await _had(sandbox)
    if sandbox.confinement in ("namespaces", "bubblewrap"):
        ask = Command(["cat", *TABLES], "/", sandbox.environment())
        said = await commanding.run(warden, ask, _PROBE_LIMITS, sandbox.capture("ports"))
        return is_listened_on(said.captured.stdout.head.decode("ascii", "replace"), port)
    if sandbox.confinement == "landlock" and sandbox.parts.policy.network != "open":
        raise Unavailable(
            "commands of this session cannot listen on ports: without a network of their own"
            " (bubblewrap, or namespaces) they have no network at all"
        )
    return is_listened_on(await asyncio.to_thread(tables_of_this_machine), port)
