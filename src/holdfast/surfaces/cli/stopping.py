"""What Ctrl-C means while an agent works: first its calls, then its run, then everything.

A signal that asks the program to end, or tells that its terminal is gone, interrupts the run:
nothing is lost, and it can be taken up. Asked once more, the program ends whatever it does.
"""

import math
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, Protocol

import anyio

from holdfast.surfaces.cli.interrupts import end_by_an_interrupt

SECONDS = 2.0
"""Within this time a second one means the run."""
_KILLS = 3
_LAST_SECONDS = 2.0
"""What a run that is ended at once has for closing what it opened."""

Step = Literal["calls", "run", "waits", "kill"]
AskedToEnd = Literal["run", "waits", "now"]


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
        self._asked_to_end = 0
        self.is_over = False
        """It ends, or has ended."""

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

    def ask_to_end(self) -> AskedToEnd:
        """Whoever runs this program wants it to end."""
        self._asked_to_end += 1
        if self._asked_to_end > 1:
            return "now"
        if self.is_over:
            return "waits"
        self.is_over = True
        return "run"

    def end(self) -> None:
        """The run has ended by itself."""
        self.is_over = True


class Stops(NamedTuple):
    """What signals do, beside stopping the session."""

    say: Callable[[str], None]
    end_now: Callable[[], None]
    """Do not wait for the run to stop."""
    hang_up: Callable[[], None]
    """Nobody sees anything any more."""
    leave: Callable[[], None] = lambda: None
    """Right before the program ends at once: give back what is not given back by its end."""


async def heed_signals(session: Interrupted, ladder: Ladder, stops: Stops) -> None:
    """Do what signals want, for as long as nobody ends it."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    heeded = [signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP])]
    hung_up = False
    try:
        with anyio.open_signal_receiver(*heeded) as signals:
            async for one in signals:
                if one == signal.SIGINT:
                    step = ladder.press(anyio.current_time(), session.interrupt_call)
                    await _taken(step, session.interrupt, stops)
                    continue
                if one == signal.SIGHUP:
                    stops.hang_up()
                    if hung_up:  # the shell tells of it and the system, too
                        continue
                    hung_up = True
                await _asked_to_end(ladder.ask_to_end(), session, stops)
    finally:
        end_by_an_interrupt()  # the run is over: what is closed now is not to be broken off half


async def _asked_to_end(step: AskedToEnd, session: Interrupted, stops: Stops) -> None:
    if step == "run":
        await session.interrupt()  # no note: the model takes one for a person's words
    elif step == "now":
        stops.say("asked to end once more; the run is not waited for")
        stops.end_now()
        await anyio.sleep(_LAST_SECONDS)
        stops.leave()
        _die(signal.SIGTERM)


async def _taken(step: Step, interrupt: Callable[[], Awaitable[None]], stops: Stops) -> None:
    match step:
        case "calls":
            stops.say("stopping the call; once more within 2 seconds stops the run")
        case "run":
            stops.say("stopping the run")
            await interrupt()
        case "waits":
            stops.say("the run is being stopped; once more ends the program at once")
        case "kill":
            stops.leave()
            _die(signal.SIGINT)


def _die(number: signal.Signals) -> None:
    """What is written down is whole whenever the program ends; whatever it started ends too."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
