"""One command of a persistent shell, from its start to its report, whatever it does to it."""

import asyncio
from functools import partial

import msgspec

from holdfast.contract.runtime import AbortSignal
from holdfast.contract.shell import CommandReport, KilledBy, Printed
from holdfast.execution.processes.capture import Captured, StreamName
from holdfast.execution.processes.command import OUTER_SECONDS, Report, end_politely
from holdfast.execution.processes.framing import Answer, breaks_the_parser
from holdfast.execution.processes.limits import Limits, Watch
from holdfast.execution.processes.living_shell import LivingShell
from holdfast.execution.processes.reports import reported
from holdfast.execution.processes.spawners import SandboxLost
from holdfast.execution.processes.waiting import awaited_input
from holdfast.execution.warden.wire import Ended

TIMED_OUT = "persistent shell command timed out"
_REPLACED = "the next command begins in a new shell with the directory and variables from before"
ENDED = f"the command ended the shell; {_REPLACED}"
_INCOMPLETE = f"the command's text is incomplete, which bash does not survive; {_REPLACED}"
HELD = "a background process still holds this command's output; what it prints now is not shown"

_LOOKED_AT = 256
"""Bytes of the errors in which bash would say that it could not read the text."""


class NotRun(Exception):
    """The shell could not run it at all: an earlier command has broken it."""


class Turn:
    """One command's turn in the shell."""

    def __init__(self, shell: LivingShell, name: str, text: str, limits: Limits) -> None:
        self._shell = shell
        self._text = text
        self._watch = Watch(limits)
        self._answer: Answer | None = None
        self._pair = shell.free_pair()
        self._warnings: list[str] = []
        self._capture = self._pair.capture
        self._capture.heard = self._watch.heard
        self._capture.printout.begin_again(shell.sandbox.parts.spools(name))

    def last(self, name: StreamName, count: int) -> bytes:
        """The end of what it printed so far."""
        return self._capture.printout.last(name, count)

    def so_far(self) -> tuple[float, Printed, Printed]:
        """How long it has taken, and what it printed."""
        captured = self._capture.so_far()
        return self._watch.seconds(), captured.stdout, captured.stderr

    def terminate(self, by: KilledBy, grace: float | None) -> None:
        """End it, and the shell with it. Once more is harmless; safe from any thread."""
        self._watch.terminate(by, grace)

    async def run(self, abort: AbortSignal | None) -> CommandReport:
        """Run it to its end; raises NotRun. Cancelled, it takes the shell with it."""
        frame = partial(self._shell.frame, self._text, self._pair.number)
        self._shell.process.ask(frame, self._heard)
        self._watch.begin()
        self._watch.follow(abort)
        try:
            killed_by = await self._watch.over
            if killed_by is None and self._answer is not None:
                return await self._answered(self._answer)
            return await self._over(killed_by)
        except NotRun:
            raise
        except BaseException:
            self._shell.abandon()
            raise
        finally:
            self._watch.stop()

    def _heard(self, answer: Answer | None) -> None:
        self._answer = answer
        self._watch.end(None)

    async def _over(self, killed_by: KilledBy | None) -> CommandReport:
        """The shell is gone with the command, or has to go."""
        try:
            async with asyncio.timeout(self._watch.grace + OUTER_SECONDS):
                return await (self._ended() if killed_by is None else self._killed(killed_by))
        except (SandboxLost, TimeoutError):
            report = self._report(self._capture.so_far(), None, "lost")
            self._shell.abandon()
            return report

    async def _answered(self, answer: Answer) -> CommandReport:
        """As it should be: the shell lives and says how it went."""
        captured = await self._captured()
        if not answer.ran:
            self._shell.retired = True
            raise NotRun
        self._warnings += self._shell.learn(answer)
        if answer.status and breaks_the_parser(self._capture.printout.last("stderr", _LOOKED_AT)):
            self._warnings.append(_INCOMPLETE)
            self._shell.retired = True
        return self._report(captured, answer.status)

    async def _ended(self) -> CommandReport:
        """The shell has ended, or is another program that is about to."""
        ended = await self._shell.process.ended
        captured = await self._captured()
        self._warnings.append(ENDED)
        return self._report(captured, ended.exit)

    async def _killed(self, by: KilledBy) -> CommandReport:
        """The shell dies with the command, and with it all that it started."""
        process, prompt = self._shell.process, None
        if by in ("timeout", "idle"):
            prompt = await awaited_input(self._shell.warden.keeper, self._capture)
            self._warnings.append(TIMED_OUT)
        await end_politely(process.spawner, process.ended, self._watch.grace)
        await self._shell.end(self._capture)
        report = self._report(self._capture.so_far(), None, by)
        return msgspec.structs.replace(report, waiting_for=prompt)

    async def _captured(self) -> Captured:
        """What it printed, and nothing that comes after it."""
        await self._capture.drain()
        captured = self._capture.so_far()
        if not self._pair.is_alone():
            self._pair.late = True
            self._warnings.append(HELD)
        return captured

    def _report(
        self, captured: Captured, exit_code: int | None, killed_by: KilledBy | None = None
    ) -> CommandReport:
        ended = None if exit_code is None else Ended(exit_code, 0.0, 0.0, 0)
        report = Report(ended, captured, killed_by, self._watch.seconds())
        told = reported(report, self._text, self._shell.sandbox.confinement)
        warnings = (*told.warnings, *self._warnings)
        return msgspec.structs.replace(told, warnings=warnings) if self._warnings else told
