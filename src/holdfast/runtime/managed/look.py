"""One look at a session: what several artifacts and notes tell is looked up once.

What is made of it is not known here.
"""

from holdfast.contract.archive import SessionQuery
from holdfast.contract.events import Event
from holdfast.contract.journal import EventQuery, JournalError, Session
from holdfast.contract.managed.shell_views import ShellPosture, ShellState, ShellView
from holdfast.contract.skills import Skill
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judged, Judging

_MOST_CHILDREN = 100


class Look:
    """At the session of a ground."""

    def __init__(
        self,
        ground: Ground,
        judging: Judging,
        shell: ShellView,
        skills: tuple[Skill, ...] = (),
        judged: Judged | None = None,
    ) -> None:
        """``judged``: what is known of its outcome already."""
        self.ground = ground
        self.skills = skills
        self._judging = judging
        self._shell = shell
        self._judged = judged
        self._session: Session | None = None
        self._shell_state: ShellState | None = None

    async def session(self) -> Session:
        """Where it stands."""
        if self._session is None:
            self._session = await self.ground.session()
        return self._session

    async def judged(self) -> Judged:
        """How far it came with its outcome."""
        if self._judged is None:
            self._judged = await self._judging.judged()
        return self._judged

    async def shell_state(self) -> ShellState:
        """What is durable of its shell."""
        if self._shell_state is None:
            self._shell_state = await self._shell.state()
        return self._shell_state

    async def shell_posture(self) -> ShellPosture:
        """What can be done with its shell now."""
        return await self._shell.posture()

    async def newest(self, limit: int, *types: str) -> tuple[Event, ...]:
        """Its newest events, of these kinds where any are named."""
        stores = await self.ground.stores()
        query = EventQuery(types=types, limit=limit)
        return await stores.journal.find(self.ground.session_id, query)

    async def behind(self, sequence: int) -> tuple[Event, ...]:
        """Its next events behind a number."""
        stores = await self.ground.stores()
        return await stores.journal.events(self.ground.session_id, after=sequence)

    async def parent(self) -> Session | None:
        """The session above it, where that is the agent's."""
        above = (await self.session()).state.parent_id
        if above is None:
            return None
        try:
            found = await (await self.ground.stores()).journal.session(above)
        except JournalError:
            return None
        return found if self.ground.is_ours(found) else None

    async def children(self) -> tuple[Session, ...]:
        """The sessions below it that are the agent's."""
        stores = await self.ground.stores()
        query = SessionQuery(parent_id=self.ground.session_id, limit=_MOST_CHILDREN)
        found = await stores.archive.sessions(query)
        return tuple(one for one in found if self.ground.is_ours(one))
