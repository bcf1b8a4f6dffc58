"""What Ctrl-C means while an agent works: first its calls, then its run, then everything.

A signal that asks the program to end interrupts the run: nothing is lost, and it can be taken up.
"""

import math
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

import anyio

SECONDS = 2.0
"""Within this time a second one means the run."""
_KILLS = 3

Step = Literal["calls", "run", "waits", "kill"]


class Interrupted(Protocol):
    """Who is stopped."""

    def interrupt_call(self) -> bool:
        """Stop the calls that run now; whether there were any."""
        ...

    async def interrupt(self, note: str | None = None) -> None:
        """Stop the run."""
        ...


class Ladder:
    """Knows what the next Ctrl-C means."""

    def __init__(self) -> None:
        self._last = -math.inf
        self._presses = 0
        self.is_over = False

    def press(self, now: float, stop_calls: Callable[[], bool]) -> Step:
        """One more, at this moment."""
        again = now - self._last <= SECONDS
        self._presses = self._presses + 1 if again or self.is_over else 1
        self._last = now
        if self.is_over:
            return "kill" if self._presses >= _KILLS else "waits"
        if not again and stop_calls():
            return "calls"
        self.is_over = True
        return "run"

    def end(self) -> None:
        """The run was stopped otherwise."""
        self.is_over = True


async def heed_signals(session: Interrupted, ladder: Ladder, say: Callable[[str], None]) -> None:
    """Do what signals want, for as long as nobody ends it."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for one in signals:
            if one == signal.SIGTERM:
                if not ladder.is_over:
                    ladder.end()
                    await session.interrupt()  # no note: the model takes one for a person's words
                continue
            step = ladder.press(anyio.current_time(), session.interrupt_call)
            await _taken(step, session.interrupt, say)


async def _taken(
    step: Step, interrupt: Callable[[], Awaitable[None]], say: Callable[[str], None]
) -> None:
    match step:
        case "calls":
            say("stopping the call; once more within 2 seconds stops the run")
        case "run":
            say("stopping the run")
            await interrupt()
        case "waits":
            say("the run is being stopped; once more ends the program at once")
        case "kill":
            # What is written down is whole whenever the program ends; whatever it started ends too.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
