"""`holdfast sessions list` and `search`: which sessions there are, and where words stand."""

from argparse import Namespace
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePath
from typing import get_args

import msgspec

from holdfast.app import session_store
from holdfast.contract.archive import Found, SessionQuery
from holdfast.contract.events import CallAsked
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.json_value import JsonObject
from holdfast.contract.session_state import ReportedStatus, Runner, is_left, reported
from holdfast.contract.truncate import cut_text
from holdfast.record.codec import UnreadableEvent
from holdfast.record.export import moment_text, session_document
from holdfast.record.store import Store
from holdfast.record.words import phrases_of
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.narrow import narrowed, short_time
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.stores import store_in
from holdfast.surfaces.cli.taking_up import left_words

CLOSED = "terminated"
LEFT = "left"
"""Its program ended in the middle of something, and nobody is asked anything."""
STATUSES = (*get_args(ReportedStatus), LEFT, CLOSED)
_ASKS = frozenset({"waiting_on_approval", "waiting_on_user_input"})

_ALL = 2**31
_MOST_LISTED = 100
_MOST_FOUND = 20
_MOST_NAMED = 3
_FIRST_EVENTS = 4
_TITLE_CHARACTERS = 50
_DROPPED_FIRST = ("OPEN CALLS", "EVENTS", "AGENT")
WIDE = 130
"""A screen of this many characters has room for everything."""
_NONE_YET = "There is no session yet."
_encode = msgspec.json.Encoder().encode


async def list_sessions(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    limit = count_in(arguments.limit, "--limit") or _MOST_LISTED
    found: list[Session] = []
    calls: dict[str, str] = {}
    nothing = _NONE_YET
    try:
        async with store_in(arguments) as store:
            found, nothing = await _sessions(arguments, store), "No session fits."
            if not arguments.json:
                calls = await _first_calls(store, found[:limit])
    except session_store.NothingStored:
        pass
    shown = found[:limit]
    if arguments.json:
        screen.document({"sessions": [summary(one) for one in shown]})
    elif shown:
        width = screen.look.width
        rows = [_row(one, calls.get(one.id), width) for one in shown]
        screen.look.table(*narrowed(_headings(width), rows, width, _DROPPED_FIRST))
    else:
        screen.look.text(nothing)
    if not arguments.json:
        _tell_left(shown, screen)
    if len(found) > limit:
        screen.remark(f"{len(found) - limit} more; give --limit {len(found)} to see all")
    return 0


async def _sessions(arguments: Namespace, store: Store) -> list[Session]:
    parent: str | None = arguments.parent
    if parent is not None:
        parent = await session_meant(store.archive, parent, arguments)
    query = SessionQuery(agent_id=arguments.agent, parent_id=parent, limit=_ALL)
    found = await store.archive.sessions(query)
    return [one for one in found if arguments.status in {None, *_statuses(one)}]


async def _first_calls(store: Store, sessions: list[Session]) -> dict[str, str]:
    """With which call sessions without a title began, by their ids.

    Only the first events are looked at, however many there are.
    """
    found: dict[str, str] = {}
    for session in sessions:
        if session.state.title is None:
            with suppress(JournalError, UnreadableEvent):  # listing it needs none of its events
                events = await store.journal.events(session.id, limit=_FIRST_EVENTS)
                said = (event.payload for event in events)
                asked = next((one for one in said if isinstance(one, CallAsked)), None)
                if asked is not None:
                    found[session.id] = f"{asked.tool} {asked.arguments}"
    return found


def _tell_left(shown: list[Session], screen: Screen) -> None:
    """Name those whose program ended in the middle of something, and say what to do."""
    left = [one for one in shown if is_left(one.state, _runner(one))]
    if left:
        names = ", ".join(printable(one.id) for one in left[:_MOST_NAMED])
        more = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
        screen.remark(f"{names}{more}: {left_words(left)}")


def status_of(session: Session) -> str:
    """What it is shown to be doing."""
    runner = _runner(session)
    found = reported(session.state, runner)
    return LEFT if is_left(session.state, runner) and found not in _ASKS else found


def _runner(session: Session) -> Runner:
    return session_store.runner_of(session.lease, SystemClock())


def _statuses(session: Session) -> tuple[str, ...]:
    """What it is shown as; a closed one is also found as such."""
    shown = status_of(session)
    return (shown, CLOSED) if session.state.status == CLOSED else (shown,)


def summary(session: Session) -> JsonObject:
    """A session for programs."""
    lease = session.lease
    return {
        **session_document(session),
        "reported": reported(session.state, _runner(session)),
        "left": is_left(session.state, _runner(session)),
        "open_calls": len(session.state.calls),
        "runner": _runner(session),
        "lease": None if lease is None else {"holder": lease.holder, "epoch": lease.epoch},
    }


def _headings(width: int | None) -> tuple[str, ...]:
    time = "LAST ACTIVE (UTC)" if width is None or width >= WIDE else "ACTIVE"
    return ("SESSION", "AGENT", "STATUS", time, "EVENTS", "OPEN CALLS", "TITLE")


def _title(session: Session, call: str | None) -> str:
    """Its title; of one without where it worked, and on what first."""
    if session.state.title:
        return session.state.title
    folder = PurePath(session.state.workspace or "").name
    return ": ".join(filter(None, (folder, call))) or "-"


def _row(session: Session, call: str | None, width: int | None) -> tuple[str, ...]:
    state = session.state
    shown = (
        session.id,
        state.agent_id or "-",
        status_of(session),
        time_for(session.updated_at, width),
        f"{session.sequence:,}",
        str(len(state.calls)),
        cut(_title(session, call), _TITLE_CHARACTERS),
    )
    return tuple(map(printable, shown))


async def search(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    limit = count_in(arguments.limit, "--limit") or _MOST_FOUND
    words = " ".join(arguments.words)
    if not phrases_of(words):
        raise UsageError(f"{words!r} holds no word to search for; give letters or numbers")
    found: tuple[Found, ...] = ()
    nothing = _NONE_YET
    try:
        async with store_in(arguments) as store:
            nothing = "Nothing holds all these words."
            session_id: str | None = arguments.session
            if session_id is not None:
                session_id = await session_meant(store.archive, session_id, arguments)
            found = await store.archive.search(words, session_id=session_id, limit=limit)
    except session_store.NothingStored:
        if arguments.session is not None:
            raise
    if arguments.json:
        for one in found:
            screen.raw(_encode({**msgspec.structs.asdict(one), "at": moment_text(one.at)}).decode())
    elif found:
        screen.look.table(
            ("SESSION", "EVENT", "TIME (UTC)", "TYPE", "TEXT"), [_found_row(one) for one in found]
        )
    else:
        screen.look.text(nothing)
    return 0


def _found_row(one: Found) -> tuple[str, ...]:
    shown = (one.session_id, str(one.sequence), shown_time(one.at), one.type)
    return (*map(printable, shown), one_line(one.excerpt))


def shown_time(moment: datetime) -> str:
    """A moment for people, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def time_for(moment: datetime, width: int | None) -> str:
    """A moment for people, short on a narrow screen."""
    if width is None or width >= WIDE:
        return shown_time(moment)
    return short_time(moment, SystemClock().now())


def cut(text: str, characters: int) -> str:
    """A text on one line, no longer than this."""
    line = one_line(text)
    return cut_text(line, characters)


def count_in(given: str | None, option: str) -> int | None:
    """A number of something that was written after an option."""
    if given is None:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 9 or not int(given):
        raise UsageError(f"{option} {given}: give a number from 1 to 999999999")
    return int(given)
