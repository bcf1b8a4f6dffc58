"""The sessions that an editor has open: begun, taken up, put into another mode, closed.

Each is held open by a task of its own, so that what was opened is closed where it was opened,
whatever a client asks for. What is opened, closed or told again is for nothing else meanwhile:
clients need not wait for an answer. What is configured is handed in.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import msgspec
from acp.agent.connection import AgentSideConnection
from anyio import CancelScope, Lock, move_on_after
from anyio.abc import TaskGroup, TaskStatus

from holdfast.app.agent_work import Work, opened_agent
from holdfast.app.configuration import load_configuration
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError
from holdfast.app.session_store import opened_store, runner_of
from holdfast.app.source_settings import McpSettings
from holdfast.contract.journal import JournalError, Session, UnknownSession
from holdfast.contract.session_state import is_bound
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.acp.asking import AskedThere, Client
from holdfast.surfaces.acp.modes import profile_of
from holdfast.surfaces.acp.servers import Offer, offered
from holdfast.surfaces.acp.session import Busy, EditorSession

Prepare: TypeAlias = Callable[[str, Session | None, str | None], tuple[Work, Options]]
"""Reads what is configured for a folder, for a session of before, under a profile; any may be none.
ConfigurationError."""

_STOPPING_SECONDS = 8.0
_NO_AGENT = "session {0} is no agent's: it holds single calls, and cannot be gone on with"
_BELOW = "session {0} is a subagent's, below session {1}; open that one"
_OVER = "session {0} is closed; begin another one"
_RUNS = "session {0} is run by {1}; it can be opened once that has ended"
_MOVED = "This session works in {0}, where it was begun, and not in {1}."


class Held(msgspec.Struct):
    """A session that is open, and how it was opened."""

    session: EditorSession
    work: Work
    options: Options
    cwd: str
    offers: Sequence[Offer]
    profile: str


class Sessions:
    """Those of one client. Used on one event loop."""

    def __init__(self, prepare: Prepare, group: TaskGroup, tell: Callable[[str], None]) -> None:
        """``tell``: writes one line to standard error."""
        self._prepare = prepare
        self._group = group
        self._tell = tell
        self._open: dict[str, Held] = {}
        self._taken: dict[str, Lock] = {}
        """Sessions that something is being done to."""
        self.client = Client()

    def connect(self, connection: AgentSideConnection) -> None:
        """This is who asked for them."""
        self._connection = connection

    def __getitem__(self, session_id: str) -> Held:
        """UnknownSession."""
        if session_id not in self._open:
            raise UnknownSession(
                f"session {session_id} is not open here; open it with session/load"
            )
        return self._open[session_id]

    async def at_hand(self, session_id: str) -> Held:
        """One that nothing is being done to; UnknownSession. Nothing is waited for needlessly."""
        if session_id in self._taken:
            async with self._alone_with(session_id):
                pass
        return self[session_id]

    async def begin(self, cwd: str, offers: Sequence[Offer]) -> Held:
        """A new one; ConfigurationError, JournalError."""
        work, options = self._prepare(cwd, None, None)
        held = await self._opened(work, options, cwd, offers)
        await held.session.showing.journal()  # by its name it is found again, whatever comes
        return held

    async def take_up(
        self, session_id: str, cwd: str, offers: Sequence[Offer], *, tells_again: bool = False
    ) -> Held:
        """Go on with one of before; the same, and UnknownSession.

        ``tells_again``: all that happened; Busy while a turn is under way.
        """
        async with self._alone_with(session_id):
            held = self._open.get(session_id)
            if held is None:
                begun = await self._begun(session_id, cwd)
                work, options = self._prepare(cwd, begun, None)
                held = await self._opened(work, options, cwd, offers)
            if tells_again:
                if held.session.is_busy:
                    raise Busy
                await held.session.showing.retell()
            return held

    async def change_mode(
        self, session_id: str, profile: str, check: Callable[[Held, str], None]
    ) -> Held:
        """Open a session anew, under another profile; Busy while a turn is under way.

        ``check``: raises where the session cannot have that profile.
        """
        async with self._alone_with(session_id):
            held = self[session_id]
            check(held, profile)
            if held.session.is_busy:
                raise Busy
            if profile == held.profile:
                return held
            await self._let_go(held)
            begun = await self._begun(session_id, held.cwd)
            work, options = self._prepare(held.cwd, begun, profile)
            return await self._opened(work, options, held.cwd, held.offers)

    async def close(self, session_id: str) -> None:
        """Let go of one; whoever takes it up goes on from there."""
        async with self._alone_with(session_id):
            await self._let_go(self[session_id])

    async def close_all(self) -> None:
        """Stop every turn, and let go of all."""
        sessions = [one.session for one in self._open.values()]
        with move_on_after(_STOPPING_SECONDS):
            for one in sessions:
                self._group.start_soon(one.stop)
            for one in sessions:
                await one.over()
        for one in sessions:
            one.closing.set()
        for one in sessions:
            await one.closed.wait()

    @asynccontextmanager
    async def _alone_with(self, session_id: str) -> AsyncGenerator[None]:
        taken = self._taken.setdefault(session_id, Lock())
        try:
            async with taken:
                yield
        finally:
            if not taken.locked():
                self._taken.pop(session_id, None)

    async def _let_go(self, held: Held) -> None:
        await held.session.stop()
        await held.session.over()
        self._open.pop(held.session.id, None)
        held.session.closing.set()
        await held.session.closed.wait()

    async def _opened(
        self, work: Work, options: Options, cwd: str, offers: Sequence[Offer]
    ) -> Held:
        configuration = options.get("configuration") or load_configuration(work.workspace)
        settings = configuration.settings
        found = offered(offers, settings.mcp)
        moved = str(work.workspace) != cwd and work.session is not None
        remarks = (
            *configuration.notices,
            *found.refused,
            *([_MOVED.format(work.workspace, cwd)] if moved else []),
        )
        session = EditorSession(self._connection, remarks)
        asked = AskedThere(self._connection, self.client, session)
        configured = _with_servers(settings.mcp, found.tables)
        given: Options = {
            **options,
            "configuration": msgspec.structs.replace(
                configuration, settings=msgspec.structs.replace(settings, mcp=configured)
            ),
            "approver": asked.approve,
            "server_patience": 0.0,  # the first turn waits for them
        }
        if self.client.asks_in_forms:
            given["person"] = asked.inquire
        await self._group.start(partial(self._hold, session, work, given))
        profile = profile_of(settings, work.agent, work.profile)
        held = Held(session, work, options, cwd, offers, profile)
        self._open[session.id] = held
        return held

    async def _hold(
        self, session: EditorSession, work: Work, options: Options, *, task_status: TaskStatus[None]
    ) -> None:
        has_started = False
        try:
            async with opened_agent(work, **options) as opened:
                session.bind(opened)
                has_started = True
                task_status.started()
                with CancelScope(shield=True):
                    await session.closing.wait()
        except (JournalError, OSError) as problem:
            if not has_started:
                raise
            self._tell(f"session {session.id} could not be closed in order: {problem}")
        finally:
            session.closed.set()

    async def _begun(self, session_id: str, cwd: str) -> Session:
        """A session that can be gone on with; ConfigurationError, UnknownSession."""
        _, options = self._prepare(cwd, None, None)
        configuration = options.get("configuration") or load_configuration(cwd)
        async with opened_store(configuration.settings) as store:
            session = await store.journal.session(session_id)
        state = session.state
        if state.agent_id is None:
            raise ConfigurationError(_NO_AGENT.format(session_id))
        if is_bound(state):
            raise ConfigurationError(_BELOW.format(session_id, state.parent_id))
        if state.status == "terminated":
            raise ConfigurationError(_OVER.format(session_id))
        lease = session.lease
        if lease is not None and runner_of(lease, SystemClock()) == "somebody":
            raise ConfigurationError(_RUNS.format(session_id, lease.holder))
        return session


def _with_servers(
    configured: Mapping[str, McpSettings], more: Mapping[str, McpSettings]
) -> dict[str, McpSettings]:
    return {**configured, **more}
