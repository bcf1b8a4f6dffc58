"""Sessions: listed, begun, looked at, spoken to, taken away."""

import msgspec

from holdfast.app import ingress, session_store
from holdfast.app.control.client import NoSocket, RefusedRequest, Unreachable, owner_of
from holdfast.app.user_events import take_user_event
from holdfast.contract.agents import Label
from holdfast.contract.archive import SessionQuery
from holdfast.contract.envelope import Repair
from holdfast.contract.events import SessionStatus
from holdfast.contract.journal import Session, UnknownSession
from holdfast.contract.json_value import JsonObject
from holdfast.contract.session_state import ReportedStatus
from holdfast.contract.wake_events import Moment
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Plain, Query, Route
from holdfast.surfaces.http.rows import SessionRow, row_of
from holdfast.surfaces.http.speaking import refuse_single_calls, refuse_unspoken

MOST_ROWS = 500
_LOOKED_THROUGH = 5_000
"""Where a list is filtered by what only the rows tell."""


class SessionsAsked(Query, frozen=True, kw_only=True):
    """Which of them."""

    status: ReportedStatus | SessionStatus | None = None
    agent: str | None = None
    parent: str | None = None
    q: str | None = None
    """Words of its title, id, agent or place."""
    limit: int = 50
    before: Moment | None = None


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of them, the last active first."""

    sessions: list[SessionRow]
    more: bool


async def list_sessions(asked: Asked[SessionsAsked, Body]) -> SessionList:
    """The sessions of this home, the last active first."""
    wanted, house = asked.query, asked.house
    if not 1 <= wanted.limit <= MOST_ROWS:
        raise Problem(422, f"limit is a number from 1 to {MOST_ROWS}")
    filtered = wanted.status is not None or bool(wanted.q)
    query = SessionQuery(
        agent_id=wanted.agent,
        parent_id=wanted.parent,
        active_before=wanted.before,
        limit=_LOOKED_THROUGH if filtered else wanted.limit + 1,
    )
    found = [row_of(one, house.clock) for one in await house.archive.sessions(query)]
    fitting = [one for one in found if _fits(one, wanted)]
    return SessionList(sessions=fitting[: wanted.limit], more=len(fitting) > wanted.limit)


def _fits(row: SessionRow, wanted: SessionsAsked) -> bool:
    if wanted.status is not None and wanted.status not in {row.status, row.reported}:
        return False
    words = (wanted.q or "").casefold().split()
    told = " ".join(filter(None, (row.title, row.id, row.agent_id, row.workspace))).casefold()
    return all(word in told for word in words)


class NewSession(Body, frozen=True, kw_only=True):
    """What a session is begun with."""

    message: str | None = None
    agent: str | None = None
    model: str | None = None
    workspace: str | None = None
    """Where it works; the server's own place by default."""
    runs_on: Label | None = None
    """The label of the workers of a cluster that run it; the agent's by default."""


async def begin_session(asked: Asked[Query, NewSession]) -> SessionRow:
    """Begin a session of an agent; with a message it runs at once."""
    wanted, house = asked.body, asked.house
    if wanted.message is not None and not wanted.message.strip():
        raise Problem(422, "the message is empty; say what the session is to do")
    async with house.at(wanted.workspace) as holdfast:
        agent = house.agent_called(wanted.agent)
        session = await holdfast.new_session(
            agent=agent, model=wanted.model, runs_on=wanted.runs_on
        )
        try:
            if wanted.message is not None:
                await session.send(wanted.message)
            else:
                await session.questions()  # whoever asks a session anything has begun it
        finally:
            await session.close()
    await house.written(session.id)
    return await _row(house, session.id)


async def show_session(asked: Plain) -> SessionRow:
    """A session as it stands."""
    return await _row(asked.house, asked.names["id"])


async def delete_session(asked: Plain) -> None:
    """Take a session away, with all that was written down of it. Not while somebody runs it."""
    name = asked.names["id"]
    left = await session_store.delete_session(asked.house.store, name, asked.house.around)
    asked.house.home.forget(name)
    asked.house.pulse.look(name)
    if left is not None:
        raise Problem(503, left)


class Message(Body, frozen=True, kw_only=True):
    """What is said."""

    message: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """It was written down."""

    sequence: int
    event_id: str


async def say(asked: Asked[Query, Message]) -> Said:
    """Say something to a session; it runs, or the run under way takes it into account."""
    house, name = asked.house, asked.names["id"]
    refuse_unspoken(house, await house.journal.session(name))
    event = await ingress.send_message(house.journal, name, asked.body.message, house.redactor)
    await house.written(name)
    return Said(sequence=event.sequence, event_id=event.id)


class Interrupt(Body, frozen=True, kw_only=True):
    """What is to be stopped."""

    note: str | None = None
    """What to do instead."""
    only_calls: bool = False
    """Stop the calls that run now, and let the agent go on."""


class Did(msgspec.Struct, frozen=True, kw_only=True):
    """Whether there was anything to do."""

    did: bool


async def interrupt(asked: Asked[Query, Interrupt]) -> Did:
    """Stop what runs, is blocked or scheduled; or only the calls that run now."""
    house, name = asked.house, asked.names["id"]
    session = await house.journal.session(name)
    refuse_single_calls(house, session)
    if not asked.body.only_calls:
        await ingress.interrupt(house.journal, name, house.redactor, asked.body.note)
        await house.written(name)
        return Did(did=True)
    lease = session.lease
    if lease is None:
        return Did(did=False)
    try:
        async with owner_of(name, lease.holder, house.around) as owner:
            return Did(did=await owner.interrupt_call(name))
    except NoSocket:
        return Did(did=False)
    except (Unreachable, RefusedRequest) as problem:
        raise Problem(409, f"whoever runs it does not answer: {problem}") from None


async def resume(asked: Plain) -> Did:
    """Have a session go on that stopped in the middle: after a crash, a limit or an interrupt."""
    house, name = asked.house, asked.names["id"]
    refuse_unspoken(house, await house.journal.session(name))
    wanted = ingress.LaterRun(
        due_at=house.clock.now(), reason="resumed by a person", dedupe_key="resume", priority="high"
    )
    ids = house.opened.runner.parts.ids
    await ingress.queue_wake(house.journal, name, wanted, ids, house.redactor)
    await house.written(name)
    return Did(did=True)


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """An event that somebody sent, and what was made right in it."""

    type: str
    repairs: tuple[Repair, ...]


_SPOKEN = ("user.message", "user.define_outcome")
"""Words that nobody hears but an agent that may be spoken to."""


class AnyWord(Body, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Any word of a person, as an event on the wire."""

    type: str


async def send_word(asked: Asked[Query, AnyWord]) -> Word:
    """Give a session any word of a person: a message, an interrupt, an outcome, a result."""
    house, name = asked.house, asked.names["id"]
    if asked.body.type in _SPOKEN:
        refuse_unspoken(house, await house.journal.session(name))
    sent: JsonObject = msgspec.json.decode(await asked.request.body())
    read = await take_user_event(house.journal, name, sent, house.redactor)
    await house.written(name)
    return Word(type=asked.body.type, repairs=read.repairs)


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """A session, and those below it."""

    session: SessionRow
    children: list["Tree"]


class TreeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """From the top one downwards."""

    here: str
    tree: Tree


_DEEPEST = 8


async def show_tree(asked: Plain) -> TreeAnswer:
    """The sessions that work together: from the one at the top to all below it."""
    house, name = asked.house, asked.names["id"]
    top = await house.journal.session(name)
    seen = {top.id}
    while (parent := top.state.parent_id) is not None and parent not in seen:
        seen.add(parent)
        try:
            top = await house.journal.session(parent)
        except UnknownSession:
            break  # it was taken away
    return TreeAnswer(here=name, tree=await _tree(house, top, 0))


async def _tree(house: House, session: Session, depth: int) -> Tree:
    below: list[Tree] = []
    if depth < _DEEPEST:
        query = SessionQuery(parent_id=session.id, limit=MOST_ROWS)
        found = sorted(await house.archive.sessions(query), key=lambda one: one.created_at)
        below = [await _tree(house, one, depth + 1) for one in found if one.id != session.id]
    return Tree(session=row_of(session, house.clock), children=below)


async def _row(house: House, name: str) -> SessionRow:
    return row_of(await house.journal.session(name), house.clock)


ROUTES = (
    Route(
        method="GET",
        path="/sessions",
        name="list_sessions",
        says="The sessions of this home, the last active first.",
        answer=list_sessions,
        query=SessionsAsked,
        gives=SessionList,
    ),
    Route(
        method="POST",
        path="/sessions",
        name="begin_session",
        says="Begin a session of an agent; with a message it runs at once.",
        answer=begin_session,
        body=NewSession,
        gives=SessionRow,
        status=201,
        fails=(409, 503),
    ),
    Route(
        method="GET",
        path="/sessions/{id}",
        name="show_session",
        says="A session as it stands.",
        answer=show_session,
        gives=SessionRow,
        fails=(404,),
    ),
    Route(
        method="DELETE",
        path="/sessions/{id}",
        name="delete_session",
        says="Take a session away, with all that was written down of it.",
        answer=delete_session,
        status=204,
        fails=(404, 409, 503),
    ),
    Route(
        method="POST",
        path="/sessions/{id}/messages",
        name="say",
        says="Say something to a session.",
        answer=say,
        body=Message,
        gives=Said,
        status=202,
        fails=(404, 409),
    ),
    Route(
        method="POST",
        path="/sessions/{id}/events",
        name="send_word",
        says="Give a session any word of a person, as an event.",
        answer=send_word,
        body=AnyWord,
        gives=Word,
        status=202,
        fails=(404, 409),
    ),
    Route(
        method="POST",
        path="/sessions/{id}/interrupt",
        name="interrupt",
        says="Stop what runs, is blocked or scheduled; or only the calls that run now.",
        answer=interrupt,
        body=Interrupt,
        gives=Did,
        status=202,
        fails=(404, 409, 503),
    ),
    Route(
        method="POST",
        path="/sessions/{id}/resume",
        name="resume",
        says="Have a session go on that stopped in the middle.",
        answer=resume,
        gives=Did,
        status=202,
        fails=(404, 409),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/tree",
        name="show_tree",
        says="The sessions that work together, from the one at the top.",
        answer=show_tree,
        gives=TreeAnswer,
        fails=(404,),
    ),
)
