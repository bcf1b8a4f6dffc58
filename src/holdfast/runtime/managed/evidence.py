"""What the events of a session show of its outcome: texts that tell of what was done, and how its
newest run went.

A tool that reads the runtime's own records tells what is known already, the outcome among it: its
answers show nothing. Only what happened since the outcome was defined counts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    Event,
    OutcomeDefined,
    Payload,
    SpanCompleted,
    StatusChanged,
    StatusIdle,
    StopReason,
    WantedOutcome,
)
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.outcomes import Evidence, LastWake
from holdfast.contract.tool import Effect

KNOWN_ALREADY: frozenset[Effect] = frozenset(
    {"session_read", "memory_read", "learning_read", "skill_read"}
)
"""Effects of tools that tell what is written down here."""
NOTES = frozenset({"memory_write"})
"""Tools whose text is a note of the model."""
LONGEST = 20_000
"""Characters of one text that are looked at: its beginning."""
_DEEPEST = 20
_RUNS_ON: dict[str, StopReason] = {
    "rescheduling": "rescheduling",
    "requires_action": "requires_action",
}

ShowsWork = Callable[[str], bool]
"""Whether the answers of a tool may show that something was done, by its name."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's events say about its outcome."""

    outcome: WantedOutcome | None = None
    outcome_event_id: str | None = None
    evidence: tuple[Evidence, ...] = ()
    last_wake_id: str | None = None
    """Of the newest run that has ended."""
    last_wake: LastWake = LastWake()
    stop_reason: StopReason = "idle"
    """Why that run stopped."""


class _Answer(msgspec.Struct):
    """What an envelope says, as far as it matters here."""

    ok: bool = False
    result: JsonValue = None


_read_answer = msgspec.json.Decoder(_Answer).decode
_read_arguments = msgspec.json.Decoder(dict[str, JsonValue]).decode


def told(events: Sequence[Event], shows_work: ShowsWork) -> Told:
    """What they say, the newest outcome first."""
    since = _newest_outcome(events)
    defined = None if since is None else events[since]
    ended = _newest_end(events)
    wake_id = None if ended is None else ended.wake_id
    run = [one.payload for one in events if wake_id is not None and one.wake_id == wake_id]
    return Told(
        outcome=None if defined is None else _outcome(defined.payload),
        outcome_event_id=None if defined is None else defined.id,
        evidence=tuple(_evidence(events[since:], shows_work)) if since is not None else (),
        last_wake_id=wake_id,
        last_wake=_last_wake(run),
        stop_reason=_stop_reason(run),
    )


def texts(value: JsonValue, deep: int = 0) -> Iterator[str]:
    """The texts inside of a result, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and deep < _DEEPEST:
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one, deep + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _newest_outcome(events: Sequence[Event]) -> int | None:
    for place in range(len(events) - 1, -1, -1):
        if isinstance(events[place].payload, OutcomeDefined):
            return place
    return None


def _outcome(said: Payload) -> WantedOutcome | None:
    return said.outcome if isinstance(said, OutcomeDefined) else None


def _newest_end(events: Iterable[Event]) -> Event | None:
    found = None
    for event in events:
        said = event.payload
        if isinstance(said, SpanCompleted) and said.span_kind == "wake":
            found = event
    return found


def _evidence(events: Sequence[Event], shows_work: ShowsWork) -> Iterator[Evidence]:
    asked: dict[str, CallAsked] = {}
    last: Event | None = None
    for event in events:
        said = event.payload
        if isinstance(said, CallAsked):
            asked[said.call_id] = said
        elif isinstance(said, CallSettled):
            yield from _of_call(event, said, asked.pop(said.call_id, None), shows_work)
        elif isinstance(said, AgentMessage):
            last = event
            if said.message:
                yield Evidence(kind="message", text=said.message[:LONGEST], event_id=event.id)
    if last is not None and isinstance(last.payload, AgentMessage) and last.payload.summary:
        summary = last.payload.summary[:LONGEST]
        yield Evidence(kind="summary", text=summary, event_id=last.id)


def _of_call(
    event: Event, said: CallSettled, asked: CallAsked | None, shows_work: ShowsWork
) -> Iterator[Evidence]:
    """What a call that worked shows: the note that it kept, or what it answered."""
    try:
        answer = _read_answer(said.envelope)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return
    if not answer.ok:
        return
    if said.tool in NOTES:
        note = None if asked is None else _arguments(asked).get("content")
        if isinstance(note, str) and note.strip():
            yield Evidence(kind="note", text=note[:LONGEST], event_id=event.id)
    elif shows_work(said.tool) and (text := "\n".join(texts(answer.result)).strip()):
        yield Evidence(kind="output", text=text[:LONGEST], event_id=event.id)


def _arguments(asked: CallAsked) -> JsonObject:
    try:
        return _read_arguments(asked.arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def _last_wake(run: Sequence[Payload]) -> LastWake:
    spans = [one for one in run if isinstance(one, SpanCompleted)]
    rests = [one for one in run if isinstance(one, StatusIdle)]
    messages = [one for one in run if isinstance(one, AgentMessage)]
    return LastWake(
        failed_tools=tuple(
            one.name for one in spans if one.span_kind == "tool" and one.result == "error"
        ),
        succeeded=any(one.span_kind == "wake" and one.result == "success" for one in spans),
        came_to_rest=bool(rests) and rests[-1].reason == "idle",
        has_summary=bool(messages) and bool(messages[-1].summary.strip()),
    )


def _stop_reason(run: Sequence[Payload]) -> StopReason:
    """Why a run stopped: the last that it said of it."""
    for one in reversed(run):
        if isinstance(one, StatusIdle):
            return "requires_action" if one.reason == "requires_action" else "idle"
        if isinstance(one, StatusChanged) and one.to_status in _RUNS_ON:
            return _RUNS_ON[one.to_status]
    return "idle"
