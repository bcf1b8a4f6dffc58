"""Watching over one run of a session: somebody elsewhere may interrupt it, or take it over.

A run that ends soon is not watched at all: whoever interrupts it finds it over.
"""

import logging
from contextlib import suppress

from anyio import CancelScope, create_task_group, move_on_after, sleep

from holdfast.contract.journal import EventQuery, JournalError, JournalUnavailable
from holdfast.execution.drive import Delayed
from holdfast.runtime.abort import Abort
from holdfast.runtime.session_log import SessionLog

_logger = logging.getLogger("holdfast")

STOP_SECONDS = 1.0
"""How long a run that is not ours any more may take to stop by itself."""
LOOK_SECONDS = 0.5
"""How often it is looked whether somebody elsewhere interrupted."""
_END_SECONDS = 5.0


class RunWatch:
    """Begins with a run. Used on its event loop."""

    def __init__(self, log: SessionLog, abort: Abort, run: CancelScope) -> None:
        """``abort``: tells the run to stop; ``run``: ends one that does not."""
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
        wanted = EventQuery(types=("user.interrupt",), processed=False, limit=1)
        while True:
            self._looked = Abort()  # before the look: what is told during it counts for the next
            # A store that cannot be asked now is asked again; the heartbeat knows for how long.
            with suppress(JournalUnavailable):
                if await journal.find(self._log.session_id, wanted):
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
