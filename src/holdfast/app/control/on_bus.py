"""The sessions that run on this event loop, reachable over a bus: each at a subject of its own.

It hears, too, when somebody elsewhere has written something down for one. Who may say anything on
the bus is decided by whoever runs it; what is answered is not known here.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial

from anyio import CancelScope, Event, create_task_group, sleep
from anyio.abc import TaskGroup

from holdfast.app.control.exchange import AGAIN_SECONDS, lines_of
from holdfast.app.control.window import Window
from holdfast.app.holders import this_process
from holdfast.contract.bus import BusPlace, BusUnavailable
from holdfast.engine.lines.connecting import Lines
from holdfast.engine.lines.streams import BusStream

_log = logging.getLogger("holdfast")

Take = Callable[[BusStream], Coroutine[object, object, None]]


class OnBus:
    """Answers for windows as long as they are there. Used on one event loop."""

    def __init__(self, place: BusPlace, windows: Mapping[str, Window], take: Take) -> None:
        self._place = place
        self._windows = windows
        self._take = take
        self._changed = Event()

    def change(self) -> None:
        """A session runs from here on, or does not any more."""
        self._changed.set()

    async def __call__(self) -> None:
        """As long as this is not cancelled."""
        while True:
            try:
                async with lines_of(self._place) as lines:
                    await self._answer(lines)
            except* BusUnavailable as problems:
                _log.info("other machines find this session in the journal alone: %s", problems)
            await sleep(AGAIN_SECONDS)

    async def _answer(self, lines: Lines) -> None:
        answering: dict[str, CancelScope] = {}
        async with create_task_group() as group:
            while True:
                self._changed = Event()
                for session_id in self._windows.keys() - answering.keys():
                    answering[session_id] = scope = CancelScope()
                    group.start_soon(self._answer_for, session_id, lines, scope, group)
                for session_id in answering.keys() - self._windows.keys():
                    answering.pop(session_id).cancel()
                await self._changed.wait()

    async def _answer_for(
        self, session_id: str, lines: Lines, scope: CancelScope, group: TaskGroup
    ) -> None:
        subject = lines.addresses.process(this_process(), session_id)
        with scope:
            listening = await lines.bus.subscribe(lines.addresses.look(session_id), self._look)
            try:
                await lines.serve(subject, partial(group.start_soon, self._take))
            finally:
                with CancelScope(shield=True):
                    await listening.close()

    def _look(self, _subject: str, message: bytes) -> None:
        with suppress(UnicodeDecodeError):
            window = self._windows.get(message.decode())
            if window is not None:
                window.look()
