"""`holdfast sessions watch`: a session as it happens, wherever it runs on this machine.

Exit status: 0 it rests, 1 its program is gone in the middle, 4 it waits for a person.
"""

from argparse import Namespace
from collections.abc import Callable
from contextlib import aclosing

from holdfast.app.control.following import Followed, Following, Lost, Missed, rests
from holdfast.app.session_store import runner_of
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.telling import told_json
from holdfast.contract.events import Event, SpanStarted
from holdfast.contract.journal import EventQuery, Journal, Session
from holdfast.contract.json_value import encode_json
from holdfast.contract.session_state import Runner, is_left, reported
from holdfast.execution.drive import PlainTasks
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.commands_print import CommandSigns
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import settings_in, store_in
from holdfast.surfaces.cli.taking_up import left_words
from holdfast.surfaces.cli.watched import Watched

_GONE, _WAITS = 1, 4
_RECENT = 50
_ENDING_SECONDS = 5.0
_WAITING = frozenset({"waiting_on_approval", "waiting_on_user_input"})


async def watch(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    around = surroundings_of_this_process(settings_in(arguments))
    async with store_in(arguments) as store:
        journal = store.journal
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        session = await journal.session(session_id)
        runner = runner_of(session.lease, SystemClock())
        if not rests(session, runner) or reported(session.state, runner) in _WAITING:
            after = await _before_the_run(journal, session)
        else:
            after = session.sequence
            if not arguments.follow and not is_left(session.state, runner):
                screen.remark(f"session {session_id} rests; --follow waits for what comes")
        following = Following(session_id, journal, around, after)
        show = _told_lines(screen) if arguments.json else _shown(session_id, arguments, screen)
        tasks = PlainTasks()
        signs = CommandSigns(session_id, journal, around, show)
        tasks.begin(signs())
        try:
            async with aclosing(following(stays=arguments.follow)) as told:
                async for one in told:
                    show(one)
                    signs.note(one)
        finally:
            await tasks.end(_ENDING_SECONDS)
        return _status(await journal.session(session_id), following.runner, screen)


def _shown(session_id: str, arguments: Namespace, screen: Screen) -> Callable[[Followed], None]:
    return Watched(session_id, screen, full=arguments.full).show


def _told_lines(screen: Screen) -> Callable[[Followed], None]:
    def show(one: Followed) -> None:
        screen.raw(_line(one).decode())
        screen.show_now()

    return show


async def _before_the_run(journal: Journal, session: Session) -> int:
    """The number of the last event before the run that is under way, or waits for somebody."""
    query = EventQuery(types=("span.started",), limit=_RECENT)
    found = [one.sequence for one in await journal.find(session.id, query) if _is_wake(one)]
    return found[-1] - 1 if found else 0


def _is_wake(event: Event) -> bool:
    return isinstance(event.payload, SpanStarted) and event.payload.span_kind == "wake"


def _line(one: Followed) -> bytes:
    match one:
        case Missed(count):
            return encode_json({"type": "watch.missed", "count": count})
        case Lost(why):
            return encode_json({"type": "watch.lost", "why": why})
        case _:
            return told_json(one)


def _status(session: Session, runner: Runner, screen: Screen) -> int:
    if is_left(session.state, runner):
        screen.remark(f"session {session.id}: {left_words([session])}")
        return _GONE
    return _WAITS if reported(session.state, runner) in _WAITING else 0
