"""The bash of a session that lives now, and what the next one begins with.

A shell that has ended is replaced when it is needed: in the same place of the sandbox, so that what
it left running goes on. What is run in it is decided elsewhere.
"""

import os
import shutil
from contextlib import suppress
from typing import TypeAlias

from holdfast.contract.paths import is_within
from holdfast.contract.shell import ShellChange
from holdfast.execution.processes import framing
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.framing import Answer, Garbled
from holdfast.execution.processes.output_pipes import OutputPair, OutputPipes
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.shell_process import Place, ShellProcess
from holdfast.execution.processes.shell_state import ShellState, state_of
from holdfast.execution.processes.spawners import Spawner
from holdfast.execution.processes.wardens import Warden

_GONE = "the directory {gone} is gone; the command was run in {home}"
_TOO_LARGE = "no shell can be started with the variables from before; they were dropped"
_HELD_BY_MANY = (
    "a new shell took over, with the directory and variables from before: background processes of"
    " earlier commands hold all the pipes the old one could print to"
)

MOST_ASIDE = 8
"""So many shells can leave processes behind that print; the pipes of older ones are closed."""

_Place: TypeAlias = tuple[Warden, Spawner, OutputPipes]


class LivingShell:
    """Begins shells, remembers where they were, and lets go of them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.state = ShellState(sandbox.parts.workspace)
        self._base: dict[str, str] = {}
        self._told: bytes | None = None
        self._seen: tuple[int, int] | None = None
        self._process: ShellProcess | None = None
        self.retired = False
        """Another shell is wanted from the next command on; what this one started goes on."""
        self._to_tell = ""
        self._place: _Place | None = None
        self._aside: list[OutputPipes] = []

    @property
    def process(self) -> ShellProcess:
        """The shell; asked only after `ready`."""
        assert self._process is not None
        return self._process

    @property
    def warden(self) -> Warden:
        """Who started it."""
        assert self._place is not None
        return self._place[0]

    def free_pair(self) -> OutputPair:
        """What its next command prints to."""
        assert self._place is not None
        pair = self._place[2].free()
        assert pair is not None
        return pair

    async def ready(self) -> list[str]:
        """Have a shell that can be asked, and say what is different from the one before.

        Raises SandboxUnavailable, or OSError when bash cannot be started.
        """
        warnings: list[str] = []
        if self._process is not None:
            if self._place is not None and self._place[2].free() is None:
                warnings = self._set_pipes_aside(self._place)
            if self.retired:
                await self._process.end()
        if _is_lost(self._place):
            self._drop()
        if self._process is not None:
            if not self._process.ended.done():
                return []
            self._process.close()
            self._process = None
        pipes = await self._placed()
        self._base = self.sandbox.environment()
        home, before = self.sandbox.parts.workspace, self.state
        for attempt in (before, before._replace(cwd=home)):
            with suppress(OSError):
                await self._begin(attempt, pipes)
                return warnings + _taken_over(before, attempt)
        await self._begin(ShellState(home), pipes)
        return warnings + _taken_over(before, ShellState(home))

    def frame(self, text: str, pair: int, number: int) -> str:
        """What the shell is told to run a command."""
        home, cwd = self.sandbox.parts.workspace, self.state.cwd
        # Outside of the workspace a path may lead elsewhere in the sandbox than it does here.
        sure = is_within(cwd, home) and self._seen is not None and _identity(cwd) == self._seen
        told, self._to_tell = self._to_tell, ""
        return told + framing.frame(text, pair, number, None if sure else (cwd, home))

    def change(self, wanted: ShellChange) -> None:
        """What the next command finds changed."""
        before, base = self.state, self._base or self.sandbox.environment()
        gone = {name for name in wanted.forgotten if name not in base}
        again = {name: base[name] for name in wanted.forgotten if name in base}
        kept = {k: v for k, v in before.changed.items() if k not in wanted.forgotten}
        self.state = ShellState(
            before.cwd if wanted.cwd is None else wanted.cwd,
            kept | {**wanted.variables},
            before.removed - wanted.variables.keys() - again.keys(),
        )
        if wanted.cwd is not None:
            self._seen = None
        self._to_tell += framing.changing({**again, **wanted.variables}, sorted(gone))

    @property
    def lives(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and not self._process.ended.done()

    def learn(self, answer: Answer) -> list[str]:
        """Take over what the shell told after a command, and say what nobody asked for."""
        cwd = answer.cwd or self.state.cwd
        home = self.sandbox.parts.workspace
        warnings = [_GONE.format(gone=self.state.cwd, home=home)] if answer.moved else []
        if answer.variables is not None and answer.variables != self._told:
            try:
                self.state = state_of(cwd, framing.exported(answer.variables), self._base)
                self._told = answer.variables
            except Garbled:
                warnings.append("the shell's variables could not be read; they may not go on")
        if cwd != self.state.cwd or self._seen is None or answer.moved:
            self.state = self.state._replace(cwd=cwd)
            self._seen = _identity(cwd)
        return warnings

    async def end(self, last: Capture | None = None) -> None:
        """End the shell and everything it started, and read what was printed last."""
        if self._place is None:
            return
        warden, spawner, _ = self._place
        await warden.give_back(spawner)
        if last is not None:
            await last.drain()
        self._drop()

    def abandon(self) -> None:
        """End it without waiting for that."""
        if self._place is not None:
            self._place[1].close()
            self._drop()

    async def forget(self) -> None:
        """End it, and begin anew with the base environment."""
        await self.end()
        self.state = ShellState(self.sandbox.parts.workspace)
        self._to_tell = ""

    async def _placed(self) -> OutputPipes:
        """A spawner and pipes; those of the shell before, if they are still there."""
        if self._place is None:
            warden = await self.sandbox.warden()
            self._place = (warden, warden.spawner(), _new_pipes(self.sandbox))
        return self._place[2]

    def _set_pipes_aside(self, place: _Place) -> list[str]:
        """What was left behind keeps the pipes; a shell with others takes over."""
        warden, spawner, held = place
        self._aside = [pipes for pipes in self._aside if not _closed(pipes)] + [held]
        while len(self._aside) > MOST_ASIDE:
            self._aside.pop(0).close()
        self._place = (warden, spawner, _new_pipes(self.sandbox))
        self.retired = True
        return [_HELD_BY_MANY]

    async def _begin(self, state: ShellState, pipes: OutputPipes) -> None:
        assert self._place is not None
        spawner = self._place[1]
        # The shell's own variables do not decide which program it is.
        program = shutil.which("bash", path=self._base.get("PATH")) or "bash"
        place = Place(program, state.cwd, state.environment(self._base))
        process = ShellProcess(spawner, place, pipes.reading())
        try:
            await spawner.started()
        except BaseException:
            process.close()
            raise
        self.state = state
        self._process, self.retired, self._to_tell = process, False, ""
        self._told, self._seen = None, _identity(state.cwd)

    def _drop(self) -> None:
        assert self._place is not None
        if self._process is not None:
            self._process.close()
        for pipes in (*self._aside, self._place[2]):
            pipes.close()
        self._process = self._place = None
        self._aside = []


def _taken_over(before: ShellState, begun: ShellState) -> list[str]:
    """It was begun like this; what of that differs from how it should be."""
    warnings: list[str] = []
    if before.cwd != begun.cwd:
        warnings.append(_GONE.format(gone=before.cwd, home=begun.cwd))
    if before.changed != begun.changed:
        warnings.append(_TOO_LARGE)
    return warnings


def _is_lost(place: _Place | None) -> bool:
    """Whether all of it has ended; its shell may not have heard of that yet."""
    return place is not None and (place[0].lost or place[1].lost)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - for every command, and half as much
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _new_pipes(sandbox: Sandbox) -> OutputPipes:
    return OutputPipes(lambda: sandbox.capture("shell")(_unheard))


def _unheard() -> None:
    """Nobody listens between two commands."""


def _closed(pipes: OutputPipes) -> bool:
    """Whether nobody prints to them any more; then they are let go."""
    if pipes.closed:
        pipes.close()
        return True
    return False
