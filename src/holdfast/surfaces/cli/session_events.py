"""`holdfast sessions events`: what happened in a session, a line each; also as it happens."""

import re
from argparse import Namespace
from collections.abc import AsyncIterator
from typing import NamedTuple

import anyio
import msgspec

from holdfast.app import session_store
from holdfast.app.session_files import all_events
from holdfast.app.spelling import advice
from holdfast.contract.event_kinds import KINDS
from holdfast.contract.events import CallSettled, Event, Payload
from holdfast.contract.journal import EventQuery, Journal, Session
from holdfast.record.export import event_line
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.narrow import end_cut, narrowed, short_time
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.session_list import WIDE, count_in, cut
from holdfast.surfaces.cli.session_trace import no_such_wake
from holdfast.surfaces.cli.stores import store_in
from holdfast.surfaces.cli.taking_up import left_words

LOOK_SECONDS = 0.2
"""How often somebody who follows is shown what is new."""

QUIET_SECONDS = 2.0
"""How long nothing is new before somebody who follows hears that nobody runs the session."""

_AROUND = 10
_SAID_CHARACTERS = 100
_TYPE_COLUMN = 24
TYPES = tuple(str(kind.__struct_config__.tag) for kind in KINDS)
"""What events can be."""
_PLAIN = re.compile(r"[\w./:@-]+")
"""A text that needs no quotes."""
_HEADINGS = ("EVENT", "TIME (UTC)", "TYPE", "WHAT")


class _Form(NamedTuple):
    """How an event is shown."""

    as_json: bool
    full: bool
    """All that it says, on one line however long."""
    width: int | None
    """Of the screen; None: there is no end to it."""

    @property
    def is_narrow(self) -> bool:
        """Whether the day and the milliseconds have no room."""
        return self.width is not None and self.width < WIDE and not self.full


class _Wanted(NamedTuple):
    """Which events are shown, whatever their place."""

    types: tuple[str, ...]
    wake_id: str | None
    pending: bool

    def fits(self, event: Event) -> bool:
        """Whether it is shown."""
        return (
            (not self.types or event.type in self.types)
            and self.wake_id in (None, event.wake_id)
            and not (self.pending and event.processed_at is not None)
        )


async def show_events(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    wanted = _wanted(arguments)
    form = _Form(arguments.json, arguments.full, screen.look.width)
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        head = await store.journal.session(session_id)
        if wanted.wake_id is not None and not arguments.follow:
            await _check_wake(store, head, wanted.wake_id)
        query = await _query(arguments, wanted, store.journal, session_id, head.sequence)
        found = await store.journal.find(session_id, query)
        _show(found, screen, form, follow=arguments.follow)
        if arguments.follow and head.state.status != "terminated":
            shown = found[-1].sequence if found else 0
            async for event in _new_events(store.journal, session_id, head.sequence, screen):
                if event.sequence > shown and wanted.fits(event):
                    screen.raw(_line(event, form))
    return 0


def _wanted(arguments: Namespace) -> _Wanted:
    types: list[str] = arguments.types or []
    for one in types:
        if one not in TYPES:
            raise UsageError(f"--type {one}: there is no such event; {advice(one, TYPES)}")
    if arguments.around is None and (arguments.before_limit or arguments.after_limit):
        raise UsageError("--before-limit and --after-limit are for --around EVENT; give that, too")
    if arguments.around is not None and (arguments.after or arguments.before):
        raise UsageError("give either --around or --after and --before, not both")
    if arguments.around is not None and arguments.limit is not None:
        raise UsageError("--around is bounded by --before-limit and --after-limit; not by --limit")
    if arguments.follow and (arguments.around is not None or arguments.before is not None):
        raise UsageError("--follow has no end: leave --before and --around out")
    return _Wanted(tuple(types), arguments.wake, arguments.pending)


async def _check_wake(store: Store, session: Session, wake_id: str) -> None:
    one = EventQuery(wake_id=wake_id, limit=1)
    if not await store.journal.find(session.id, one):
        pages = all_events(store, session)
        known = dict.fromkeys([event.wake_id async for page in pages for event in page])
        raise no_such_wake(wake_id, session.id, known)


async def _query(
    arguments: Namespace, wanted: _Wanted, journal: Journal, session_id: str, events: int
) -> EventQuery:
    async def known(option: str, given: str | None) -> str | None:
        if given is None:
            return None
        found = await _event_id(journal, session_id, given)
        if found is None:
            raise UsageError(
                f"--{option} {given}: session {session_id} has no such event; see: holdfast"
                f" sessions events {session_id}"
            )
        return found

    return EventQuery(
        after=await known("after", arguments.after),
        before=await known("before", arguments.before),
        around=await known("around", arguments.around),
        before_limit=_neighbours(arguments.before_limit, "--before-limit"),
        after_limit=_neighbours(arguments.after_limit, "--after-limit"),
        types=wanted.types,
        wake_id=wanted.wake_id,
        processed=False if wanted.pending else None,
        limit=count_in(arguments.limit, "--limit") or max(events, 1),
    )


def _neighbours(given: str | None, option: str) -> int:
    if given == "0":
        return 0
    found = count_in(given, option)
    return _AROUND if found is None else found


async def _event_id(journal: Journal, session_id: str, given: str) -> str | None:
    """The event of an id or a number; None: there is none."""
    if given.isascii() and given.isdigit():
        if len(given) > 9 or not int(given):
            return None
        found = await journal.events(session_id, after=int(given) - 1, limit=1)
        return found[0].id if found else None
    alone = EventQuery(around=given, before_limit=0, after_limit=0, limit=1)
    found = await journal.find(session_id, alone)
    return given if found and found[0].id == given else None


async def _new_events(
    journal: Journal, session_id: str, after: int, screen: Screen
) -> AsyncIterator[Event]:
    """What is new, until the session is closed; UnknownSession when it is deleted."""
    clock = SystemClock()
    heard, told = clock.ticks(), False
    while True:
        page = await journal.events(session_id, after=after)
        for event in page:
            yield event
        if page:
            after, heard = page[-1].sequence, clock.ticks()
        else:
            session = await journal.session(session_id)
            if session.state.status == "terminated" and session.sequence == after:
                return
            quiet = clock.ticks() - heard > QUIET_SECONDS * 1e9
            if quiet and not told and session_store.runner_of(session.lease, clock) == "gone":
                told = True
                left = left_words([session])
                screen.remark(f"nothing new: {left}; what happens then is shown")
        screen.show_now()
        await anyio.sleep(LOOK_SECONDS)


def _show(found: tuple[Event, ...], screen: Screen, form: _Form, *, follow: bool) -> None:
    if form.as_json or follow:
        for event in found:
            screen.raw(_line(event, form))
    elif found:
        width = form.width if form.is_narrow else None
        rows = [_row(event, form) for event in found]
        screen.look.table(*narrowed(_HEADINGS, rows, width, ()))
    else:
        screen.look.text("No event fits.")


def _line(event: Event, form: _Form) -> str:
    if form.as_json:
        return event_line(event).decode()
    number, time, kind, said = _row(event, form)
    line = f"{number:>5}  {time}  {kind:{_TYPE_COLUMN}}  {said}"
    return end_cut(line, form.width) if form.is_narrow and form.width else line


def _row(event: Event, form: _Form) -> tuple[str, ...]:
    waits = "waits: " if event.processed_at is None else ""
    time = f"{event.at:%Y-%m-%d %H:%M:%S}.{event.at.microsecond // 1000:03}"
    if form.is_narrow:
        time = short_time(event.at, SystemClock().now())
    fields = event.payload.fields() if form.full else _chosen(event.payload)
    said = _said(fields) if form.full else cut(_said(fields), _SAID_CHARACTERS)
    return (str(event.sequence), time, printable(event.type), one_line(f"{waits}{said}"))


def _chosen(payload: Payload) -> dict[str, object]:
    """Its fields; of a call that was settled what it brought: its envelope ends with that."""
    if not isinstance(payload, CallSettled):
        return payload.fields()
    told: dict[str, object] = msgspec.json.decode(payload.envelope, type=dict[str, object])
    brought = {name: told.get(name) for name in ("kind", "message")}
    if "result" in told:
        brought = {"result": msgspec.Raw(msgspec.json.encode(told["result"]))}
    return {"tool": payload.tool, **brought, "call_id": payload.call_id}


def _said(fields: dict[str, object]) -> str:
    """What the fields say, those that say anything."""
    told = ((name, value) for name, value in fields.items() if value not in (None, (), {}, ""))
    return " ".join(f"{name}={_short(value)}" for name, value in told)


def _short(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return msgspec.json.encode(value).decode()
