"""Running a writable command for a person who said yes to it: in a shell of its own, or in the
session's persistent one. Whoever asked is not known here.
"""

from contextlib import suppress

import msgspec
from anyio import to_thread

from holdfast.contract.commanding import CommandDone
from holdfast.contract.errors import ToolError
from holdfast.contract.json_value import clean_text
from holdfast.contract.managed.shell import (
    CommandOutput,
    CommandResult,
    HandError,
    HandUsage,
    Opened,
    ShellKeeping,
)
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import CommandLimits, CommandReport, PersistentShell, ShellChange
from holdfast.contract.told import Told
from holdfast.contract.truncate import truncate_for_model
from holdfast.tools.commands import Done, Job, check_directory, done, run_command

_BUSY = (
    "Another command runs in the persistent shell, and this one was not begun: wait for it with"
    " shell_wait, then ask again."
)
_LOST = "{} was set to something that is written down nowhere: set it again with shell_set_env."
TIMED_OUT_ONCE = "the command took longer than it may and was ended"
TIMED_OUT = "persistent shell command timed out"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A command, and how much it may take."""

    command: str
    cwd: str | None = None
    seconds: float = 15.0
    most_shown: int = 12_000
    anew: bool = False
    """In a persistent shell that is begun for it."""


async def run_once(rt: Runtime, keeping: ShellKeeping, wanted: Wanted) -> Told[CommandResult]:
    """In a shell of its own, which begins where the session's stands."""
    ground = await keeping.ground()
    if wanted.cwd:
        await check_directory(rt, wanted.cwd, "cwd")
    place = keeping.writable_place(wanted.cwd or ground.cwd, "cwd")
    job = Job(
        command=wanted.command,
        directory=place,
        field="cwd",
        limits=CommandLimits(wall=wanted.seconds),
        environment=ground.environment,
    )
    ended = await run_command(rt, job)
    told = _Told("run_shell", place, tuple(ground.environment), ground.to_set_again)
    return await _answer(rt, keeping, wanted, ended, told)


async def run_listed(
    rt: Runtime, keeping: ShellKeeping, wanted: Wanted, words: tuple[str, ...]
) -> Told[CommandResult]:
    """One program that only reads, without a shell, where the session's stands."""
    ground = await keeping.ground()
    job = Job(
        command=words,
        directory=wanted.cwd or ground.cwd,
        field="cwd",
        limits=CommandLimits(wall=wanted.seconds),
        environment=ground.environment,
    )
    ended = await run_command(rt, job)
    keys = tuple(ground.environment)
    told = _Told("run_command", ended.report.cwd, keys, ground.to_set_again)
    return await _answer(rt, keeping, wanted, ended, told)


async def run_persistent(rt: Runtime, keeping: ShellKeeping, wanted: Wanted) -> Told[CommandResult]:
    """In the session's persistent shell, after the command that runs there."""
    if wanted.cwd:
        await check_directory(rt, wanted.cwd, "cwd")
        place = keeping.writable_place(wanted.cwd, "cwd")
        wanted = msgspec.structs.replace(wanted, cwd=place)
    if wanted.anew:
        await _begun(rt, keeping, wanted)
    async with keeping.turn(wanted.seconds) as has_come:
        if has_come:
            return await _in_turn(rt, keeping, wanted)
    return Told(result=failed("exec_persistent_shell", "busy", _BUSY, retryable=True))


async def _begun(rt: Runtime, keeping: ShellKeeping, wanted: Wanted) -> None:
    keeping.writable_place(wanted.cwd or (await keeping.ground()).cwd, "cwd")
    await opened(rt, keeping, wanted.cwd, anew=wanted.anew)


async def _in_turn(rt: Runtime, keeping: ShellKeeping, wanted: Wanted) -> Told[CommandResult]:
    """Alone: what the command before left is known, and what this one leaves is its own."""
    shell = rt.shell.persistent
    ground = await keeping.ground()
    if shell.inspect().status == "closed":
        await _begun(rt, keeping, wanted)
    change = await keeping.change(shell.variables(), alive=True)
    if wanted.cwd:
        change = msgspec.structs.replace(change, cwd=wanted.cwd)
    elif change.cwd:
        keeping.writable_place(change.cwd, "cwd")
    place = change.cwd or shell.inspect().cwd
    report = await _ran(shell, keeping, wanted, change)
    ended = done(msgspec.structs.replace(report, cwd=place))
    keys, shown = shell.inspect().env_keys, clean_text(place)
    told = _Told("exec_persistent_shell", shown, keys, ground.to_set_again)
    return await _answer(rt, keeping, wanted, ended, told)


async def opened(rt: Runtime, keeping: ShellKeeping, cwd: str | None, *, anew: bool) -> Opened:
    """Have a persistent shell; a new one begins with what is kept for it."""
    shell = rt.shell.persistent
    begin = await keeping.change({}, alive=False)
    if cwd:
        await check_directory(rt, cwd, "cwd")
        begin = msgspec.structs.replace(begin, cwd=keeping.writable_place(cwd, "cwd"))
    return await keeping.opened(await shell.opened(begin, anew=anew))


async def _ran(
    shell: PersistentShell, keeping: ShellKeeping, wanted: Wanted, change: ShellChange
) -> CommandReport:
    limits = CommandLimits(wall=wanted.seconds)
    ended = await shell.run(wanted.command, limits=limits, before=change)
    await keeping.learned(ended.facts, shell.variables())
    return ended.report


class _Told(msgspec.Struct, frozen=True):
    """What the answer says beside how the command went."""

    name: str
    cwd: str
    env_keys: tuple[str, ...]
    to_set_again: tuple[str, ...]

    @property
    def persistent(self) -> bool:
        return self.name == "exec_persistent_shell"


async def _answer(
    rt: Runtime, keeping: ShellKeeping, wanted: Wanted, ended: Done, told: _Told
) -> Told[CommandResult]:
    report = ended.report
    timed_out = report.killed_by == "timeout"
    took = round(report.seconds * 1000)
    remembered = CommandDone(
        call_id=rt.call_id,
        command=wanted.command,
        cwd=told.cwd,
        exit_code=ended.exit_code,
        timed_out=timed_out,
        duration_ms=took,
        stdout=ended.stdout,
        stderr=ended.stderr,
        persistent=told.persistent,
    )
    state = await keeping.ran(remembered)
    stdout, stderr = (
        truncate_for_model(text, wanted.most_shown) for text in (ended.stdout, ended.stderr)
    )
    cut = (stdout, stderr) != (ended.stdout, ended.stderr) or report.output_path is not None
    result = CommandResult(
        ok=not timed_out,
        name=told.name,
        text=_in_words(ended, took),
        output=CommandOutput(
            command_id=keeping.command_id(rt.call_id),
            command=wanted.command,
            cwd=told.cwd,
            env_keys=tuple(sorted(told.env_keys)),
            exit_code=ended.exit_code,
            timed_out=timed_out,
            duration_ms=took,
            stdout=stdout,
            stderr=stderr,
            truncated=cut,
            signal=ended.signal,
            persistent_shell=state.persistent_shell if told.persistent else None,
            shell_state=state,
        ),
        artifacts=await _whole(rt, keeping, ended) if cut else (),
        usage=HandUsage(duration_ms=took),
        error=_timeout(told) if timed_out else None,
    )
    lost = tuple(_LOST.format(name) for name in told.to_set_again)
    return Told(result=result, warnings=(*ended.warnings, *lost))


def _timeout(told: _Told) -> HandError:
    message = TIMED_OUT if told.persistent else TIMED_OUT_ONCE
    return HandError(code="timeout", message=message, retryable=True)


def _in_words(ended: Done, took: int) -> str:
    if ended.exit_code is None:
        return f"Ended by {ended.signal or ended.report.killed_by} after {took} ms."
    return f"Exit {ended.exit_code} after {took} ms."


async def _whole(rt: Runtime, keeping: ShellKeeping, ended: Done) -> tuple[str, ...]:
    """The file with all that was printed, as far as there is room for it."""
    path = ended.report.output_path
    if path is None:
        text = "\n".join(filter(None, (ended.stdout, ended.stderr)))
        path = await to_thread.run_sync(keeping.whole, rt.call_id, text)
    return () if path is None else (path,)


def failed(name: str, code: str, message: str, *, retryable: bool) -> CommandResult:
    """A command that was not run."""
    error = msgspec.convert({"code": code, "message": message, "retryable": retryable}, HandError)
    return CommandResult(ok=False, name=name, text=message, output=None, error=error)


async def closed(rt: Runtime) -> str | None:
    """End the persistent shell; its id, if one was open."""
    shell = rt.shell.persistent
    facts = shell.inspect()
    if facts.status == "closed":
        return None
    with suppress(ToolError):
        await shell.close()
    return facts.shell_id
