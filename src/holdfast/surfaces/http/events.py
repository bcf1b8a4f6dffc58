"""What happened in a session: pages of events, its conversation, its calls, and a live stream."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from holdfast.app.telling import told_json
from holdfast.contract.archive import Message
from holdfast.contract.journal import MOST_EVENTS
from holdfast.surfaces.http.folded_calls import CallRow, calls_of
from holdfast.surfaces.http.live.frames import MEDIA, streamed
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Plain, Query, Route

Number = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
_Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_EVENTS)]
_AT_ONCE = 1_000


class EventsAsked(Query, frozen=True, kw_only=True):
    """Which of them."""

    after: Number = 0
    limit: _Limit = 500
    type: tuple[str, ...] = ()


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of them, in order."""

    events: list[msgspec.Raw]
    """As they are on the wire (docs/sessions.md)."""
    next: int | None
    """The number to go on behind; None: there is no more."""


async def list_events(asked: Asked[EventsAsked, Body]) -> EventPage:
    """The events behind a number, in order."""
    wanted, journal, name = asked.query, asked.house.journal, asked.names["id"]
    await journal.session(name)
    found: list[msgspec.Raw] = []
    after = wanted.after
    while True:
        page = await journal.events(name, after=after, limit=_AT_ONCE)
        for event in page:
            after = event.sequence
            if not wanted.type or event.type in wanted.type:
                found.append(msgspec.Raw(told_json(event)))
                if len(found) >= wanted.limit:
                    return EventPage(events=found, next=after)
        if len(page) < _AT_ONCE:
            return EventPage(events=found, next=None)


class StreamAsked(Query, frozen=True, kw_only=True):
    """From where on."""

    after: Number | None = None
    """Behind this event; `Last-Event-ID` says it, too. Without either: from the beginning."""
    live: bool = True
    """Also what is told while it happens, and kept nowhere."""


async def stream_events(asked: Asked[StreamAsked, Body]) -> Response:
    """What happens in a session, as it happens, until it is closed."""
    after = _after(asked.query, asked.request.headers.get("last-event-id"))
    feeds, name = asked.house.feeds, asked.names["id"]
    return streamed(await feeds.listen(name, after, live=asked.query.live))


def _after(query: StreamAsked, last: str | None) -> int:
    if last is None or last == "":
        return query.after or 0
    if not (last.isascii() and last.isdigit() and len(last) < 16):
        raise Problem(422, "Last-Event-ID is the number of an event")
    return int(last)


class ConversationAsked(Query, frozen=True, kw_only=True):
    """Which messages."""

    after: Annotated[int, msgspec.Meta(ge=-1, lt=2**53)] = -1
    limit: _Limit = 200


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """Messages with their parts."""

    messages: tuple[Message, ...]


async def list_messages(asked: Asked[ConversationAsked, Body]) -> Conversation:
    """The conversation: messages and their parts, as chats have them."""
    house, name = asked.house, asked.names["id"]
    await house.journal.session(name)
    found = await house.archive.messages(name, after=asked.query.after, limit=asked.query.limit)
    return Conversation(messages=found)


class CallsAsked(Query, frozen=True, kw_only=True):
    """Which calls."""

    after: Number = 0
    limit: _Limit = 200


class CallPage(msgspec.Struct, frozen=True, kw_only=True):
    """Calls in the order they were asked for."""

    calls: list[CallRow]
    next: int | None


async def list_calls(asked: Asked[CallsAsked, Body]) -> CallPage:
    """The calls of a session, each with what became of it."""
    journal, name = asked.house.journal, asked.names["id"]
    await journal.session(name)
    found = await calls_of(journal, name, after=asked.query.after, limit=asked.query.limit + 1)
    page = found[: asked.query.limit]
    more = len(found) > asked.query.limit
    return CallPage(calls=page, next=page[-1].sequence if more else None)


async def show_call(asked: Plain) -> CallRow:
    """One call, with what became of it."""
    journal, name, wanted = asked.house.journal, asked.names["id"], asked.names["call"]
    await journal.session(name)
    after = 0
    while page := await calls_of(journal, name, after=after, limit=_AT_ONCE):
        for call in page:
            if call.call_id == wanted:
                return call
        after = page[-1].sequence
    raise Problem(404, f"session {name} has no call {wanted}")


ROUTES = (
    Route(
        method="GET",
        path="/sessions/{id}/events",
        name="list_events",
        says="The events of a session behind a number, in order.",
        answer=list_events,
        query=EventsAsked,
        gives=EventPage,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/stream",
        name="stream_events",
        says="What happens in a session, as it happens; `Last-Event-ID` goes on behind an event.",
        answer=stream_events,
        query=StreamAsked,
        media=MEDIA,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/messages",
        name="list_messages",
        says="The conversation of a session.",
        answer=list_messages,
        query=ConversationAsked,
        gives=Conversation,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/calls",
        name="list_calls",
        says="The calls of a session, each with what became of it.",
        answer=list_calls,
        query=CallsAsked,
        gives=CallPage,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/calls/{call}",
        name="show_call",
        says="One call, with what became of it.",
        answer=show_call,
        gives=CallRow,
        fails=(404,),
    ),
)
