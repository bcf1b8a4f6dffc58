"""Watching over one run of a session: somebody elsewhere may interrupt it, or take it over.

A run that ends soon is not watched at all: whoever interrupts it finds it over.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from anyio import CancelScope, create_task_group, move_on_after, sleep

from holdfast.contract.event_kinds import MAKES_RUNNABLE
from holdfast.contract.journal import EventQuery, JournalError, JournalUnavailable
from holdfast.execution.drive import Delayed
from holdfast.runtime.abort import Abort, Either
from holdfast.runtime.session_log import SessionLog

_logger = logging.getLogger("holdfast")

STOP_SECONDS = 1.0
"""How long a run that is not ours any more may take to stop by itself."""
LOOK_SECONDS = 0.5
"""How often it is looked whether somebody elsewhere said something."""
_END_SECONDS = 5.0
_WORDS = tuple(str(kind.__struct_config__.tag) for kind in MAKES_RUNNABLE)


class RunWatch:
    """Begins with a run. Used on its event loop."""

    def __init__(
        self,
        log: SessionLog,
        abort: Abort,
        run: CancelScope,
        heeds: tuple[str, ...] = ("user.interrupt",),
    ) -> None:
        """``abort``: tells the run to stop; ``run``: ends one that does not. ``heeds``: the kinds
        of events for which it is told to."""
        self._wanted = EventQuery(types=heeds, processed=False, limit=1)
        self._log = log
        self._abort = abort
        self._run = run
        self._looked = Abort()
        self.lost: JournalError | None = None
        """Why the run was ended: the right to it was lost."""
        self._watching = Delayed(LOOK_SECONDS, self._watch)

    def look(self) -> None:
        """Somebody may have interrupted just now."""
        self._looked.set()
        self._watching.now()

    async def end(self) -> None:
        """The run is over."""
        self._watching.call_off()
        if self._watching.is_under_way:
            with CancelScope(shield=True):
                await self._watching.end(_END_SECONDS)

    async def _watch(self) -> None:
        async with create_task_group() as group:
            group.start_soon(self._listen)
            group.start_soon(self._beat)

    async def _listen(self) -> None:
        journal = await self._log.journal()
        while True:
            self._looked = Abort()  # before the look: what is told during it counts for the next
            # A store that cannot be asked now is asked again; the heartbeat knows for how long.
            with suppress(JournalUnavailable):
                if await journal.find(self._log.session_id, self._wanted):
                    self._abort.set()
            with move_on_after(LOOK_SECONDS):
                await self._looked.wait()

    async def _beat(self) -> None:
        """A run that has lost the right to run must not go on: another one may."""
        problem = await self._log.beating()
        _logger.warning("the run of session %s is stopped: %s", self._log.session_id, problem)
        self._abort.set()
        await sleep(STOP_SECONDS)
        self.lost = problem
        self._run.cancel()


class WordWatch:
    """Waits between two runs, while the right to run is kept."""

    def __init__(self, log: SessionLog, leaving: Abort) -> None:
        """``leaving``: nobody waits any more."""
        self._leaving = leaving
        self._words = Abort()
        self._scope = CancelScope()
        self._watch = RunWatch(log, self._words, self._scope, _WORDS)

    def look(self) -> None:
        """Somebody may have spoken just now."""
        self._watch.look()

    async def word_or(self, work: Callable[[], Awaitable[object]]) -> bool:
        """Wait until the work has ended or somebody speaks; False: it was given up.

        JournalError: the right to run was lost meanwhile.
        """
        try:
            with self._scope:
                async with create_task_group() as group:
                    group.start_soon(self._over, group.cancel_scope)
                    await work()
                    group.cancel_scope.cancel()
        finally:
            await self._watch.end()
        if self._watch.lost is not None:
            raise self._watch.lost
        return not self._leaving.aborted

    async def _over(self, waiting: CancelScope) -> None:
        await Either(self._leaving, self._words).wait()
        waiting.cancel()
