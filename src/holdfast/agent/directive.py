"""How an agent goes on, in its own words: the directive at the end of a run, as far as it counts.

An agent that is done for now sleeps; one that is not says so, when it is to be woken, and what it
learned. No tool does this: working now and arranging what comes later stay apart. Whatever a model
writes is read without complaint, and what does not fit is as if it were not there. Nothing is
queued or kept here.
"""

import math
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal, TypeVar

import msgspec

from holdfast.agent.directive_block import TAG, take_block
from holdfast.contract.agents import DEFAULT_CONTINUES
from holdfast.contract.events import StopReason
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.truncate import cut_text
from holdfast.contract.wake_events import LearningKind, Priority

_T = TypeVar("_T")

DEFAULT_FOLLOW_UP = 300
MOST_WAKES = MOST_LEARNINGS = 3
LONGEST_DELAY = 86_400
LONGEST_FOLLOW_UP = 365 * 86_400
LONGEST_TITLE, LONGEST_DETAIL, LONGEST_STAND_IN = 120, 400, 220
FOLLOW_UP = "session.follow_up"
_PRIORITIES: dict[str, Priority] = {"low": "low", "high": "high"}
_KINDS: dict[str, LearningKind] = {"correction": "correction", "error": "error"}

INSTRUCTION = f"""\
End your last message of a run with one block that says how you go on; people do not see it:
<{TAG}>
{{"outcome": "sleep", "summary": "what was done, in a sentence or two"}}
</{TAG}>
All fields may be left out:
- outcome: "continue" to be woken again soon, "sleep" to wait for somebody to write.
- follow_up_seconds: with "continue", after how many seconds; {DEFAULT_FOLLOW_UP} if left out.
- queued_wakes: at most {MOST_WAKES} later wakes, each with reason and delay_seconds (at most
  {LONGEST_DELAY}), and if needed note, dedupe_key, priority (low, normal, high).
- learnings: at most {MOST_LEARNINGS} things worth knowing beyond this session, each with title and
  detail, and if needed kind (lesson, correction, error), promote_to_memory, dedupe_key.
- custom_tool_request: a call of a tool that the application runs, with name and input."""
"""For the prompt of an agent whose directives are heard."""


class WantedWake(msgspec.Struct, frozen=True, kw_only=True):
    """A later run that is asked for."""

    reason: str
    due_at: datetime
    note: str | None = None
    dedupe_key: str | None = None
    priority: Priority = "normal"


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """Something learned that outlives the session."""

    kind: LearningKind = "lesson"
    title: str
    detail: str
    promote_to_memory: bool = False
    dedupe_key: str | None = None


class CustomToolRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A call that somebody outside is to make."""

    name: str
    input: JsonObject = {}


class Directive(msgspec.Struct, frozen=True, kw_only=True):
    """How it goes on, within the bounds."""

    outcome: Literal["continue", "sleep"] = "sleep"
    summary: str = ""
    follow_up_seconds: int | None = None
    """With continue alone."""
    queued_wakes: tuple[WantedWake, ...] = ()
    learnings: tuple[Learning, ...] = ()
    custom_tool_request: CustomToolRequest | None = None
    enforced_by_runtime: bool = False
    """It wanted to go on, and was put to sleep."""


def taken(text: str, now: datetime) -> tuple[str, Directive]:
    """What people see of an agent's last words, and the directive in them; ``now``: when its run
    began."""
    visible, block = take_block(text)
    given = {} if block is None else block
    goes_on = given.get("outcome") == "continue"
    follow_up = _seconds(_field(given, "follow_up_seconds"), LONGEST_FOLLOW_UP)
    return visible, Directive(
        outcome="continue" if goes_on else "sleep",
        summary=_text(given, "summary") or cut_text(visible.strip(), LONGEST_STAND_IN),
        follow_up_seconds=(follow_up or DEFAULT_FOLLOW_UP) if goes_on else None,
        queued_wakes=_first(given, "queued_wakes", lambda one: _wake(one, now), MOST_WAKES),
        learnings=_first(given, "learnings", _learning, MOST_LEARNINGS),
        custom_tool_request=_request(_field(given, "custom_tool_request")),
    )


def enforced(directive: Directive, continues: int, most: int = DEFAULT_CONTINUES) -> Directive:
    """The directive as it is carried out; ``continues``: how many runs before this one went on, in
    a row. Too many, and it sleeps. The wakes it asks for by name are not touched."""
    if directive.outcome != "continue" or continues < most:
        return directive
    return msgspec.structs.replace(
        directive, outcome="sleep", follow_up_seconds=None, enforced_by_runtime=True
    )


def wanted_wakes(directive: Directive, session_id: str, now: datetime) -> tuple[WantedWake, ...]:
    """All runs that are asked for: those by name, and the one that goes on."""
    if directive.follow_up_seconds is None:
        return directive.queued_wakes
    follow_up = WantedWake(
        reason=FOLLOW_UP,
        due_at=now + timedelta(seconds=directive.follow_up_seconds),
        dedupe_key=f"follow-up:{session_id}",
    )
    return (follow_up, *directive.queued_wakes)


def stop_reason(directive: Directive) -> StopReason:
    """Why its run stops."""
    if directive.custom_tool_request is not None:
        return "requires_action"
    goes_on = directive.outcome == "continue" or bool(directive.queued_wakes)
    return "rescheduling" if goes_on else "idle"


def learning_key(learning: Learning) -> str:
    """Equal for learnings of which one is enough."""
    if learning.dedupe_key is not None:
        return learning.dedupe_key
    return f"{learning.kind}::{learning.title}::{learning.detail}".lower()


def new_learnings(found: Iterable[Learning], known: Iterable[str]) -> tuple[Learning, ...]:
    """Those whose keys are not known, each once."""
    seen, fresh = set(known), list[Learning]()
    for learning in found:
        key = learning_key(learning)
        if key not in seen:
            seen.add(key)
            fresh.append(learning)
    return tuple(fresh)


def _wake(given: JsonObject, now: datetime) -> WantedWake | None:
    reason = _text(given, "reason")
    delay = _seconds(_field(given, "delay_seconds"), LONGEST_DELAY)
    if reason is None or delay is None:
        return None
    return WantedWake(
        reason=reason,
        due_at=now + timedelta(seconds=delay),
        note=_text(given, "note"),
        dedupe_key=_text(given, "dedupe_key"),
        priority=_PRIORITIES.get(str(given.get("priority")), "normal"),
    )


def _learning(given: JsonObject) -> Learning | None:
    title, detail = _text(given, "title"), _text(given, "detail")
    if title is None or detail is None:
        return None
    return Learning(
        kind=_KINDS.get(str(given.get("kind")), "lesson"),
        title=cut_text(title, LONGEST_TITLE),
        detail=cut_text(detail, LONGEST_DETAIL),
        promote_to_memory=_field(given, "promote_to_memory") is True,
        dedupe_key=_text(given, "dedupe_key"),
    )


def _request(given: JsonValue) -> CustomToolRequest | None:
    name = _text(given, "name") if isinstance(given, dict) else None
    if name is None or not isinstance(given, dict):
        return None
    written = given.get("input")
    return CustomToolRequest(name=name, input=written if isinstance(written, dict) else {})


def _first(
    given: JsonObject, name: str, read: Callable[[JsonObject], _T | None], most: int
) -> tuple[_T, ...]:
    """The first that can be read, of a list."""
    listed = _field(given, name)
    items = listed if isinstance(listed, list) else []
    readable = (read(item) for item in items if isinstance(item, dict))
    return tuple(islice((one for one in readable if one is not None), most))


def _field(given: JsonObject, name: str) -> JsonValue:
    """A field by its name, or by the same name in camelCase."""
    if name in given:
        return given[name]
    first, *rest = name.split("_")
    return given.get(first + "".join(word.title() for word in rest))


def _text(given: JsonObject, name: str) -> str | None:
    value = _field(given, name)
    return (value.strip() or None) if isinstance(value, str) else None


def _seconds(value: JsonValue, most: int) -> int | None:
    """Whole seconds; None for what is no number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or value <= 0:
        return None
    return max(min(math.floor(value), most), 1)
