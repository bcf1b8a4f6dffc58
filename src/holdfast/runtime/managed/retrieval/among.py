"""What backends look through while one question is answered: the agent's sessions, each read once.

What they look for is not known here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from holdfast.contract.archive import Near, Worded, WordQuery
from holdfast.contract.events import CallAsked, CallSettled, ChildCreated, Event
from holdfast.contract.journal import EventQuery, Session, UnknownSession
from holdfast.contract.managed.retrieval import BackendName, Lineage
from holdfast.contract.vectors import Question
from holdfast.runtime.managed.evidence import KNOWN_ALREADY
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.retrieval.hits import Brought, Hit
from holdfast.runtime.managed.text_score import Query, query_of, score, snippet

MOST_EVENTS = 100
"""Events that a backend weighs."""
MOST_RELATIVES = 10_000


class Among:
    """Made for one question."""

    def __init__(self, ground: Ground, stores: Stores, current: Session) -> None:
        self.ground = ground
        self.stores = stores
        self.current = current
        self._sessions: dict[str, Session | None] = {current.id: current}
        self._near: dict[WordQuery, Near] = {}
        tools = ground.tools()
        reads = (tool.name for tool in tools if not KNOWN_ALREADY.isdisjoint(tool.effects))
        self._reads = frozenset(reads)
        """Tools whose answers tell what was written down already."""
        self._known_already = tuple(f"call.settled/{name}" for name in sorted(self._reads))

    @property
    def agents(self) -> tuple[str | None, ...]:
        """Whose sessions are looked through."""
        ground = self.ground
        usual = ground.agent_id == ground.usual_agent
        return (ground.agent_id, None) if usual else (ground.agent_id,)

    async def of(self, session_ids: Iterable[str]) -> Mapping[str, Session]:
        """Those of them that are there and are the agent's, in their order."""
        found: dict[str, Session] = {}
        for session_id in dict.fromkeys(session_ids):
            if session_id not in self._sessions:
                self._sessions[session_id] = await self._read(session_id)
            session = self._sessions[session_id]
            if session is not None:
                found[session_id] = session
        return found

    async def near(
        self, asked: Question, types: tuple[str, ...], *, only_new: bool = False
    ) -> Near:
        """The events that may be meant, of some kinds; asked again, the same. ``only_new``: without
        answers of tools that tell what was written down already."""
        terms = query_of(asked.text).terms
        wanted = WordQuery(
            words=" ".join(terms) or asked.text,
            agents=asked.agents,
            types=types,
            but_types=self._known_already if only_new else (),
            sessions=asked.sessions,
            without=asked.without,
            limit=MOST_EVENTS,
        )
        if wanted not in self._near:
            self._near[wanted] = await self.stores.archive.near(wanted)
        return self._near[wanted]

    async def relatives(self, lineage: Lineage | None) -> tuple[str, ...] | None:
        """The sessions of a lineage; None: all are meant."""
        if lineage is None:
            return None
        parent = self.current.state.parent_id
        above = () if parent is None else tuple(await self.of([parent]))
        found: list[str] = []
        if lineage in {"related", "parent"}:
            found += above
        if lineage in {"related", "children"}:
            found += await self._children(self.current.id)
        if lineage in {"related", "siblings"}:
            for one in above:
                found += await self._children(one)
        return tuple(one for one in dict.fromkeys(found) if one != self.current.id)

    def shows_more(self, event: Event) -> bool:
        """Whether it tells more than was written down already: no answer of a tool that searched,
        and nothing that such a tool was asked."""
        said = event.payload
        if not isinstance(said, CallAsked | CallSettled):
            return True
        return said.tool not in self._reads

    def hit(self, query: Query, text: str, made: Hit) -> Hit | None:
        """A text with its score and what it shows; None: it does not fit."""
        clean = self.ground.clean(text)
        found = score(query, clean)
        if not found.points:
            return None
        return Hit(
            source=made.source,
            title=self.ground.clean(made.title),
            snippet=snippet(query, clean),
            points=found.points,
            reasons=found.reasons,
            session_id=made.session_id,
            event_id=made.event_id,
            wake_id=made.wake_id,
            created_at=made.created_at,
            has_command=made.has_command,
        )

    async def _read(self, session_id: str) -> Session | None:
        try:
            found = await self.stores.journal.session(session_id)
        except UnknownSession:
            return None
        return found if self.ground.is_ours(found) else None

    async def _children(self, session_id: str) -> Sequence[str]:
        query = EventQuery(types=("session.child_created",), limit=MOST_RELATIVES)
        said = (one.payload for one in await self.stores.journal.find(session_id, query))
        return [one.child_session_id for one in said if isinstance(one, ChildCreated)]


class Backend(Protocol):
    """Finds texts."""

    @property
    def name(self) -> BackendName:
        """What it is called."""
        ...

    async def search(self, asked: Question, among: Among, /) -> Brought:
        """The texts that fit, the best first."""
        ...


def is_within(asked: Question, session_id: str) -> bool:
    """Whether a session of the agent is one that is asked about."""
    is_meant = asked.sessions is None or session_id in asked.sessions
    return is_meant and session_id != asked.without


def best(hits: Iterable[Hit | None], most: int) -> tuple[Hit, ...]:
    """The hits among them, the best first, then the newest."""
    found = sorted(
        (one for one in hits if one is not None), key=lambda one: one.created_at or "", reverse=True
    )
    return tuple(sorted(found, key=lambda one: -one.points)[:most])


def titled(worded: Worded) -> str:
    """What an event is called in a list."""
    said = worded.event.payload
    if isinstance(said, CallAsked | CallSettled):
        return f"{worded.event.type} {said.tool}"
    return worded.event.type
