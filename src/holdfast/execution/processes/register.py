"""The commands of a session that run now, so that a person can look on and end one.

Whoever starts a command enters it here. A finished one stays for a few seconds: somebody who comes
late still sees how it ended and the end of what it printed. It runs nothing itself.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.shell import KilledBy, LiveCommand
from holdfast.execution.processes.capture import StreamName
from holdfast.execution.processes.command import Report, Running

LINGER_SECONDS = 3.0
MOST_OVER = 256
"""So many finished ones are shown, however quickly they end."""
TAIL_BYTES = 4096


class Tail(Protocol):
    """Gives the end of what a command printed so far."""

    def __call__(self, name: StreamName, count: int, /) -> bytes:
        """The last bytes of a stream."""
        ...


class Entered(NamedTuple):
    """What is known of a command when it starts."""

    kind: Literal["foreground", "job", "persistent"]
    command: str
    call_id: str
    started_at: datetime
    tail: Tail
    terminate: Callable[[KilledBy, float | None], None]
    """By whom, and how long it may take to end; None: as long as it may anyway."""


class Ending(NamedTuple):
    """How a command ended."""

    exit_code: int | None
    killed_by: str | None


class _Seen(NamedTuple):
    """A command, what it printed last, how it ended, and until when that is shown."""

    entered: Entered
    ending: Ending | None
    stdout: bytes
    stderr: bytes
    until: float


class LiveRegister:
    """Holds the commands of one session."""

    def __init__(self, ids: IdSource, clock: Clock) -> None:
        self._ids = ids
        self._clock = clock
        self._running: dict[str, Entered] = {}
        self._over: dict[str, _Seen] = {}
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False

    def enter(self, entered: Entered) -> str:
        """A command was started; gives its id."""
        number = self._ids.new("job")
        self._running[number] = entered
        return number

    def watch(self, running: Running, command: str, call_id: str) -> str:
        """Enter a foreground command, and take note of its end."""
        last, now = running.capture.printout.last, self._clock.now()
        entered = Entered("foreground", command, call_id, now, last, running.terminate)
        number = self.enter(entered)
        running.when_over = lambda report: self.leave(number, ending_of(report))
        return number

    def leave(self, command: str, ending: Ending) -> None:
        """It is over."""
        entered = self._running.pop(command)
        if self._closed:
            return
        loop = asyncio.get_running_loop()
        stdout, stderr = entered.tail("stdout", TAIL_BYTES), entered.tail("stderr", TAIL_BYTES)
        until = loop.time() + LINGER_SECONDS
        self._over[command] = _Seen(entered, ending, stdout, stderr, until)
        if len(self._over) > MOST_OVER:
            del self._over[next(iter(self._over))]
        if self._sweep is None:
            self._sweep = loop.call_later(LINGER_SECONDS, self._forget_old, loop)

    def all(self) -> tuple[LiveCommand, ...]:
        """Every command that runs or ended moments ago, the oldest first."""
        shown = dict(self._over)
        for number, entered in self._running.items():
            last = entered.tail("stdout", TAIL_BYTES), entered.tail("stderr", TAIL_BYTES)
            shown[number] = _Seen(entered, None, *last, 0.0)
        return tuple(_shown(number, shown[number]) for number in sorted(shown))

    def terminate(self, command: str, /) -> bool:
        """End one and all it started, by a person's wish. Once more is harmless."""
        if command not in self._running:
            return False
        self._running[command].terminate("user", None)
        return True

    def close(self) -> None:
        """The session ends: everything that runs is ended without a grace period."""
        self._closed = True
        for entered in self._running.values():
            entered.terminate("abort", 0.0)
        self._over.clear()
        if self._sweep is not None:
            self._sweep.cancel()

    def _forget_old(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweep = None
        for command, over in tuple(self._over.items()):
            if over.until > loop.time():
                self._sweep = loop.call_at(over.until, self._forget_old, loop)
                return
            del self._over[command]


def _shown(number: str, seen: _Seen) -> LiveCommand:
    entered = seen.entered
    exit_code, killed_by = seen.ending or (None, None)
    return LiveCommand(
        id=number,
        call_id=entered.call_id,
        kind=entered.kind,
        command=entered.command,
        state="running" if seen.ending is None else "exited" if killed_by is None else "killed",
        exit_code=exit_code,
        killed_by=killed_by,
        started_at=entered.started_at.isoformat(),
        stdout_tail=seen.stdout.decode("utf-8", "replace"),
        stderr_tail=seen.stderr.decode("utf-8", "replace"),
    )


def ending_of(report: Report | None) -> Ending:
    """How a command ended, from its report; None: whoever waited for it gave up."""
    if report is None:
        return Ending(None, "abort")
    if report.killed_by is not None:
        return Ending(None, "timeout" if report.killed_by == "idle" else report.killed_by)
    return Ending(*exit_of(None if report.ended is None else report.ended.exit))


def exit_of(exit_code: int | None) -> tuple[int | None, str | None]:
    """The exit code as a shell tells it, and the signal that ended it."""
    if exit_code is not None and exit_code < 0:
        return 128 - exit_code, f"signal:{-exit_code}"
    return exit_code, None
