"""`holdfast replay`: tell a recorded session again; with --strict, hold its calls against what is
now; with --run, run its agent once more over what was recorded.

No process is started, no network reached and no tool run, whatever the recording says. Exit status:
0 it was told, or nothing diverges; 1 something does, or it cannot be read.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence

import anyio
import msgspec

from holdfast.app import session_store
from holdfast.app.configuration import load_configuration
from holdfast.app.replaying import recording
from holdfast.app.settings import Settings
from holdfast.contract.archive import LAST
from holdfast.contract.events import CallSettled, Event
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.execution.no_effects import no_effects
from holdfast.record.live import LiveStream
from holdfast.record.stream import DONE, AnyChunk, server_sent, text_of
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.parsing import (
    Parser,
    UsageError,
    add_overrides,
    add_tool_files,
    overrides_in,
)
from holdfast.surfaces.cli.retelling import Retelling
from holdfast.surfaces.cli.run_replay import run_once_more
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import with_a_store
from holdfast.surfaces.cli.strict_replay import held_against_now

_FAILED = 1
_EXAMPLES = """\
examples:
  holdfast replay last                  the last session, for people
  holdfast replay ses_019 --json        its chunks, one JSON object a line
  holdfast replay last --sse            as a server would send them
  holdfast replay last --speed 1        as fast as it was; 2 is twice as fast
  holdfast replay last --start 12       from the message on that event 12 is part of
  holdfast replay last --strict --from mine.py
                                        would the same be written down now?
  holdfast replay last --run            does its agent's run come out again, byte for byte?
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("session", metavar="SESSION", help="the id, its beginning, or last")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    parser.add_argument("--sse", action="store_true", help="server-sent events")
    parser.add_argument("--speed", metavar="N", help="with its pauses, N times as fast; 0: at once")
    parser.add_argument(
        "--start", dest="first", metavar="EVENT", help="begin with the message it is part of"
    )
    parser.add_argument(
        "--strict", action="store_true", help="settle its calls once more, and name what differs"
    )
    parser.add_argument(
        "--run", action="store_true", help="run its agent once more, and name what differs"
    )
    add_tool_files(parser, "strict: ")
    parser.add_argument(
        "--workspace", metavar="DIR", help="strict: read configuration here; where it ran if not"
    )
    add_overrides(parser)
    parser.offer("session", [LAST])
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    _check(arguments)
    speed = _speed(arguments.speed)
    try:
        loaded = load_configuration(None, overrides=overrides_in(arguments))
        events = anyio.run(_events, with_a_store(loaded.settings), arguments)
        with no_effects(everywhere=True):  # from here on this process does nothing else
            if arguments.strict:
                return held_against_now(events, arguments, screen)
            if arguments.run:
                return run_once_more(events, loaded.settings, arguments, screen)
            first = _place(events, arguments.first)
            anyio.run(tell, events, first, speed, _teller(arguments, events, screen))
    except UnknownSession as problem:
        raise UsageError(str(problem)) from None
    except JournalError as problem:
        screen.remark(str(problem))
        return _FAILED
    if arguments.sse:
        screen.raw(server_sent(DONE))
    return 0


def _check(arguments: Namespace) -> None:
    if arguments.json and arguments.sse:
        raise UsageError("--json and --sse are two forms of the same; give one of them")
    if arguments.strict and arguments.run:
        raise UsageError("--strict is about calls and --run about a whole run; give one of them")
    if (arguments.strict or arguments.run) and (
        arguments.sse or arguments.speed or arguments.first
    ):
        word = "--strict" if arguments.strict else "--run"
        raise UsageError(f"{word} tells nothing; leave --sse, --speed and --start out")
    if not arguments.strict and (arguments.files or arguments.workspace):
        raise UsageError("--from and --workspace are for --strict; without it nothing is loaded")


def _speed(given: str | None) -> float:
    try:
        speed = 0.0 if given is None else float(given)
    except ValueError:
        speed = -1.0
    if not 0 <= speed < float("inf"):
        raise UsageError(f"--speed {given}: it is no speed; give 0 for at once, 1 for as it was")
    return speed


async def _events(settings: Settings, arguments: Namespace) -> tuple[Event, ...]:
    async with session_store.opened_store(settings) as store:
        session_id = await session_meant(store.archive, arguments.session, arguments)
        return await recording(store.journal, store.archive, session_id)


def _place(events: Sequence[Event], wanted: str | None) -> int:
    """The number of the first event that is told."""
    if wanted is None:
        return 1
    found = [one.sequence for one in events if wanted in (one.id, str(one.sequence))]
    if not found:
        raise UsageError(
            f"--start {wanted}: the session has no such event; give an id, or a number from 1 to"
            f" {len(events)}"
        )
    return found[0]


def _teller(
    arguments: Namespace, events: Sequence[Event], screen: Screen
) -> Callable[[AnyChunk], None]:
    def told(form: Callable[[str], str]) -> Callable[[AnyChunk], None]:
        return lambda chunk: screen.raw(form(text_of(chunk)))

    if arguments.sse:
        return told(server_sent)
    return told(str) if arguments.json else Retelling(screen.look, _refusals(events)).show


class _Failed(msgspec.Struct):
    """What an envelope says of a failure."""

    message: str | None = None


def _refusals(events: Sequence[Event]) -> dict[str, str]:
    """What was answered to calls that failed, by their ids."""
    ends = (one.payload for one in events if isinstance(one.payload, CallSettled))
    said = {one.call_id: msgspec.json.decode(one.envelope, type=_Failed).message for one in ends}
    return {call_id: message for call_id, message in said.items() if message}


async def tell(
    events: Sequence[Event], first: int, speed: float, show: Callable[[AnyChunk], None]
) -> None:
    """Show what events say, from one of them on, with pauses unless the speed is 0."""
    if not events:
        return
    stream = LiveStream(events[0].session_id)
    before = None
    for event in events:
        if event.sequence < first:
            stream.skip(event)
            continue
        if before is not None and speed:
            await anyio.sleep(max(0.0, (event.at - before).total_seconds() / speed))
        before = event.at
        for chunk in stream.told(event):
            show(chunk)
    for chunk in stream.ended():
        show(chunk)
