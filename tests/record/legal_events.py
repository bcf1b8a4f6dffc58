"""Random sessions that could have been: answers follow questions, calls go their way in order."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from hypothesis import strategies as st
from msgspec import Raw
from record.samples import SAMPLES

from holdfast.contract import events
from holdfast.contract.event_kinds import MAKES_RUNNABLE
from holdfast.contract.events import Payload
from holdfast.contract.json_value import encode_json
from holdfast.contract.person import PersonQuestion
from holdfast.contract.wake_events import WakeQueued, WakesCompleted

TEXTS = st.text(max_size=12)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
_CALLS = (
    *("intended", "asked", "refused", "answered-refused", "inquired", "withdrawn"),
    *("below", "unsettled"),
)
_GUARDED = (
    *(events.ToolConfirmation, events.CustomToolResult, events.CallAsked, events.ApprovalAsked),
    events.ApprovalWithdrawn,
    *(events.ApprovalAnswered, events.CallIntended, events.CallRefused, events.CallSettled),
    *(events.SessionCreated, events.EventsProcessed, events.AgentChunk),
    # The sample waits to be confirmed: another that does so would not fit behind it.
    *(events.InquiryAsked, events.InquiryAnswered, events.ToolUse),
    *(events.ChildWaits, events.ChildAnswered),
)
_FREE = [one for one in SAMPLES if not isinstance(one, _GUARDED)]
_CHUNKS = (
    {"type": "text-start", "id": "0"},
    {"type": "text-delta", "id": "0", "delta": "Hä\n"},
    {"type": "text-end", "id": "0"},
    {"type": "nothing-known"},
)


class Step(NamedTuple):
    """One event of a session, and how long after the one before it."""

    id: str
    payload: Payload
    wake_id: str | None
    seconds: float


def _call(call_id: str, way: str, sent: object) -> list[Payload]:
    """The steps of one call."""
    tool: dict[str, Any] = {"call_id": call_id, "tool": "bash"}
    hashed: dict[str, Any] = {**tool, "arguments_hash": "ab"}
    envelope = Raw(encode_json({"ok": way in {"intended", "asked"}, "result": sent}))
    asked = [
        events.ApprovalAsked(**hashed, approval_id=f"apr_{call_id}", reason="why"),
        events.ApprovalAnswered(call_id=call_id, approval_id=f"apr_{call_id}", allowed=True, by=""),
    ]
    intended = events.CallIntended(**hashed, grounds="a rule")
    withdrawn = events.ApprovalWithdrawn(
        call_id=call_id, approval_id=f"apr_{call_id}", reason="a rule"
    )
    refused = events.CallRefused(**hashed, kind="rejected", reason="a rule")
    inquired = [
        events.InquiryAsked(call_id=call_id, questions=(PersonQuestion(question="Which?"),)),
        events.InquiryAnswered(call_id=call_id, answers=(("this",),), by="ada"),
    ]
    below = [
        events.ChildWaits(call_id=call_id, child_session_id="ses_2", summary="waits"),
        events.ChildAnswered(call_id=call_id, child_session_id="ses_2"),
    ]
    between: dict[str, list[Payload]] = {
        "intended": [intended],
        "asked": [*asked, intended],
        "below": [intended, *below],
        "inquired": [intended, *inquired],
        "withdrawn": [asked[0], withdrawn, intended],
        "refused": [refused],
        "answered-refused": [*asked, refused],
        "unsettled": [],
    }
    arguments = encode_json(sent).decode()
    steps: list[Payload] = [events.CallAsked(**tool, arguments=arguments), *between[way]]
    return steps if way == "unsettled" else [*steps, events.CallSettled(**tool, envelope=envelope)]


def _confirmed(number: int, sent: Any) -> list[Payload]:
    named = {"request_id": f"req_{number}", "tool_name": "bash"}
    use = events.ToolUse(**named, ownership="m", permission_policy="ask", input=sent)
    return [use, events.ToolConfirmation(**named, allowed=True)]


def _outside(number: int, sent: Any) -> list[Payload]:
    named = {"request_id": f"req_{number}", "tool_name": "deploy"}
    return [
        events.CustomToolUse(**named, input=sent),
        events.CustomToolResult(**named, output=str(sent)),
    ]


@st.composite
def sessions(draw: st.DrawFn) -> list[Step]:
    """The events of a session, from its beginning."""
    payloads: list[Payload] = [events.SessionCreated(metadata={"any": draw(JSON)})]
    running: list[list[Payload]] = []
    for number in range(draw(st.integers(0, 14))):
        match draw(
            st.sampled_from(("free", "say", "call", "step", "ask", "chunk", "done", "wake"))
        ):
            case "free":
                payloads.append(draw(st.sampled_from(_FREE)))
            case "say":
                said = events.AgentMessage(message=draw(TEXTS), summary="")
                payloads.append(draw(st.sampled_from([said, _message(draw)])))
            case "call":
                running.append(_call(f"cal_{number}", draw(st.sampled_from(_CALLS)), draw(JSON)))
            case "ask":
                pair = draw(st.sampled_from([_confirmed, _outside]))
                payloads += pair(number, draw(JSON))
            case "chunk":
                payloads.append(events.AgentChunk(chunk=dict(draw(st.sampled_from(_CHUNKS)))))
            case "done":
                payloads.append(events.EventsProcessed(event_ids=_waiting(draw, payloads)))
            case "wake":
                payloads.append(_wake(draw, number))
            case _:
                pass
        if running:
            at = draw(st.integers(0, len(running) - 1))
            payloads.append(running[at].pop(0))
            running = [left for left in running if left]
    return [
        Step(
            event_id(number),
            payload,
            draw(st.none() | st.sampled_from(["wak_1", "wak_ü"])),
            draw(st.sampled_from([0, 0.000001, 1.5])),
        )
        for number, payload in enumerate(payloads)
    ]


def event_id(number: int) -> str:
    """The id of an event, as the tests name them."""
    return f"evt_{number:04}"


def _message(draw: st.DrawFn) -> Payload:
    return events.UserMessage(message=draw(TEXTS))


def _wake(draw: st.DrawFn, number: int) -> Payload:
    """A run that is to come, or the end of some that may have been queued before."""
    if draw(st.booleans()):
        queued = st.lists(st.integers(0, number).map(_wake_id), max_size=3)
        return WakesCompleted(queued_wake_ids=tuple(draw(queued)), cancelled=draw(st.booleans()))
    return WakeQueued(
        queued_wake_id=_wake_id(number),
        due_at=datetime(2026, 1, 1, 0, 0, draw(st.integers(0, 59)), tzinfo=UTC),
        reason=draw(TEXTS),
        note=draw(st.none() | TEXTS),
        dedupe_key=draw(st.none() | st.sampled_from(["one", "other"])),
        priority=draw(st.sampled_from(["low", "normal", "high"])),
    )


def _wake_id(number: int) -> str:
    return f"qwk_{number}"


def _waiting(draw: st.DrawFn, payloads: list[Payload]) -> tuple[str, ...]:
    """Some of the events that wait."""
    there = [at for at, one in enumerate(payloads) if isinstance(one, MAKES_RUNNABLE)]
    return tuple(event_id(at) for at in there if draw(st.booleans()))
