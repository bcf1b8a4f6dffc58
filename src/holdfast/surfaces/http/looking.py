"""Looking for what was said, and what agents know: search, notes, learnings."""

from datetime import datetime
from typing import Annotated

import msgspec
from anyio import to_thread

from holdfast.contract.archive import Found
from holdfast.record.words import phrases_of
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Query, Route

_MOST_NOTES = 256 * 1024
_MEMORY = "MEMORY.md"


class SearchAsked(Query, frozen=True, kw_only=True):
    """Which words."""

    q: str
    session: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


class FoundList(msgspec.Struct, frozen=True, kw_only=True):
    """The events that hold all the words, the best first."""

    found: tuple[Found, ...]


async def search(asked: Asked[SearchAsked, Body]) -> FoundList:
    """The events that hold all the words, the best first."""
    wanted = asked.query
    if not phrases_of(wanted.q):
        raise Problem(422, f"{wanted.q!r} holds no word to search for; give letters or numbers")
    found = await asked.house.archive.search(
        wanted.q, session_id=wanted.session, limit=wanted.limit
    )
    return FoundList(found=found)


class MemoryAsked(Query, frozen=True, kw_only=True):
    """Whose."""

    agent: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] | None = None
    """The default agent's, without it. It is a folder's name, too: nothing else is taken."""


class LearnedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an agent learned."""

    title: str
    detail: str
    session_id: str
    wake_id: str | None
    at: datetime


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """What all sessions of an agent share."""

    path: str
    text: str


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent knows."""

    agent: str
    notes: Notes | None
    learnings: list[LearnedRow]


async def show_memory(asked: Asked[MemoryAsked, Body]) -> Memory:
    """What an agent knows beyond one session: shared notes, and what it learned."""
    house = asked.house
    agent = asked.query.agent or house.default_agent
    learned = await house.archive.learned([agent])
    rows = [
        LearnedRow(
            title=one.said.title,
            detail=one.said.detail,
            session_id=one.session_id,
            wake_id=one.wake_id,
            at=one.at,
        )
        for one in reversed(learned)
    ]
    notes = await to_thread.run_sync(_notes, house, agent)
    return Memory(agent=agent, notes=notes, learnings=rows)


def _notes(house: House, agent: str) -> Notes | None:
    path = house.shared_folder(agent) / _MEMORY
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            text = file.read(_MOST_NOTES).decode("utf-8", "replace")
    except OSError:
        return None
    redactor = house.redactor
    return Notes(path=str(path), text=redactor.text(text) if redactor.active else text)


ROUTES = (
    Route(
        method="GET",
        path="/search",
        name="search",
        says="The events that hold all the words, the best first.",
        answer=search,
        query=SearchAsked,
        gives=FoundList,
    ),
    Route(
        method="GET",
        path="/memory",
        name="show_memory",
        says="What an agent knows beyond one session.",
        answer=show_memory,
        query=MemoryAsked,
        gives=Memory,
    ),
)
