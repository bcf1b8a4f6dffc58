"""What the events of a session show of its outcome: texts that tell of what was done, and how its
newest run went.

A tool that reads the runtime's own records tells what is known already, the outcome among it: its
answers show nothing, and neither does what is read where these records are shown. Only what
happened since the outcome was defined counts.
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
from holdfast.contract.tool import Effect, Tool

KNOWN_ALREADY: frozenset[Effect] = frozenset(
    {"session_read", "memory_read", "learning_read", "skill_read"}
)
"""Effects of tools that tell what is written down here."""
TELLS_PLANS = frozenset(
    {"outcome_define", "todo", "session_delegate", "session_run_child", "task", "tool_search"}
)
"""Tools that tell again what the model means to do, what a session below says of itself, or which
tools there are."""
TOLD_BEFORE = frozenset(
    {
        *("shell_state", "persistent_shell", "last_command", "last_command_preview"),
        *("live_command", "busy_plan"),
    }
)
"""Parts of an answer that tell again how a shell stands, and what commands printed in it before:
whether these ended well is not told there."""
NOTES = frozenset({"memory_write", "memory_promote_note"})
"""Tools whose text is a note of the model."""
LONGEST = 20_000
"""Characters of one text that are looked at: its beginning."""
MOST = 2_000_000
"""Characters of all texts: the newest ones."""
_DEEPEST = 20
OVERRIDE = "require_outcome_pass"
"""The argument of tools that the outcome gates."""
_NOT_BEGUN = frozenset({"rejected", "user_denied", "timeout"})
_RUNS_ON: dict[str, StopReason] = {
    "rescheduling": "rescheduling",
    "requires_action": "requires_action",
}


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Whose answers count."""

    shows_work: Callable[[str], bool]
    """Whether those of a tool may show that something was done, by its name."""
    does_work: Callable[[str], bool] = lambda _name: True
    """Whether a tool changes or runs something, by its name; not where its refusal is a verdict."""
    own_places: tuple[str, ...] = ()
    """What names a place where the runtime shows its own records, in a path or a command."""

    def names_records(self, text: str) -> bool:
        """Whether a text names such a place."""
        return any(place in text for place in self.own_places)

    def is_of_records(self, text: str) -> bool:
        """Whether a text beside others says that they are from there, as a path does."""
        return "\n" not in text and self.names_records(text)

    def new_in(self, told: JsonObject) -> JsonObject:
        """What of an object tells something new; nothing where one of its own texts says that it
        is from there."""
        if any(isinstance(one, str) and self.is_of_records(one) for one in told.values()):
            return {}
        return {name: one for name, one in told.items() if name not in TOLD_BEFORE}

    def without_records(self, text: str) -> str:
        """A text without the lines that name such a place, as those that a search finds."""
        if not self.names_records(text):
            return text
        return "\n".join(line for line in text.splitlines() if not self.names_records(line))


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
    kind: str = ""
    """Of a failure."""

    @property
    def ended_badly(self) -> bool:
        """Whether a command ended with an error or not by itself, or an action says it failed."""
        result = _object(self.result)
        output = _object(result.get("output"))
        return result.get("ok") is False or any(
            one.get("exit_code") or one.get("timed_out") is True
            for one in (result, output, _object(output.get("result")))
        )


_read_answer = msgspec.json.Decoder(_Answer).decode
_read_arguments = msgspec.json.Decoder(dict[str, JsonValue]).decode


def told(events: Sequence[Event], sources: Sources, *, goes_on: bool = False) -> Told:
    """What they say, the newest outcome first.

    ``goes_on``: a run is under way. One that only stopped to be answered, and goes on in this, has
    not ended: the one before it counts, with whatever failed since.
    """
    since = _newest_outcome(events)
    defined = None if since is None else events[since]
    runs = _ended_runs(events)
    wake_id, run, since_then = (runs[-1][0] if runs else None), list[Payload](), list[Payload]()
    while goes_on and runs and _stop_reason(runs[-1][1]) == "requires_action":
        since_then = [*runs.pop()[1], *since_then]
    if goes_on:
        since_then += _under_way(events)
    if runs:
        wake_id, run = runs[-1]
    return Told(
        outcome=None if defined is None else _outcome(defined.payload),
        outcome_event_id=None if defined is None else defined.id,
        evidence=_newest(_evidence(events[since:], sources)) if since is not None else (),
        last_wake_id=wake_id,
        last_wake=_last_wake(run, since_then, sources),
        stop_reason=_stop_reason(run),
    )


def shows_work(tool: Tool | None) -> bool:
    """Whether what a tool answers may show that something was done."""
    return (
        tool is not None and tool.name not in TELLS_PLANS and KNOWN_ALREADY.isdisjoint(tool.effects)
    )


def does_work(tool: Tool | None) -> bool:
    """Whether a tool changes or runs something. What the outcome gates is refused for its sake."""
    return tool is not None and not tool.read_only and OVERRIDE not in _properties(tool)


def _properties(tool: Tool) -> JsonObject:
    return _object(tool.input_schema.get("properties"))


def texts(
    value: JsonValue,
    new_in: Callable[[JsonObject], JsonObject] = lambda told: told,
    deep: int = 0,
) -> Iterator[str]:
    """The texts inside of a result, in their order. ``new_in``: what counts of an object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and deep < _DEEPEST:
        for one in new_in(value).values() if isinstance(value, dict) else value:
            yield from texts(one, new_in, deep + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _newest_outcome(events: Sequence[Event]) -> int | None:
    for place in range(len(events) - 1, -1, -1):
        if isinstance(events[place].payload, OutcomeDefined):
            return place
    return None


def _outcome(said: Payload) -> WantedOutcome | None:
    return said.outcome if isinstance(said, OutcomeDefined) else None


def _ended_runs(events: Iterable[Event]) -> list[tuple[str, list[Payload]]]:
    """The runs that have ended, in the order of their ends, each with what it wrote."""
    by_run: dict[str, list[Payload]] = {}
    ended: dict[str, None] = {}
    for event in events:
        if event.wake_id is None:
            continue
        by_run.setdefault(event.wake_id, []).append(event.payload)
        if isinstance(event.payload, SpanCompleted) and event.payload.span_kind == "wake":
            ended.pop(event.wake_id, None)
            ended[event.wake_id] = None
    return [(wake_id, by_run[wake_id]) for wake_id in ended]


def _under_way(events: Sequence[Event]) -> list[Payload]:
    """What the run that has not ended wrote so far: whatever failed in it counts already."""
    run = next((one.wake_id for one in reversed(events) if one.wake_id is not None), None)
    written = [one.payload for one in events if run is not None and one.wake_id == run]
    ends = (one for one in written if isinstance(one, SpanCompleted) and one.span_kind == "wake")
    return [] if next(ends, None) is not None else written


def _newest(found: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The newest of them, in their order, as many as are looked at."""
    kept: list[Evidence] = []
    left = MOST
    for one in reversed(list(found)):
        left -= len(one.text)
        if left < 0:
            break
        kept.append(one)
    return tuple(reversed(kept))


def _evidence(events: Sequence[Event], sources: Sources) -> Iterator[Evidence]:
    asked: dict[str, CallAsked] = {}
    last: Event | None = None
    for event in events:
        said = event.payload
        if isinstance(said, CallAsked):
            asked[said.call_id] = said
        elif isinstance(said, CallSettled):
            yield from _of_call(event, said, asked.pop(said.call_id, None), sources)
        elif isinstance(said, AgentMessage):
            last = event
            if said.message:
                yield Evidence(kind="message", text=said.message[:LONGEST], event_id=event.id)
    if last is not None and isinstance(last.payload, AgentMessage) and last.payload.summary:
        summary = last.payload.summary[:LONGEST]
        yield Evidence(kind="summary", text=summary, event_id=last.id)


def _of_call(
    event: Event, said: CallSettled, asked: CallAsked | None, sources: Sources
) -> Iterator[Evidence]:
    """What a call that worked shows: the note that it kept, or what it answered."""
    answer = _answer(said)
    if answer is None or not answer.ok or answer.ended_badly:
        return
    given = {} if asked is None else _arguments(asked)
    if said.tool in NOTES:
        note = given.get("content")
        if isinstance(note, str) and note.strip():
            yield Evidence(kind="note", text=note[:LONGEST], event_id=event.id)
    elif sources.shows_work(said.tool) and not any(map(sources.names_records, texts(given))):
        found = "\n".join(texts(answer.result, sources.new_in))
        if text := sources.without_records(found).strip():
            yield Evidence(kind="output", text=text[:LONGEST], event_id=event.id)


def _arguments(asked: CallAsked) -> JsonObject:
    try:
        return _read_arguments(asked.arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def _last_wake(run: Sequence[Payload], since_then: Sequence[Payload], sources: Sources) -> LastWake:
    spans = [one for one in run if isinstance(one, SpanCompleted)]
    rests = [one for one in run if isinstance(one, StatusIdle)]
    messages = [one for one in run if isinstance(one, AgentMessage)]
    return LastWake(
        failed_tools=_failed_tools([*run, *since_then]),
        not_done=_not_done([*run, *since_then], sources),
        succeeded=any(one.span_kind == "wake" and one.result == "success" for one in spans),
        came_to_rest=bool(rests) and rests[-1].reason == "idle",
        has_summary=bool(messages) and bool(messages[-1].summary.strip()),
    )


def _failed_tools(run: Iterable[Payload]) -> tuple[str, ...]:
    spans = (one for one in run if isinstance(one, SpanCompleted))
    return tuple(one.name for one in spans if one.span_kind == "tool" and one.result == "error")


def _not_done(run: Iterable[Payload], sources: Sources) -> tuple[str, ...]:
    """The tools of calls that were to do something and did not, unless the same worked later."""
    asked: dict[str, CallAsked] = {}
    left: dict[tuple[str, str], str] = {}
    for said in run:
        if isinstance(said, CallAsked):
            asked[said.call_id] = said
        elif isinstance(said, CallSettled) and sources.does_work(said.tool):
            answer = _answer(said)
            call = asked.get(said.call_id)
            same = (said.tool, "" if call is None else call.arguments)
            if answer is None:
                continue
            if answer.ok and not answer.ended_badly:
                left.pop(same, None)
            elif answer.ok or answer.kind in _NOT_BEGUN:
                left[same] = said.tool
    return tuple(left.values())


def _answer(said: CallSettled) -> _Answer | None:
    try:
        return _read_answer(said.envelope)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _stop_reason(run: Sequence[Payload]) -> StopReason:
    """Why a run stopped: the last that it said of it."""
    for one in reversed(run):
        if isinstance(one, StatusIdle):
            return "requires_action" if one.reason == "requires_action" else "idle"
        if isinstance(one, StatusChanged) and one.to_status in _RUNS_ON:
            return _RUNS_ON[one.to_status]
    return "idle"
