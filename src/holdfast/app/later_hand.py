"""The hand of a session, made when a call first reaches for something.

Most of what a hand needs, sandboxes, files, hosts and commands, is loaded with the first one. What
it does is not known here.
"""

import threading
from collections.abc import Coroutine, Iterable
from typing import Protocol, TypeVar

from holdfast.contract.files import Files
from holdfast.contract.net import Net
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import LiveCommands, PersistentFacts
from holdfast.execution.processes import call_programs, call_shell, hand, views
from holdfast.execution.processes import tenure as tenures

_T = TypeVar("_T")


class Make(Protocol):
    """Makes the hand of a session."""

    def __call__(
        self, *, closed: bool, tenure: "tenures.Tenure | None" = None
    ) -> "hand.SessionHand":
        """``closed``: nothing may be started before it is opened. ``tenure``: how long its
        processes may run; None: as long as this one."""
        ...


class LaterHand:
    """Stands for a hand. Tools that run in threads may reach for it at the same time."""

    def __init__(self, make: "Make") -> None:
        self.make = make
        self._making = threading.Lock()
        self._hand: hand.SessionHand | None = None
        self._closed = False

    def files(self, runtime: Runtime, /) -> Files:
        """The files within a call's reach."""
        return self._made().files(runtime)

    def shell(self, runtime: Runtime, /) -> "call_shell.CallShell":
        """Commands within a call's reach."""
        return self._made().shell(runtime)

    def programs(self, runtime: Runtime, /) -> "call_programs.CallPrograms":
        """The declared programs of the call's source."""
        return self._made().programs(runtime)

    def net(self, runtime: Runtime, /) -> Net:
        """Hosts within a call's reach."""
        return self._made().net(runtime)

    def view(self, runtime: Runtime, /) -> "views.View":
        """What the call may read, for programs of ours that search it."""
        return self._made().view(runtime)

    def protects(self, tool: str) -> bool | Coroutine[object, object, bool]:
        """Whether the commands of a tool are kept from its protected places."""
        return self._made().protects(tool)

    def wait(self, work: Coroutine[object, object, _T], /) -> _T:
        """Wait, in a thread of a tool, for work of the event loop."""
        return self._made().wait(work)

    def notice(self, call_id: str, words: Iterable[str], /) -> None:
        """Say it with the answer to that call."""
        self._made().notice(call_id, words)

    def noticed(self, call_id: str, /) -> tuple[str, ...]:
        """What the answer to a call has to say; told once."""
        return () if self._hand is None else self._hand.noticed(call_id)

    def persistent(self) -> PersistentFacts | None:
        """How the session's persistent shell stands; None: none is open. Nothing is made for it."""
        return None if self._hand is None else self._hand.persistent()

    @property
    def commands(self) -> LiveCommands:
        """What runs now, for a person who looks on."""
        return self._made().commands

    def open(self) -> None:
        """Begin, or begin again after closing."""
        made = self._say(closed=False)
        if made is not None:
            made.open()

    async def close(self) -> None:
        """End every process of the session and remove its sandboxes' directories."""
        made = self._say(closed=True)
        if made is not None:
            await made.close()

    def _say(self, *, closed: bool) -> "hand.SessionHand | None":
        """What holds for a hand from here on; the one there is has to be told as well.

        One that a thread is making is waited for: it would not hear of it otherwise.
        """
        with self._making:
            self._closed = closed
            return self._hand

    def _made(self) -> "hand.SessionHand":
        with self._making:
            if self._hand is None:
                self._hand = self.make(closed=self._closed)
            return self._hand
