"""Taking up a session whose runner is gone: what was left open is closed, once, and told.

A call that may have begun is never run again. A question stays open, and so does what a call asked
a person before it did anything: it is begun anew with the reply. A call that was allowed and
did not begin still has to run; one that was refused is. What a session that was imported tells of
answers allows nothing: nobody here has given them. Whoever does this holds the session's lease.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallRefused,
    CallSettled,
    ChildAnswered,
    CustomToolResult,
    Event,
    InquiryAnswered,
    InquiryAsked,
    Payload,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import EventQuery, Journal, JournalError, Session
from holdfast.contract.json_value import clean_text
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.session_state import OpenCall
from holdfast.envelope.dialects.ok import render
from holdfast.policy.words import user_denied
from holdfast.record.codec import IMPORTED
from holdfast.runtime.refusals import refusal
from holdfast.runtime.trail import LONGEST_ARGUMENTS, Approved

ABORTED = "aborted by host restart"
_APPLICATION = "the application"
_BELOW = Answer(allowed=True, by="a session below")
_OF_CALLS = (
    *("call.asked", "approval.asked", "approval.answered"),
    *("inquiry.asked", "inquiry.answered", "user.custom_tool_result", "session.child_answered"),
)


_WAITING = frozenset({"waiting", "inquiring"})


class TakenUp(msgspec.Struct, frozen=True):
    """What became of the calls that were open."""

    stayed: frozenset[str]
    """Those that wait for a person, and those that a person allowed or replied to."""
    ended: tuple[Envelope, ...]
    """The answers of all others: they may have begun, or were refused."""


async def close_open_calls(journal: Journal, session_id: str, epoch: int) -> TakenUp:
    """Give every call that was left open its end, unless it waits for a person or has to run."""
    open_calls = (await journal.session(session_id)).state.calls
    imported = bool(open_calls) and await _was_imported(journal, session_id)
    stayed = frozenset(name for name, call in open_calls.items() if _stays(call, imported=imported))
    told = await _told_of(journal, session_id, frozenset(open_calls) - stayed)
    ended: list[Envelope] = []
    payloads: list[Payload] = []
    for call_id in sorted(told):
        refused = None if imported else _refusal(told[call_id])
        ended.append(_answer(call_id, told[call_id], refused))
        payloads += [*([] if refused is None else [refused]), _settled(ended[-1])]
    await journal.append(session_id, payloads, epoch=epoch)
    return TakenUp(stayed, tuple(ended))


async def answered_calls(
    journal: Journal, session_id: str, stayed: frozenset[str]
) -> tuple[Approved, ...]:
    """Those of the calls that stayed open which a person has answered by now.

    Calls of the present are none of them: whoever asked for those waits for the answer itself.
    """
    open_calls = (await journal.session(session_id)).state.calls
    answered = [name for name in open_calls if name in stayed and _goes_on(open_calls[name])]
    told = await _told_of(journal, session_id, frozenset(answered))
    return tuple(_standing(session_id, told[name], open_calls[name]) for name in answered)


async def standing_calls(journal: Journal, session_id: str) -> dict[str, Approved]:
    """The calls that have come as far as a person, by their ids: answered, or to be asked again.

    To be looked for by whoever has just taken the session up, before it makes calls of its own.
    """
    open_calls = (await journal.session(session_id)).state.calls
    standing = {
        name: call for name, call in open_calls.items() if call.stage in _WAITING or _goes_on(call)
    }
    told = await _told_of(journal, session_id, frozenset(standing))
    return {name: _standing(session_id, told[name], call) for name, call in standing.items()}


async def as_it_stands(journal: Journal, session_id: str) -> tuple[Session, Mapping[str, Approved]]:
    """A session and its standing calls, both as of one moment: somebody may answer meanwhile."""
    while True:
        session = await journal.session(session_id)
        if not session.state.calls:
            return session, {}
        standing = await standing_calls(journal, session_id)
        if (await journal.session(session_id)).sequence == session.sequence:
            return session, standing


def settlement(call: ToolCall, envelope: Envelope, *, known: bool = False) -> list[Payload]:
    """What is written of a call that never runs: that it was asked for, and its answer.

    ``known``: it was asked for before.
    """
    arguments = call.arguments if isinstance(call.arguments, str) else ""
    asked = CallAsked(
        call_id=call.id,
        model_call_id=call.model_call_id,
        tool=clean_text(call.tool),
        arguments=clean_text(arguments[:LONGEST_ARGUMENTS]),
    )
    return [*([] if known else [asked]), _settled(envelope)]


async def open_questions(journal: Journal, session_id: str) -> tuple[Question, ...]:
    """The questions that still wait for a person, the oldest first; with those of sessions below
    that its calls wait for."""
    open_calls = (await journal.session(session_id)).state.calls
    waiting = frozenset(call_id for call_id, call in open_calls.items() if call.stage == "waiting")
    told = await _told_of(journal, session_id, waiting)
    found = [question for one in told.values() if (question := _question(session_id, one))]
    below = [call.child for call in open_calls.values() if call.stage == "inquiring" and call.child]
    for child in below:
        found += await open_questions(journal, child)
    return tuple(sorted(found, key=lambda one: (one.asked_at, one.approval_id)))


async def open_inquiries(journal: Journal, session_id: str) -> tuple[Inquiry, ...]:
    """What calls still ask a person, the oldest first."""
    open_calls = (await journal.session(session_id)).state.calls
    waiting = frozenset(name for name, call in open_calls.items() if call.stage == "inquiring")
    told = await _told_of(journal, session_id, waiting)
    found = [inquiry for one in told.values() if (inquiry := _inquiry(session_id, one))]
    return tuple(sorted(found, key=lambda one: (one.asked_at, one.call_id)))


def _stays(call: OpenCall, *, imported: bool) -> bool:
    if call.stage in _WAITING:
        return True
    return _goes_on(call) and call.allowed is not False and not imported


def _goes_on(call: OpenCall) -> bool:
    """Whether a person has done their part: answered, replied, or need not any more."""
    return call.stage in ("answered", "replied") or _is_withdrawn(call)


def _is_withdrawn(call: OpenCall) -> bool:
    """Whether the question about it was taken back, and it has not begun."""
    return call.stage == "asked" and call.approval_id is not None


async def _was_imported(journal: Journal, session_id: str) -> bool:
    first = await journal.events(session_id, limit=1)
    return bool(first) and first[0].previous == IMPORTED


class _Told(msgspec.Struct):
    """What the journal says of a call."""

    asked: CallAsked | None = None
    approval: ApprovalAsked | None = None
    approval_at: datetime | None = None
    answer: ApprovalAnswered | None = None
    inquiry: InquiryAsked | None = None
    inquiry_at: datetime | None = None
    reply: InquiryAnswered | None = None
    output: str | None = None
    below: bool = False
    """A session below it was answered."""


async def _told_of(
    journal: Journal, session_id: str, call_ids: frozenset[str]
) -> Mapping[str, _Told]:
    told = {call_id: _Told() for call_id in call_ids}
    before: str | None = None
    while any(one.asked is None for one in told.values()):
        page = await journal.find(session_id, EventQuery(types=_OF_CALLS, before=before))
        if not page or page[0].id == before:  # the same again: its id is damaged
            break
        before = page[0].id
        for event in page:
            _tell(told, event)
    return told


def _tell(told: Mapping[str, _Told], event: Event) -> None:
    said = event.payload
    if isinstance(said, CallAsked) and said.call_id in told:
        told[said.call_id].asked = said
    elif isinstance(said, ApprovalAsked) and said.call_id in told:
        told[said.call_id].approval = said
        told[said.call_id].approval_at = event.at
    elif isinstance(said, ApprovalAnswered) and said.call_id in told:
        told[said.call_id].answer = said
    elif isinstance(said, InquiryAsked) and said.call_id in told:
        told[said.call_id].inquiry = said
        told[said.call_id].inquiry_at = event.at
    elif isinstance(said, InquiryAnswered) and said.call_id in told:
        told[said.call_id].reply = said
    elif isinstance(said, CustomToolResult) and said.request_id in told:
        told[said.request_id].output = said.output
    elif isinstance(said, ChildAnswered) and said.call_id in told:
        told[said.call_id].below = True


def _inquiry(session_id: str, told: _Told) -> Inquiry | None:
    asked, inquiry, asked_at = told.asked, told.inquiry, told.inquiry_at
    if asked is None or inquiry is None or asked_at is None:
        return None
    return Inquiry(
        session_id=session_id,
        call_id=inquiry.call_id,
        tool=asked.tool,
        questions=inquiry.questions,
        asked_at=asked_at,
    )


def _question(session_id: str, told: _Told) -> Question | None:
    asked, approval, asked_at = told.asked, told.approval, told.approval_at
    if asked is None or approval is None or asked_at is None:
        return None
    return Question(
        session_id=session_id,
        approval_id=approval.approval_id,
        call_id=approval.call_id,
        tool=approval.tool,
        arguments=asked.arguments,
        arguments_hash=approval.arguments_hash,
        reason=approval.reason,
        uses=approval.uses,
        offers=approval.offers,
        wider=approval.wider,
        asked_at=asked_at,
    )


def _refusal(told: _Told) -> CallRefused | None:
    """What follows from a person's no; None: nobody has said so."""
    approval, answer = told.approval, told.answer
    if approval is None or answer is None or answer.allowed or answer.by is None:
        return None
    return CallRefused(
        call_id=approval.call_id,
        tool=approval.tool,
        arguments_hash=approval.arguments_hash,
        kind=FailureKind.USER_DENIED.value,
        reason=user_denied(approval.tool, answer.note),
    )


def _answer(call_id: str, told: _Told, refused: CallRefused | None) -> Envelope:
    tool = "" if told.asked is None else told.asked.tool
    failure = failure_of(FailureKind.EXECUTION_ERROR, ABORTED, retryable=False)
    if refused is not None:
        note = None if told.answer is None else told.answer.note
        failure = refusal(FailureKind.USER_DENIED, refused.reason, note=note)
    return Envelope(failure=failure, tool=tool, call_id=call_id)


def answer_text(answer: Envelope) -> str:
    """An answer as it is written down."""
    return render(answer)


def _settled(answer: Envelope) -> CallSettled:
    envelope = msgspec.Raw(answer_text(answer).encode())
    return CallSettled(call_id=answer.call_id or "", tool=answer.tool or "", envelope=envelope)


def _standing(session_id: str, told: _Told, call: OpenCall) -> Approved:
    """As far as it has come; who has not answered yet is asked again."""
    if _is_withdrawn(call):
        return _unasked(session_id, told)
    if _goes_on(call):
        return _approved(session_id, told)
    approval = told.approval
    return Approved(
        call=_call(session_id, told),
        arguments_hash="" if approval is None else approval.arguments_hash,
        answer=None,
        approval_id=call.approval_id,
        began=call.stage == "inquiring",
    )


def _unasked(session_id: str, told: _Told) -> Approved:
    """Nobody has to be asked about it; who has to be by now is asked anew."""
    return Approved(call=_call(session_id, told), arguments_hash="", answer=None)


def _call(session_id: str, told: _Told) -> ToolCall:
    asked = told.asked
    if asked is None:
        raise _half_told(session_id)
    return ToolCall(
        id=asked.call_id,
        tool=asked.tool,
        arguments=asked.arguments,
        session_id=session_id,
        model_call_id=asked.model_call_id,
    )


def _approved(session_id: str, told: _Told) -> Approved:
    approval, answer, reply = told.approval, told.answer, told.reply
    call = _call(session_id, told)
    if told.output is not None:
        by_application = Answer(allowed=True, by=_APPLICATION)
        return Approved(
            call=call, arguments_hash="", answer=by_application, began=True, output=told.output
        )
    if told.below:
        return Approved(call=call, arguments_hash="", answer=_BELOW, began=True)
    if reply is not None:
        replies = Replies(answers=reply.answers, skipped=reply.skipped, by=reply.by)
        allowed = Answer(allowed=True, by=reply.by)
        return Approved(call=call, arguments_hash="", answer=allowed, began=True, replies=replies)
    if approval is None or answer is None:
        raise _half_told(session_id)
    said = Answer(
        allowed=answer.allowed,
        by=answer.by or "",
        note=answer.note,
        remember=answer.remember,
        wider=answer.wider,
    )
    return Approved(
        call=call,
        arguments_hash=approval.arguments_hash,
        answer=said,
        approval_id=approval.approval_id,
    )


def _half_told(session_id: str) -> JournalError:
    return JournalError(f"session {session_id} does not tell all of a call that was allowed")
