"""A person's replies to what tools ask them, also in sessions that another program runs.

A reply needs no lease: it is written into the journal, bound to the id of the call that asks, and
whoever runs the session goes on with it. Nothing of a call runs here.
"""

from typing import Unpack

import msgspec

from holdfast.app import any_session
from holdfast.contract.events import InquiryAnswered
from holdfast.contract.journal import Journal
from holdfast.contract.json_value import clean_text, text_of
from holdfast.contract.person import Inquiry, Replies
from holdfast.envelope.redact import Redactor
from holdfast.record.store import Store
from holdfast.runtime import recovery


async def open_inquiries(
    session: str | None = None, **options: "Unpack[any_session.StoreOptions]"
) -> tuple[Inquiry, ...]:
    """What tools ask a person, of one session or of all, the oldest first; UnknownSession."""
    return await any_session.open_now(inquiries_in, session, **options)


async def answer_inquiry(
    session: str, call: str, replies: Replies, **options: "Unpack[any_session.StoreOptions]"
) -> None:
    """Reply to a call that asks, whoever runs its session; NotFitting when it does not wait.

    The first reply counts. A call that waits goes on at once, or within half a second; one whose
    program is gone is ended by `Holdfast.resume`.
    """
    told = checked_replies(replies)
    async with any_session.desk(**options) as at:
        await write_replies(at.journal, session, call, told, at.redactor)
        await at.tell_runner(session)


async def inquiries_in(store: Store, session_id: str | None) -> tuple[Inquiry, ...]:
    """The open inquiries of one session, or of all."""
    found = await any_session.waiting_in(store, session_id, "inquiring", recovery.open_inquiries)
    return tuple(sorted(found, key=lambda one: (one.asked_at, one.call_id)))


async def write_replies(
    journal: Journal, session_id: str, call_id: str, replies: Replies, redactor: Redactor
) -> None:
    """Write replies down; NotFitting when the call does not wait for them, or they do not fit."""

    def clean(text: str) -> str:
        return redactor.text(text) if redactor.active else text

    told = InquiryAnswered(
        call_id=call_id,
        answers=tuple(tuple(map(clean, one)) for one in replies.answers),
        skipped=replies.skipped,
        by=clean(replies.by),
    )
    await journal.append(session_id, [told])


def checked_replies(given: object) -> Replies:
    """The replies as they can be written down; TypeError says what to write."""
    advice = "write Replies(answers=[['yes']], by='Ada'): one list of texts for each question"
    if not isinstance(given, Replies):
        raise TypeError(f"{text_of(given)} is no Replies; {advice}")
    try:
        typed = msgspec.convert(msgspec.to_builtins(given), Replies)
    except (msgspec.ValidationError, TypeError) as problem:
        raise TypeError(f"{problem}; {advice}") from None
    answers = tuple(tuple(map(clean_text, one)) for one in typed.answers)
    return msgspec.structs.replace(typed, answers=answers, by=clean_text(typed.by))


def call_of(inquiry: object, session_id: str) -> str:
    """The id of the call that asks; an inquiry of another session is a ValueError."""
    if isinstance(inquiry, str):
        return inquiry
    if not isinstance(inquiry, Inquiry):
        raise TypeError(
            f"{text_of(inquiry)} is no inquiry; give one of inquiries(), or the id of its call"
        )
    if inquiry.session_id != session_id:
        raise ValueError(
            f"the inquiry is one of session {inquiry.session_id}, and this is {session_id};"
            " use holdfast.answer_inquiry(session, call, replies)"
        )
    return inquiry.call_id
