"""Whoever looks at killed sessions sees what is wrong with them: bad histories are found."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from agent_chaos.looking import check_calls, check_replay, check_told
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
    ModelRequested,
    Payload,
)
from holdfast.runtime.recovery import ABORTED

OK, REFUSED = '{"ok":true}', '{"kind":"user_denied","ok":false}'
LOST = f'{{"message":"{ABORTED}","ok":false}}'


def told(*payloads: Payload) -> list[Event]:
    """A history, as a journal has it."""
    return [
        Event(
            session_id="ses_1",
            sequence=number,
            id=f"evt_{number}",
            at=datetime(2026, 1, 1, tzinfo=UTC),
            wake_id=None,
            payload=one,
            previous=b"",
            hash=b"",
        )
        for number, one in enumerate(payloads, 1)
    ]


def asked(call_id: str = "c", name: str = "ask", key: str = "k") -> CallAsked:
    return CallAsked(call_id=call_id, tool=name, arguments=f'{{"key": "{key}"}}')


QUESTION = ApprovalAsked(approval_id="a", call_id="c", tool="ask", arguments_hash="", reason="")
YES = ApprovalAnswered(approval_id="a", call_id="c", allowed=True, by="ada")
NO = ApprovalAnswered(approval_id="a", call_id="c", allowed=False, by="ada")
BEGUN = CallIntended(call_id="c", tool="ask", arguments_hash="", grounds="")


def settled(envelope: str, call_id: str = "c") -> CallSettled:
    return CallSettled(call_id=call_id, tool="ask", envelope=msgspec.Raw(envelope.encode()))


GOOD: dict[str, tuple[list[Payload], set[str], Mapping[str, bool], bool]] = {
    "allowed": ([asked(), QUESTION, YES, BEGUN, settled(OK)], {"k"}, {}, True),
    "refused": ([asked(), QUESTION, NO, settled(REFUSED)], set(), {}, True),
    "killed behind its effect": (
        [asked(), QUESTION, YES, BEGUN, settled(LOST)],
        {"k"},
        {"c": True},
        True,
    ),
    "left by a dead subagent": ([asked(), QUESTION, YES, BEGUN], {"k"}, {"c": True}, False),
    "of a tool that asks nobody": (
        [asked(name="mark"), BEGUN, settled(OK)],
        {"k"},
        {},
        True,
    ),
}
BAD: dict[str, tuple[list[Payload], set[str], Mapping[str, bool], bool, str]] = {
    "no question at all": ([asked(), BEGUN, settled(OK)], {"k"}, {}, True, "without leave"),
    "no answer": ([asked(), QUESTION, BEGUN, settled(OK)], {"k"}, {}, True, "without leave"),
    "answered too late": (
        [asked(), QUESTION, BEGUN, YES, settled(OK)],
        *({"k"}, {}, True, "without leave"),
    ),
    "refused": ([asked(), QUESTION, NO, BEGUN, settled(OK)], {"k"}, {}, True, "person refused"),
    "no answer, in the session of a subagent that is gone": (
        [asked(), QUESTION, BEGUN],
        *({"k"}, {"c": True}, False, "without leave"),
    ),
    "an effect of a call that never began": (
        [asked(), QUESTION],
        *({"k"}, {}, False, "without an intent"),
    ),
    "an effect of a refused call": (
        [asked(), QUESTION, NO, settled(REFUSED)],
        *({"k"}, {}, True, "without an intent"),
    ),
    "begun twice": (
        [asked(), QUESTION, YES, BEGUN, BEGUN, settled(OK)],
        *({"k"}, {}, True, "more than one"),
    ),
    "settled twice": (
        [asked(), QUESTION, YES, BEGUN, settled(OK), settled(OK)],
        *({"k"}, {}, True, "more than one"),
    ),
    "asked twice": (
        [asked(), QUESTION, QUESTION, YES, BEGUN, settled(OK)],
        *({"k"}, {}, True, "more than one"),
    ),
    "answered twice": (
        [asked(), QUESTION, YES, YES, BEGUN, settled(OK)],
        *({"k"}, {}, True, "more than one"),
    ),
    "never settled": ([asked(), QUESTION, YES, BEGUN], {"k"}, {}, True, "without an answer"),
    "settled and never asked for": (
        [asked(), QUESTION, YES, BEGUN, settled(OK), settled(OK, "d")],
        *({"k"}, {}, True, "an answer to no call"),
    ),
    "run again after a restart": (
        [asked(), QUESTION, YES, BEGUN, settled(LOST)],
        *({"k"}, {"c": False}, True, "ran again"),
    ),
    "run again by nobody who settled it": (
        [asked(), QUESTION, YES, BEGUN],
        *({"k"}, {"c": False}, False, "ran again"),
    ),
    "lost, and told as done": (
        [asked(), QUESTION, YES, BEGUN, settled(OK)],
        *({"k"}, {"c": True}, True, "ok"),
    ),
    "told as done, with no effect": (
        [asked(), QUESTION, YES, BEGUN, settled(OK)],
        *(set(), {}, True, "ok"),
    ),
    "told as failed, with its effect": (
        [asked(), QUESTION, YES, BEGUN, settled('{"kind":"timeout","ok":false}')],
        *({"k"}, {}, True, "timeout"),
    ),
    "not to be had any more": (
        [asked(), QUESTION, YES, BEGUN, settled('{"kind":"unavailable","ok":false}')],
        *(set(), {}, True, "what was there before is not"),
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_in_order_is_let_pass(name: str) -> None:
    payloads, happened, begun, whole = GOOD[name]
    check_calls(told(*payloads), happened, begun, whole=whole)


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_found(name: str) -> None:
    payloads, happened, begun, whole, says = BAD[name]
    with pytest.raises(AssertionError, match=says):
        check_calls(told(*payloads), happened, begun, whole=whole)


@tool
def prepare() -> str:
    """Prepare it."""
    return "prepared"


@pytest.mark.anyio
async def test_a_model_that_was_told_something_else_is_found(tmp_path: Any) -> None:
    async with at_work(tmp_path, [calls(("prepare", "{}")), "done"], tools=[prepare]) as desk:
        await desk.told("Prepare.")
        events = list(await desk.events())
    check_told(events)
    await check_replay(events)
    at, asks = [
        (place, one.payload)
        for place, one in enumerate(events)
        if isinstance(one.payload, ModelRequested)
    ][-1]
    other = msgspec.structs.replace(asks, request_hash="0" * 64)
    events[at] = msgspec.structs.replace(events[at], payload=other)
    with pytest.raises(AssertionError):
        check_told(events)
    with pytest.raises(AssertionError, match="something else"):
        await check_replay(events)
