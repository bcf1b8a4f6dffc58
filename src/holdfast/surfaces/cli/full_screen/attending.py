"""The screen of a run is attended to: keys are read, what changed is drawn, a terminal of another
size is heeded, and what commands print is looked at.

What keys mean is not known here.
"""

import os
import signal
from typing import Protocol

import msgspec
from anyio import (
    CancelScope,
    create_task_group,
    move_on_after,
    open_signal_receiver,
    sleep,
    wait_readable,
)
from anyio import Event as Signal
from anyio.abc import TaskGroup

from holdfast.app.agent_work import OpenAgent
from holdfast.contract.journal import JournalError
from holdfast.contract.shell import LiveCommands
from holdfast.surfaces.cli.call_cards import CardLine
from holdfast.surfaces.cli.full_screen.board import Action, End, Say
from holdfast.surfaces.cli.full_screen.keys import Key, Keys
from holdfast.surfaces.cli.full_screen.view import FullScreen

FRAME_SECONDS = 0.04
"""Between two frames at least: nobody sees more."""
_LOOK_SECONDS = 0.25
_HISTORY = 2_000
"""Events of before that are shown: the last ones."""
_KEY_SECONDS = 0.05
"""After this time an escape is the key of that name."""


async def tell_history(view: FullScreen, opened: OpenAgent, seen: int | None) -> None:
    """Show what happened in a session before it was taken up; ``seen``: the last event of it."""
    log = opened.holdfast.parts.log
    if log is None or not seen:
        return
    journal, after = await log.journal(), max(seen - _HISTORY, 0)
    while after < seen:
        events = await journal.events(opened.session.id, after=after, limit=seen - after)
        if not events:
            return
        after = events[-1].sequence
        view.board.timeline.history(events, view.clock())
    view.changed.set()


class Spoken(Protocol):
    """Who can be spoken to."""

    async def send(self, message: str) -> object:
        """Say something; JournalError."""
        ...


class Attending:
    """Attends to one screen."""

    def __init__(self, view: FullScreen, opened: OpenAgent) -> None:
        self._view = view
        self._session: Spoken = opened.session
        self._commands: LiveCommands = opened.session.window.commands
        todos = opened.holdfast.parts.own.todos.all()
        view.board.timeline.todos = msgspec.to_builtins(todos)

    async def __call__(self) -> None:
        """Until nobody wants it any more; then the screen is left."""
        try:
            async with create_task_group() as group:
                group.start_soon(self._draw)
                group.start_soon(self._heed)
                group.start_soon(self._look)
                await self._read(group)
        finally:
            self._view.is_deaf = True
            self._view.press()
            self._view.leave()

    async def _draw(self) -> None:
        while True:
            await self._view.changed.wait()
            self._view.changed = Signal()
            self._view.draw()
            await sleep(FRAME_SECONDS)

    async def _look(self) -> None:
        """What commands print, and what others print beside."""
        view = self._view
        while True:
            view.board.timeline.prints(self._commands.all())
            for line in view.terminal.stray():
                view.board.timeline.remark(CardLine(line, "dim"))
            view.changed.set()  # time goes by as well
            await sleep(_LOOK_SECONDS)

    async def _heed(self) -> None:
        stopped = [] if signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN else [signal.SIGTSTP]
        with open_signal_receiver(signal.SIGWINCH, signal.SIGCONT, *stopped) as signals:
            async for one in signals:
                if one == signal.SIGTSTP:
                    self._view.terminal.lend()
                    os.kill(os.getpid(), signal.SIGSTOP)
                if one != signal.SIGWINCH:
                    self._view.terminal.resume()
                self._view.draw(whole=True)

    async def _read(self, group: TaskGroup) -> None:
        keys = Keys()
        while True:
            with move_on_after(_KEY_SECONDS) if keys.waits else CancelScope() as waiting:
                await wait_readable(self._view.terminal.keyboard)
            if waiting.cancelled_caught:
                self._press([*keys.rest()], group)
                continue
            read = self._view.terminal.read()
            if read is None:
                self._is_gone()
                return
            self._press([*keys.feed(read)], group)

    def _press(self, keys: list[Key], group: TaskGroup) -> None:
        view = self._view
        view.board.timeline.prints(self._commands.all())  # a key is about what runs now
        for key in keys:
            action = view.board.press(key, view.clock())
            if action is not None:
                self._act(action, group)
        view.press()

    def _act(self, action: Action, group: TaskGroup) -> None:
        match action:
            case Say(text):
                group.start_soon(self._say, text)
            case End(command):
                self._commands.terminate(command)
            case "redraw":
                self._view.draw(whole=True)

    async def _say(self, text: str) -> None:
        try:
            await self._session.send(text)
        except JournalError as problem:
            self._view.remark(f"it could not be sent: {problem}; it was: {text}")

    def _is_gone(self) -> None:
        """The terminal was closed: as if the signal that tells of it had come."""
        self._view.is_deaf = True
        self._view.press()
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.raise_signal(signal.SIGHUP)
