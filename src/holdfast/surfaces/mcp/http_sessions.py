"""The sessions of legacy clients over HTTP: one session of ours for each, bounded, ended when idle.

And one more that every modern client shares: those have no sessions. What they say is not known.
"""

import logging
from contextlib import suppress
from secrets import token_urlsafe

from anyio import CancelScope, Event, create_task_group, current_time, move_on_after, sleep
from anyio.abc import TaskGroup, TaskStatus

from holdfast.surfaces.mcp.client import Client
from holdfast.surfaces.mcp.http_answers import Answering
from holdfast.surfaces.mcp.remarks import Remarks
from holdfast.surfaces.mcp.served import Open, Served

_log = logging.getLogger("holdfast")

MOST_SESSIONS = 64
IDLE_SECONDS = 1_800.0
"""A session that nobody used for so long is ended."""
_LOOK_SECONDS = 30.0
_ENDING_SECONDS = 1.0


class Session:
    """One client's."""

    def __init__(self, served: Served, client: Client) -> None:
        self.id = token_urlsafe(24)
        self.served = served
        self.client = client
        self.stream: Answering | None = None
        """Where the client hears of what no request of its own brought about."""
        self.used_at = current_time()
        self.over = Event()

    @property
    def is_idle(self) -> bool:
        """Whether nobody uses it now."""
        return not self.client.is_busy and self.stream is None

    def end(self) -> None:
        """It is over: what is under way for it stops."""
        if self.stream is not None:
            self.stream.close()
        self.client.end()
        self.served.stop()
        self.over.set()


class Sessions:
    """All of them."""

    def __init__(self, make: Open, group: TaskGroup, remarks: Remarks | None = None) -> None:
        self._make = make
        self._remarks = remarks
        self._group = group
        self._by_id: dict[str, Session] = {}
        self.shared = Served(make, remarks)
        self.everybody = Client(self.shared, greets=False)

    async def open(self) -> Session | None:
        """A new one; None: there are too many that are used."""
        if len(self._by_id) >= MOST_SESSIONS and not self._end_idlest():
            return None
        served = Served(self._make, self._remarks)
        session = Session(served, Client(served))
        self._by_id[session.id] = session
        try:
            await self._group.start(self._run, session)
        except BaseException:
            self._by_id.pop(session.id, None)
            raise
        return session

    def used(self, session_id: str) -> Session | None:
        """The one of this name, used now; None: there is none, or none any more."""
        session = self._by_id.get(session_id)
        if session is not None:
            session.used_at = current_time()
        return session

    def end(self, session_id: str) -> bool:
        """End one; False: there is none of this name."""
        session = self._by_id.pop(session_id, None)
        if session is not None:
            session.end()
        return session is not None

    def end_all(self) -> None:
        """Nobody is served any more."""
        for session_id in list(self._by_id):
            self.end(session_id)
        self.everybody.end()
        self.shared.stop()

    def tools_changed(self) -> None:
        """Say so to every client that listens."""
        for served in (self.shared, *(one.served for one in self._by_id.values())):
            served.tools_changed()

    async def watch(self) -> None:
        """End those that nobody used for long."""
        while True:
            await sleep(_LOOK_SECONDS)
            self.end_idle()

    def end_idle(self) -> None:
        """End those that nobody used for long, now."""
        now = current_time()
        for session in list(self._by_id.values()):
            if not session.is_idle:
                session.used_at = now  # its client waits, and may go on with what comes
            elif session.used_at < now - IDLE_SECONDS:
                self.end(session.id)

    def _end_idlest(self) -> bool:
        idle = [one for one in self._by_id.values() if one.is_idle]
        return bool(idle) and self.end(min(idle, key=lambda one: one.used_at).id)

    async def _run(self, session: Session, *, task_status: TaskStatus[None]) -> None:
        is_open = False
        try:
            async with session.served.holdfast:
                task_status.started()
                is_open = True
                try:
                    with suppress(Exception):  # closing comes first, whatever happens
                        await _until(session)
                finally:
                    with CancelScope(shield=True):
                        with move_on_after(_ENDING_SECONDS):
                            await session.client.idle()
                        await session.client.close()
        except Exception:
            if not is_open:
                raise  # whoever asked for it is told
            _log.exception("a session did not end in order")
        finally:
            self._by_id.pop(session.id, None)


async def _until(session: Session) -> None:
    """Watch its tools until it is over."""
    async with create_task_group() as watching:
        watching.start_soon(session.served.watch)
        await session.over.wait()
        watching.cancel_scope.cancel()
