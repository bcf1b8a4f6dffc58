"""The one persistent shell of a session: directory and exported variables go on.

Commands run one after the other in the same bash, so its functions and background processes go on,
too, as long as it lives. A command that ends it (`exit`, `exec`, a limit) takes those with it; the
next one finds a new shell with the last known directory and variables, and is told. Options and
traps end with their command; standard input is empty.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import msgspec

from holdfast.contract.errors import InvalidArguments, OperationFailed, SandboxNotRunning
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.shell import (
    NO_CHANGE,
    NO_LIMITS,
    CommandLimits,
    CommandReport,
    PersistentFacts,
    PersistentReport,
    Printed,
    ShellChange,
)
from holdfast.execution.processes.capture import StreamName
from holdfast.execution.processes.limits import Limits
from holdfast.execution.processes.living_shell import LivingShell
from holdfast.execution.processes.register import Ending, Entered, LiveRegister
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.shell_turn import NotRun, Turn
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.program_record import UNRECORDED, Record

PREVIEW_CHARACTERS = 400
_MOST_BYTES_OF_A_CHARACTER = 4
_MOST_SHELLS = 2
"""One that an earlier command broke, and a new one."""
_NOTHING = Printed(b"", b"", 0)


class ShellParts(NamedTuple):
    """What a session's persistent shell is made from."""

    sandbox: Sandbox
    ids: IdSource
    clock: Clock
    register: LiveRegister


class _Wanted(NamedTuple):
    """A command whose turn it is."""

    text: str
    limits: Limits
    abort: AbortSignal | None
    call_id: str
    record: Record
    before: ShellChange


class _Current(NamedTuple):
    """The command that runs now."""

    text: str
    started_at: datetime
    turn: Turn
    over: asyncio.Event


class SessionShell:
    """Runs commands in one shell, in the order they come."""

    def __init__(self, parts: ShellParts) -> None:
        self._parts = parts
        self._shell = LivingShell(parts.sandbox)
        self._id = parts.ids.new("shl")
        self._count = 0
        self._waiting = 0
        self._in_order = asyncio.Lock()
        self._idle = asyncio.Event()
        self._idle.set()
        self._current: _Current | None = None
        self._anew = False
        self._closed = True

    async def run(
        self,
        command: str,
        /,
        *,
        limits: CommandLimits = NO_LIMITS,
        abort: AbortSignal | None = None,
        call_id: str = "",
        record: Record = UNRECORDED,
        before: ShellChange = NO_CHANGE,
    ) -> PersistentReport:
        """Run a command after those that wait. One that is killed takes the shell with it, and the
        next one finds a new shell with the same directory and variables.

        ``before``: what is changed first.
        """
        _check(command, before)
        self._waiting += 1
        self._idle.clear()
        try:
            async with self._in_order:
                self._closed = False
                record.begins_in(before.cwd or self._shell.state.cwd)
                within = Limits(limits.wall, limits.idle, limits.grace)
                wanted = _Wanted(command, within, abort, call_id, record, before)
                report = await self._recorded(wanted)
                return PersistentReport(facts=self.inspect(), report=report)
        except SandboxUnavailable as problem:
            raise SandboxNotRunning(f"there is no sandbox to run it in: {problem}") from None
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    async def opened(self, begin: ShellChange = NO_CHANGE, /, *, anew: bool) -> PersistentFacts:
        """Have a shell whose process lives: the one there is, as it is, or a new one that begins
        like this. ``anew``: a new one in any case; a running command is ended."""
        _check("", begin)
        if self._current is not None and not anew:
            return self.inspect()
        if anew or self._closed:
            await self.close()
        try:
            async with self._in_order:
                if self._closed:
                    self._shell.change(begin)
                self._closed = False
                await self._shell.ready()
        except SandboxUnavailable as problem:
            raise SandboxNotRunning(f"there is no sandbox to run it in: {problem}") from None
        except OSError as problem:
            raise OperationFailed(
                f"bash cannot be started: {problem.strerror or problem}"
            ) from None
        return self.inspect()

    def variables(self) -> Mapping[str, str]:
        """What it exports with another value than the base environment has, or beside it."""
        return {**self._shell.state.changed}

    def inspect(self) -> PersistentFacts:
        """How it stands, at once."""
        current = self._current
        state = self._shell.state
        return PersistentFacts(
            shell_id=self._id,
            status="busy" if current else "closed" if self._closed else "idle",
            cwd=state.cwd,
            env_keys=state.env_keys(),
            command_count=self._count,
            current_command=current and current.text,
            current_command_started_at=current and current.started_at.isoformat(),
            stdout_preview=self._preview("stdout"),
            stderr_preview=self._preview("stderr"),
            alive=self._shell.lives,
        )

    async def wait(self, *, seconds: float) -> PersistentFacts:
        """Wait until it is idle."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        return self.inspect()

    async def restart(self) -> PersistentFacts:
        """A new shell with the base environment; a running command is ended."""
        await self._begin_anew()
        self._id = self._parts.ids.new("shl")
        self._count = 0
        self._closed = False
        return self.inspect()

    async def close(self) -> None:
        """End it; a later command begins anew."""
        await self._begin_anew()
        self._id = self._parts.ids.new("shl")
        self._count = 0
        self._closed = True

    async def _begin_anew(self) -> None:
        """Before any command that waits."""
        if self._current is None:
            async with self._in_order:
                await self._shell.forget()
            return
        self._anew = True
        self._current.turn.terminate("user", 0.0)
        await self._current.over.wait()

    async def _recorded(self, wanted: "_Wanted") -> CommandReport:
        try:
            report = await self._run(wanted)
        except BaseException:
            wanted.record.over(None)
            raise
        status = report.exit_code if report.signal is None else -report.signal
        wanted.record.over(status, report.seconds, report.stdout, report.stderr)
        return report

    async def _run(self, wanted: "_Wanted") -> CommandReport:
        self._count += 1
        if wanted.before is not NO_CHANGE:
            self._shell.change(wanted.before)
        why = "the shell cannot open the pipes it prints to"
        for _ in range(_MOST_SHELLS):
            try:
                warnings = await self._shell.ready()
                report = await self._take_turn(wanted)
            except NotRun:
                continue
            except OSError as problem:
                why = f"bash cannot be started: {problem.strerror or problem}"
                break
            if warnings:
                report = msgspec.structs.replace(report, warnings=(*warnings, *report.warnings))
            return report
        return CommandReport(
            exit_code=None,
            unstarted=why,
            stdout=_NOTHING,
            stderr=_NOTHING,
            confinement=self._parts.sandbox.confinement,
        )

    async def _take_turn(self, wanted: "_Wanted") -> CommandReport:
        text, abort = wanted.text, wanted.abort
        turn = Turn(self._shell, f"{self._id}-{self._count}", text, wanted.limits)
        now = self._parts.clock.now()
        current = self._current = _Current(text, now, turn, asyncio.Event())
        entered = Entered("persistent", text, wanted.call_id, now, turn.last, turn.terminate)
        number = self._parts.register.enter(entered)
        ending = Ending(None, "abort")
        try:
            report = await turn.run(abort)
            ending = _ending_of(report)
        except NotRun:
            raise
        except BaseException:
            wanted.record.over(None, *turn.so_far())
            raise
        finally:
            self._current = None
            self._parts.register.leave(number, ending)
            if self._anew:
                self._anew = False
                await self._shell.forget()
            current.over.set()
        return report

    def _preview(self, name: StreamName) -> str:
        if self._current is None:
            return ""
        end = self._current.turn.last(name, PREVIEW_CHARACTERS * _MOST_BYTES_OF_A_CHARACTER)
        return end.decode("utf-8", "replace")[-PREVIEW_CHARACTERS:]


_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")


def _check(command: str, before: ShellChange) -> None:
    """Whether bash can be told such a text at all."""
    for name in (*before.variables, *before.forgotten):
        if _NAME.fullmatch(name) is None:
            raise InvalidArguments(f"{name!r} is no name of a variable", field="environment")
    if any("\0" in value for value in before.variables.values()):
        raise InvalidArguments("a variable's value holds a zero byte", field="environment")
    try:
        told = command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidArguments("the command is no text", field="command") from None
    if b"\0" in told:
        raise InvalidArguments("the command holds a zero byte", field="command")


def _ending_of(report: CommandReport) -> Ending:
    if report.killed_by is not None:
        return Ending(None, "timeout" if report.killed_by == "idle" else report.killed_by)
    signal = report.signal
    return Ending(report.exit_code, None if signal is None else f"signal:{signal}")
