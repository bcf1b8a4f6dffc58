"""The hand: the sandbox as a session sees it, and the files, commands and hosts its calls reach.

A sandbox per policy, opened at the first command; calls of equal policies share one. Nothing is
decided here: gates and policies are handed in.
"""

import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from anyio import to_thread

from holdfast.contract.audit import AuditLog
from holdfast.contract.errors import Unavailable
from holdfast.contract.gates import PathLeave
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement, LiveCommands, PersistentFacts
from holdfast.contract.tool import Tool
from holdfast.execution.files.changes import Changes
from holdfast.execution.files.disk_files import DiskFiles
from holdfast.execution.files.locks import PathLocks
from holdfast.execution.files.recorder import Recorder
from holdfast.execution.network.attempts import Attempts, SessionAttempts
from holdfast.execution.network.conversation import Ways
from holdfast.execution.network.fetching import HttpNet, Web
from holdfast.execution.network.resolving import SystemResolver
from holdfast.execution.processes.aftermath import Leaves
from holdfast.execution.processes.all_jobs import AllJobs
from holdfast.execution.processes.appearances import Watch
from holdfast.execution.processes.call_processes import Audit, CallProcesses, Notices, Processes
from holdfast.execution.processes.call_programs import CallPrograms
from holdfast.execution.processes.call_shell import CallShell
from holdfast.execution.processes.capture import Scrubber
from holdfast.execution.processes.claims import JOBS
from holdfast.execution.processes.jobs import JobsParts, SessionJobs
from holdfast.execution.processes.persistent import SessionShell, ShellParts
from holdfast.execution.processes.piped import PipedProcesses
from holdfast.execution.processes.register import LiveRegister
from holdfast.execution.processes.sandbox import Sandbox, Spools
from holdfast.execution.processes.sandbox_maker import SandboxMaker, Shared
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.tenure import Tenure
from holdfast.execution.processes.views import View, Views
from holdfast.execution.threads import wait_in_thread

_log = logging.getLogger("holdfast")

_T = TypeVar("_T")


class HandParts(NamedTuple):
    """What a session's hand is made from."""

    session: SessionFacts
    folder: Path
    """The session's own, outside of every workspace."""
    tools: Callable[[str], Tool]
    """What the host itself runs as, and the tools of the session, by name."""
    leaves: Callable[[Tool, str | None], Leaves]
    """What a call may open and reach, by its tool and its id; without one: what processes may."""
    policy: Callable[[Tool], SandboxPolicy]
    """What the processes of a tool are confined to."""
    environment: Mapping[str, str]
    parent_environment: Mapping[str, str]
    """All of the parent's: declared programs get of it what they were allowed."""
    spools: Spools
    changes: Changes
    """What its calls changed in files, to be taken back."""
    clock: Clock
    ids: IdSource
    audit: AuditLog
    """Where the programs of its calls are written down."""
    scrubber: Callable[[], Scrubber] | None = None
    confinement: Confinement | None = None
    tenure: Tenure | None = None
    """How long processes may run; None: as long as this one."""


def _tool(parts: HandParts, runtime: Runtime) -> Tool:
    """The tool of a call as it was judged; of what the host itself runs, by its name."""
    declared = runtime.declared
    return declared if isinstance(declared, Tool) else parts.tools(runtime.tool)


def _most_shown(parts: HandParts, runtime: Runtime) -> int:
    return _tool(parts, runtime).limits.output.max_bytes


class SessionHand:
    """Lends each call what it reaches the world with. Used on one event loop; closed with it."""

    def __init__(self, parts: HandParts, *, closed: bool = False) -> None:
        """``closed``: nothing may be started before it is opened."""
        self._parts = parts
        self._by_policy: dict[SandboxPolicy, Processes] = {}
        self._outdated: list[Processes] = []
        self._register = LiveRegister(parts.ids, parts.clock)
        self._notices = Notices()
        self.notice, self.noticed = self._notices.add, self._notices.take
        self._jobs = AllJobs()
        self._closed = closed
        self._protected: dict[SandboxPolicy, bool] = {}
        """Where commands are known to be kept from protected places, or nobody was asked."""
        self._locks = PathLocks()
        self._attempts = SessionAttempts()
        self._web = Web(SystemResolver(), Attempts(parts.clock, self._attempts))
        shared = Shared(
            *(parts.session, parts.environment, parts.spools, parts.scrubber),
            *(parts.confinement, parts.tenure),
        )
        self._maker = SandboxMaker(shared, parts.folder)
        self._views = Views(self._maker)
        # Tools that run in threads ask for their shell there, several at once.
        self._making = threading.Lock()

    def files(self, runtime: Runtime, /) -> DiskFiles:
        """Files within the call's reach."""
        may_open = self._parts.leaves(_tool(self._parts, runtime), runtime.call_id).open
        recorder = Recorder(self._parts.changes, runtime.call_id, runtime.tool)
        return DiskFiles(may_open, self._parts.session.workspace, recorder, self._locks)

    def shell(self, runtime: Runtime, /) -> CallShell:
        """Commands within the call's reach."""
        tool = _tool(self._parts, runtime)
        leaves = self._parts.leaves(tool, runtime.call_id)
        processes = self._processes(self._parts.policy(tool), tool)
        return CallShell(runtime, processes, leaves)

    def programs(self, runtime: Runtime, /) -> CallPrograms:
        """The declared programs of the call's source, in its tool's sandbox."""
        tool = _tool(self._parts, runtime)
        leaves = self._parts.leaves(tool, runtime.call_id)
        processes = self._processes(self._parts.policy(tool), tool)
        call = CallProcesses(runtime, processes, leaves)
        return CallPrograms(call, self._parts.parent_environment)

    def net(self, runtime: Runtime, /) -> HttpNet:
        """Hosts within the call's reach."""
        reach = self._parts.leaves(_tool(self._parts, runtime), runtime.call_id).reach
        return HttpNet(reach, self._web)

    def view(self, runtime: Runtime, /) -> View:
        """What the call may read, for programs of ours that search it."""
        tool = _tool(self._parts, runtime)
        leaves = self._parts.leaves(tool, runtime.call_id)
        policy = self._parts.policy(tool)
        workspace = self._parts.session.workspace
        _refuse(closed=self._closed)
        return View(leaves.open, leaves.all_below, workspace, lambda: self._views.warden(policy))

    def protects(self, name: str) -> bool | Coroutine[object, object, bool]:
        """Whether the commands of a tool are kept from its protected places.

        It is known once a sandbox was started; where none can be, nothing will run. Who chose to
        run unconfined has chosen this, too.
        """
        tool = self._parts.tools(name)
        policy = self._parts.policy(tool)
        if not policy.protected or self._parts.confinement == "unconfined":
            return True
        known = self._protected.get(policy)
        return self._found_out(policy, tool) if known is None else known

    async def _found_out(self, policy: SandboxPolicy, tool: Tool) -> bool:
        """Start a sandbox to see. Where nobody is asked, nothing weaker will do later."""
        try:
            sandbox = self._processes(policy, tool).sandbox
            await sandbox.warden()
            kept = sandbox.separate is True
        except (Unavailable, SandboxUnavailable):
            kept = True
        self._protected[policy] = kept
        if kept and policy in self._by_policy:
            self._by_policy[policy].sandbox.accept_no_weaker()
        return kept

    def wait(self, work: Coroutine[object, object, _T], /) -> _T:
        """Wait, in a thread of a tool, for work of the event loop."""
        return wait_in_thread(work)

    def open(self) -> None:
        """Begin, or begin again after closing."""
        self._closed = False

    def persistent(self) -> PersistentFacts | None:
        """How the persistent shell stands that was begun last; None: none is open."""
        found = [one.persistent.inspect() for one in [*self._outdated, *self._by_policy.values()]]
        begun = [one for one in found if one.status != "closed"]
        busy = [one for one in begun if one.status == "busy"]
        return next(reversed([*begun, *busy]), None)

    @property
    def commands(self) -> LiveCommands:
        """What runs now, for a person who looks on."""
        return self._register

    async def close(self) -> None:
        """End every process of the session and remove its sandboxes' directories."""
        self._closed = True
        everything = [*self._outdated, *self._by_policy.values()]
        self._outdated, self._by_policy = [], {}
        self._jobs.forget()
        self._register.close()
        self._register = LiveRegister(self._parts.ids, self._parts.clock)
        for processes in everything:
            for end in (processes.persistent, processes.jobs, processes.piped, processes.sandbox):
                await _closed(end)
            _look_once_more(processes)
        await _closed(self._views)
        if self._parts.tenure is not None:
            await self._parts.tenure.close()
        await to_thread.run_sync(self._maker.remove)

    def _processes(self, policy: SandboxPolicy, tool: Tool) -> Processes:
        with self._making:
            _refuse(closed=self._closed)
            found = self._by_policy.get(policy)
            if found is not None and _outdated(found):
                self._outdated.append(found)  # what runs in it goes on
                found = None
            if found is None:
                may_reach = self._parts.leaves(tool, None).reach
                ways = Ways(may_reach, self._web.resolver, self._web.attempts)
                sandbox = self._maker.made(policy, ways)
                if self._protected.get(policy):
                    sandbox.accept_no_weaker()
                found = self._by_policy[policy] = self._begun(sandbox)
            return found

    def _begun(self, sandbox: Sandbox) -> Processes:
        ids, clock, register = self._parts.ids, self._parts.clock, self._register
        folder = self._parts.folder / JOBS
        jobs = SessionJobs(JobsParts(sandbox, ids, clock, register, str(folder)))
        self._jobs.include(jobs)
        persistent = SessionShell(ShellParts(sandbox, ids, clock, register))
        watch = Watch(sandbox.appearances)
        audit = Audit(self._parts.audit, clock.unix_ns, partial(_most_shown, self._parts))
        return Processes(
            sandbox=sandbox,
            jobs=jobs,
            all_jobs=self._jobs,
            persistent=persistent,
            register=register,
            attempts=self._attempts,
            watch=watch,
            notices=self._notices,
            audit=audit,
            piped=PipedProcesses(),
            clock=clock,
        )


def _outdated(found: Processes) -> bool:
    """Whether what it keeps from commands is no longer all there is to be kept; or, where nothing
    runs in it that would be left behind, what it shows them no longer all that is granted."""
    places = found.sandbox.appearances
    if found.watch.unsure:
        return False
    return places.outdated() or (places.more_to_show() and not found.sandbox.busy)


async def _closed(part: SessionShell | SessionJobs | PipedProcesses | Sandbox | Views) -> None:
    try:
        await part.close()
    except (OSError, RuntimeError, SandboxUnavailable):
        _log.exception("a sandbox could not be closed in order")


def _refuse(*, closed: bool) -> None:
    if closed:
        raise Unavailable("The session is closed; nothing can be started in it any more.")


def _look_once_more(processes: Processes) -> None:
    """What a job or a command nobody waited for made is put aside when all is over."""
    if not processes.watch.unsure:
        return
    try:
        for appeared in processes.watch.sweep(lambda _access, path: PathLeave(path)):
            _log.warning("%s", appeared.reason)
    except Unavailable as problem:
        _log.error("%s", problem)
