"""Finds events by what they mean, in an index of their vectors that is kept beside the journal.

The index lags behind: a question takes up a bounded part, and the rest is taken up while nobody
waits for it. No text leaves for whoever makes vectors before secrets are taken out of it. How
vectors are made and compared is not known here.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

import msgspec
from anyio import Lock, fail_after, move_on_after, to_thread

from holdfast.contract.archive import SessionQuery
from holdfast.contract.errors import ToolError
from holdfast.contract.events import CallSettled, Event
from holdfast.contract.journal import JournalError, Session, UnknownSession
from holdfast.contract.vectors import Embedder, Pointed, Question, VectorsUnavailable
from holdfast.execution.drive import PlainTasks
from holdfast.record.searching import searchable
from holdfast.record.vectors.door import Bounds, Entry, Place, Taken, VectorFile
from holdfast.runtime.managed.evidence import KNOWN_ALREADY
from holdfast.runtime.managed.ground import Ground, Stores

TYPES = frozenset(
    {
        *("user.message", "agent.message", "call.settled", "user.define_outcome"),
        *("outcome.evaluated", "learning.captured"),
    }
)
"""The events that are found."""
MOST_CHARACTERS = 2_000
"""Of an event: its beginning has to tell what it means."""
MOST_TEXTS = 32
"""That are made into vectors at once."""
MOST_EVENTS = 200
"""That are looked at for them."""
MOST_SESSIONS = 1_000
"""Of the agent, the last active ones: only they are taken up."""
_RECENT = 100
"""Once all were taken up, only these may have gone on."""
_MOST_GONE = 50
QUESTION_SECONDS = 2.5
"""How long is waited for the vector of a question."""
STEP_SECONDS = 1.0
"""How long a question waits for what is new."""
BATCH_SECONDS = 60.0
_CLOSING_SECONDS = 2.0
_log = logging.getLogger("holdfast")


Closing = Callable[[], Awaitable[None]]


async def unclosed() -> None:
    """Nothing was opened for the session."""


class MeaningParts(msgspec.Struct, frozen=True, kw_only=True):
    """What it is made from."""

    ground: Ground
    file: VectorFile
    embedder: Embedder
    close: Closing = unclosed
    """Lets go of what was opened for the session."""
    least_similarity: float = 0.0
    """What is less similar is not found."""


class _Behind(msgspec.Struct, frozen=True):
    session_id: str
    agent: str | None
    end: int
    place: Place


class Meaning:
    """The shipped `VectorBackend`. Of one session; used on one event loop."""

    def __init__(self, parts: MeaningParts) -> None:
        self._parts = parts
        self._ground = parts.ground
        self._behind: deque[_Behind] = deque()
        self._turn = Lock()
        self._has_seen_all = False
        self._trouble: str | None = None
        """Why nothing could be taken up the last time."""
        self._tasks = PlainTasks()
        self._is_closed = False

    async def nearest(self, asked: Question, /) -> Pointed:
        """The events closest to what is asked; VectorsUnavailable."""
        try:
            with fail_after(QUESTION_SECONDS):
                (vector,) = await self._vectors([self._ground.clean(asked.text)])
        except TimeoutError:
            raise VectorsUnavailable(
                f"{self._parts.embedder.name} made no vector within {QUESTION_SECONDS:g} s."
            ) from None
        note = None
        if not self._tasks:
            with move_on_after(STEP_SECONDS) as step:
                await self._step()
            if step.cancelled_caught or (self._behind and self._trouble is None):
                self.catch_up()
            if step.cancelled_caught and not self._behind:
                note = "How much is new is not known yet: it is looked for."
        bounds = Bounds(
            agents=asked.agents,
            sessions=asked.sessions,
            without=asked.without,
            limit=asked.limit,
            least=self._parts.least_similarity,
        )
        found = await to_thread.run_sync(
            self._parts.file.nearest, vector, bounds, abandon_on_cancel=True
        )
        behind = sum(max(0, one.end - one.place.sequence) for one in self._behind)
        if self._trouble is not None:
            note = f"New events are not taken up: {self._trouble}"
        return Pointed(pointers=tuple(found), unindexed=behind, note=note)

    def catch_up(self) -> None:
        """Have what is new taken up while nobody waits for it."""
        if not self._tasks and not self._is_closed:
            self._tasks.begin(self._all_of_it())

    async def caught_up(self) -> None:
        """Wait until nothing more is taken up."""
        await self._tasks.rest()

    def open(self) -> None:
        """Take up again, after it was closed."""
        self._is_closed = False

    async def close(self) -> None:
        """Take nothing up any more."""
        self._is_closed = True
        await self._tasks.end(_CLOSING_SECONDS)
        await self._parts.close()

    async def _all_of_it(self) -> None:
        while await self._step():
            pass

    async def _step(self) -> bool:
        """Take up a bounded part; whether there may be more. What goes wrong is kept in mind, and
        whoever asks next tries again."""
        async with self._turn:
            try:
                stores = await self._ground.stores()
                if not self._behind:
                    await self._look(stores)
                with fail_after(BATCH_SECONDS):
                    await self._take_up(stores)
                self._trouble = None
            except (VectorsUnavailable, JournalError, ToolError) as problem:
                self._trouble = self._ground.clean(str(problem))
            except TimeoutError:
                self._trouble = f"nothing came back within {BATCH_SECONDS:g} s"
            return bool(self._behind) and self._trouble is None

    async def _look(self, stores: Stores) -> None:
        """See which sessions have gone on, and which are gone."""
        ground = self._ground
        usual = ground.agent_id == ground.usual_agent
        agents = (ground.agent_id, None) if usual else (ground.agent_id,)
        limit = _RECENT if self._has_seen_all else MOST_SESSIONS
        query = SessionQuery(agent_id=ground.agent_id, or_nobodys=usual, limit=limit)
        sessions = await stores.archive.sessions(query)
        reached = await to_thread.run_sync(self._parts.file.reached, agents)
        if not self._has_seen_all:
            await self._forget_gone(stores, reached.keys() - {one.id for one in sessions})
        self._behind += _behind(sessions, reached)
        self._has_seen_all = self._has_seen_all or not self._behind

    async def _forget_gone(self, stores: Stores, unseen: Iterable[str]) -> None:
        gone: list[str] = []
        for session_id in [*unseen][:_MOST_GONE]:
            try:
                await stores.journal.session(session_id)
            except UnknownSession:
                gone.append(session_id)
        if gone:
            await to_thread.run_sync(self._parts.file.forget, gone)

    async def _take_up(self, stores: Stores) -> None:
        """The next texts, of one session after the other."""
        texts = events = 0
        unread: JournalError | None = None
        while self._behind and texts < MOST_TEXTS and events < MOST_EVENTS:
            here = self._behind[0]
            place = here.place
            after = max(0, place.sequence - 1)
            try:
                read = await stores.journal.events(here.session_id, after=after, limit=MOST_EVENTS)
            except JournalError as problem:  # all others can be found
                unread = problem
                self._behind.popleft()
                continue
            if place.sequence:
                if not read or read[0].id != place.event_id:
                    # It was taken away meanwhile, and may have come back as another one.
                    await to_thread.run_sync(self._parts.file.forget, [here.session_id])
                    self._behind.popleft()
                    continue
                read = read[1:]
            looked, told = self._told(read, MOST_TEXTS - texts)
            texts, events = texts + len(told), events + looked
            if not looked:
                self._behind.popleft()
                continue
            now = Place(read[looked - 1].sequence, read[looked - 1].id)
            is_next = await self._keep(here, now, told)
            self._behind.popleft()
            if is_next and now.sequence < here.end:
                self._behind.appendleft(msgspec.structs.replace(here, place=now))
        if unread is not None:
            raise unread

    async def _keep(self, here: _Behind, now: Place, told: Sequence[tuple[str, str]]) -> bool:
        vectors = await self._vectors([text for _, text in told]) if told else ()
        pairs = zip(told, vectors, strict=True)
        taken = Taken(
            session_id=here.session_id,
            agent=here.agent,
            before=here.place,
            now=now,
            entries=tuple(Entry(event_id, vector) for (event_id, _), vector in pairs),
        )
        return await to_thread.run_sync(self._parts.file.keep, taken)

    def _told(self, events: Sequence[Event], most: int) -> tuple[int, list[tuple[str, str]]]:
        """How many events were looked at, and the texts of those that are found."""
        told: list[tuple[str, str]] = []
        for looked, event in enumerate(events):
            if len(told) >= most:
                return looked, told
            text = self._text(event)
            if text:
                told.append((event.id, text))
        return len(events), told

    def _text(self, event: Event) -> str:
        said = event.payload
        if event.type not in TYPES:
            return ""
        if isinstance(said, CallSettled):
            tool = self._ground.tool(said.tool)
            if tool is not None and not KNOWN_ALREADY.isdisjoint(tool.effects):
                return ""  # it tells again what was written down before
        return self._ground.clean(searchable(said))[:MOST_CHARACTERS].strip()

    async def _vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            vectors = await self._parts.embedder.embed(texts)
        except VectorsUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - it may be the program's own
            _log.warning("vectors could not be made", exc_info=problem)
            name = self._parts.embedder.name
            raise VectorsUnavailable(f"{name} failed with {type(problem).__name__}.") from None
        if len(vectors) != len(texts) or len({len(one) for one in vectors}) != 1:
            raise VectorsUnavailable(f"{self._parts.embedder.name} gave no vector for each text.")
        return vectors


def _behind(sessions: Iterable[Session], reached: Mapping[str, Place]) -> list[_Behind]:
    """Those that have gone on, the last active first."""
    return [
        _Behind(one.id, one.state.agent_id, one.sequence, place)
        for one in sessions
        if (place := reached.get(one.id, Place())).sequence != one.sequence
    ]
