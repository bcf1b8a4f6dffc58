"""Calls that are under way at a server: handed over by whoever asks, done by the server's owner.

Whoever asks can go at any moment; what they leave behind is cancelled by the owner, in its own
time. No protocol is known here.
"""

from collections.abc import Callable

from anyio import CancelScope, Event, Lock, current_time

from holdfast.contract.errors import ToolError
from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.truncate import cut_text

SIGN_SECONDS = 0.05
"""Between two signs of life that are passed on."""
LONGEST_SIGN = 2000
MOST_QUESTIONS = 10
"""How often a server may ask a person during one call."""


class OpenCall:
    """One call, from being asked for to its end."""

    def __init__(self, tool: str, arguments: JsonObject, runtime: Runtime) -> None:
        self.tool = tool
        self.arguments = arguments
        self.runtime = runtime
        self.work = CancelScope()
        """Around what the owner does for it."""
        self.waiting = CancelScope()
        """Around whoever waits; holds the deadline."""
        self.done = Event()
        self.given_up = False
        self.questions = 0
        self.asking = Lock()
        """One question at a time is put to a person."""
        self.questions_open: set[CancelScope] = set()
        self._result: JsonObject | None = None
        self._problem: ToolError | None = None
        self._next_sign = 0.0

    def answer(self, result: JsonObject) -> None:
        """It is answered; what comes later counts no more."""
        if not self.done.is_set():
            self._result = result
            self.done.set()

    def fail(self, problem: ToolError) -> None:
        """It has failed; what comes later counts no more."""
        if not self.done.is_set():
            self._problem = problem
            self.done.set()

    def abandon(self) -> None:
        """Nobody waits any more; harmless when it is done."""
        if not self.done.is_set():
            self.given_up = True
        self.work.cancel()
        for question in self.questions_open:
            question.cancel()

    async def wait(self, seconds: float, late: Callable[[], ToolError]) -> JsonObject:
        """Its result within so many seconds, not counting the time that a person thinks."""
        self.waiting.deadline = current_time() + seconds
        try:
            with self.waiting:
                await self.done.wait()
        finally:
            self.abandon()
        if self._problem is not None:
            raise self._problem
        if self._result is None:
            raise late()
        return self._result

    def hold_deadline(self) -> Callable[[], None]:
        """A person thinks: time stands still; gives what lets it go on."""
        left = self.waiting.deadline - current_time()
        self.waiting.deadline = float("inf")

        def go_on() -> None:
            self.waiting.deadline = current_time() + left

        return go_on

    async def tell(self, progress: float, total: float | None, message: str | None) -> None:
        """A sign of life from the server; of very many, some are passed on."""
        now = current_time()
        if self.done.is_set() or self.given_up or now < self._next_sign:
            return
        self._next_sign = now + SIGN_SECONDS
        said = None if message is None else cut_text(message, LONGEST_SIGN)
        self.runtime.progress(Progress(message=said, done=progress, total=total))
