"""A watchdog hook in Python, called so that it cannot hold a call up for ever.

It is run as tool bodies are: an async hook on the event loop, any other in a worker thread, so
that one which blocks does not stop the other calls. One that takes longer than its time is given
up; a thread cannot be stopped, so it is left to itself and its opinion is not waited for. Whatever
goes wrong is raised as an ordinary exception, which the watchdog takes for a refusal. Only the
cancellation of the caller itself passes through.
"""

import inspect
import math
from typing import cast

from anyio import to_thread

from holdfast.contract.call import Interrupted, Raised, Returned, TimedOut
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.execution.run import driven


class TimedHook:
    """Asks a hook, within its time."""

    def __init__(self, hook: Hook, name: str, seconds: float) -> None:
        self.__name__ = name
        self._hook = hook
        self._seconds = None if seconds == math.inf else seconds
        self._on_the_loop = any(map(inspect.iscoroutinefunction, (hook, type(hook).__call__)))

    async def __call__(self, inspection: Inspection, /) -> Opinion:
        """Ask it once."""
        ending = await driven(self._asked(inspection), self._seconds, None)
        if isinstance(ending, Returned):
            return cast("Opinion", ending.value)
        raise _problem(ending)

    async def _asked(self, inspection: Inspection) -> object:
        if self._on_the_loop:
            given: object = self._hook(inspection)
        else:
            given = await to_thread.run_sync(self._hook, inspection, abandon_on_cancel=True)
        return await given if inspect.isawaitable(given) else given


def _problem(ending: Raised | TimedOut | Interrupted) -> Exception:
    match ending:
        case Raised(error) if isinstance(error, Exception):
            return error
        case Raised(error):
            return RuntimeError(f"it wanted to end the program: {type(error).__name__}")
        case TimedOut(seconds):
            return TimeoutError(f"it took longer than {seconds:g} s")
        case _:
            return RuntimeError("it cancelled itself")
