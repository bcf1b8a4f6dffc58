"""`holdfast sessions trace`: what took how long, inside of what, wake by wake."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from holdfast.app.session_files import all_events
from holdfast.contract.events import Event, SpanResult
from holdfast.contract.json_value import JsonObject
from holdfast.record.export import moment_text
from holdfast.record.traces import Span, nested, trace
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import Line, Status
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import cut, shown_time
from holdfast.surfaces.cli.stores import store_in

_NAME_CHARACTERS = 80
_WORDS_CHARACTERS = 120
_STATUSES: dict[SpanResult | None, Status] = {
    "success": "OK",
    "blocked": "WARN",
    "error": "FAIL",
    None: "WARN",
}


async def show_trace(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    wanted: str | None = arguments.wake
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        session = await store.journal.session(session_id)
        events = [event async for page in all_events(store, session) for event in page]
    wakes = _wakes(events)
    if wanted is not None and wanted not in wakes:
        raise no_such_wake(wanted, session_id, wakes)
    shown = {wake: spans for wake, spans in wakes.items() if wanted in (None, wake)}
    if arguments.json:
        told = [
            {"wake_id": wake, "spans": [_plain(one) for one in spans]}
            for wake, spans in shown.items()
        ]
        screen.document({"session": session_id, "wakes": told})
    elif any(shown.values()):
        screen.look.outline([line for wake in shown for line in _lines(wake, shown[wake])])
    else:
        screen.look.text("Nothing took time yet.")
    return 0


def no_such_wake(wanted: str, session_id: str, known: Iterable[str | None]) -> UsageError:
    """What to say of a wake that a session does not have."""
    there = ", ".join(wake for wake in known if wake is not None) or "none"
    return UsageError(f"--wake {wanted}: session {session_id} has no such wake; it has {there}")


def _wakes(events: Sequence[Event]) -> dict[str | None, list[Span]]:
    """The spans by the wake they began in, in the order they did; those of none have no name."""
    found: dict[str | None, list[Span]] = {event.wake_id: [] for event in events}
    for span in trace(events):
        found[span.wake_id].append(span)
    return {wake: spans for wake, spans in found.items() if wake is not None or spans}


def _lines(wake: str | None, spans: Sequence[Span]) -> Iterator[Line]:
    own = next((span for span in spans if span.kind == "wake" and span.id == wake), None)
    name = "outside of a wake" if wake is None else f"wake {cut(wake, _NAME_CHARACTERS)}"
    began = f"  {shown_time(spans[0].started_at)} UTC" if spans else ""
    ended = "" if own is None else f"  {_ending(own)}"
    yield Line(0, f"{name}{began}{ended}", "OK" if own is None else _STATUSES[own.result])
    deeper = 0
    for depth, span in nested(spans):
        if depth == 0:
            deeper = 0 if span is own else 1
        if span is not own:
            yield Line(depth + deeper, _text(span), _STATUSES[span.result])


def _text(span: Span) -> str:
    told = span.attributes
    if span.kind == "permission.evaluate":
        return cut(f"{told.get('action')}: {told.get('source')}", _WORDS_CHARACTERS)
    error = told.get("error")
    why = f": {cut(str(error), _WORDS_CHARACTERS)}" if error else ""
    was_cut = ", truncated" if told.get("truncated") else ""
    return f"{cut(span.name, _NAME_CHARACTERS)}  {_ending(span)}{was_cut}{why}"


def _ending(span: Span) -> str:
    """How it ended, and how long that took."""
    if span.ended_at is None:
        return "has no end"
    return f"{span.result}, {(span.ended_at - span.started_at).total_seconds():.3f} s"


def _plain(span: Span) -> JsonObject:
    told: JsonObject = msgspec.structs.asdict(span)
    took = None if span.ended_at is None else (span.ended_at - span.started_at).total_seconds()
    return {
        **told,
        "started_at": moment_text(span.started_at),
        "ended_at": None if span.ended_at is None else moment_text(span.ended_at),
        "duration_ms": None if took is None else round(took * 1000, 3),
    }
