"""What the managed tools of one session stand on: its journal, its neighbours, its versions.

Handed in by whoever puts the session together. What a tool makes of it is not known here.
"""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import msgspec

from holdfast.contract.archive import Archive
from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.journal import Journal, JournalError, Session, UnknownSession
from holdfast.contract.managed.crowding import Crowding
from holdfast.contract.mounts import Mount
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.tool import Tool
from holdfast.contract.versions import VersionedStore
from holdfast.runtime.session_log import SessionLog

_NOT_WRITTEN = (
    "Nothing is written down here (store.kind is none), so that nothing can be looked up."
)


class Stores(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of all sessions."""

    journal: Journal
    archive: Archive
    versions: VersionedStore


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Of one session."""

    session_id: str
    agent_id: str
    """Whose sessions it may look at. One without an agent counts as the default agent's."""
    log: SessionLog | None
    stores: Callable[[], Awaitable[Stores]]
    """JournalUnavailable."""
    clock: Clock
    ids: IdSource
    tools: Callable[[], Iterable[Tool]]
    """All that can be called now."""
    clean: Callable[[str], str]
    """Takes secrets out of a text."""
    mounts: tuple[Mount, ...]
    artifacts: Path | None
    """Where what is known of the session is shown to its hand: a folder for it alone; None: it has
    no workspace."""
    live_shell: Callable[[], PersistentFacts | None]
    """The persistent shell that lives in this process; None: there is none."""
    crowding: Callable[[], Crowding | None]
    """How much of its context the model is given of what, now; None: no run was made yet."""
    usual_agent: str
    """Whose a session without an agent is."""

    async def session(self, session_id: str | None = None) -> Session:
        """Where a session of the same agent stands; without an id, this one. PolicyDenied tells the
        same of one of another agent as of one that is not there."""
        wanted = (session_id or "").strip() or self.session_id
        if self.log is None:
            raise Unavailable(_NOT_WRITTEN)
        journal = await self.log.journal()
        try:
            found = await journal.session(wanted)
        except UnknownSession:
            raise self.not_available(wanted) from None
        except JournalError as problem:
            raise Unavailable(f"The session cannot be read: {problem}") from None
        if wanted != self.session_id and not self.is_ours(found):
            raise self.not_available(wanted)
        return found

    def is_ours(self, session: Session) -> bool:
        """Whether a session belongs to the same agent."""
        return (session.state.agent_id or self.usual_agent) == self.agent_id

    def not_available(self, session_id: str) -> PolicyDenied:
        """What is said of a session that is not the agent's."""
        return PolicyDenied(f"Session {session_id} is not available to agent {self.agent_id}")

    def tool(self, name: str) -> Tool | None:
        """A tool that can be called now."""
        return next((one for one in self.tools() if one.name == name), None)
