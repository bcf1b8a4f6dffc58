"""A person's answers to the open questions of any session, also of one that another program runs.

An answer needs no lease: it is written into the journal, and whoever runs the session goes on with
it. Nothing of a call runs here.
"""

from typing import Unpack, get_args

import msgspec

from holdfast.app import any_session
from holdfast.contract.events import ApprovalAsked, Payload, ToolConfirmation
from holdfast.contract.journal import EventQuery, Journal, NotFitting
from holdfast.contract.json_value import clean_text, text_of
from holdfast.contract.ports import Answer, is_answer
from holdfast.contract.question import Question
from holdfast.contract.rules import Remember
from holdfast.contract.session_state import ConfirmationRequest
from holdfast.envelope.redact import Redactor
from holdfast.record.store import Store
from holdfast.runtime import recovery
from holdfast.runtime.trail import answered, without_secrets


async def open_questions(
    session: str | None = None, **options: "Unpack[any_session.StoreOptions]"
) -> tuple[Question, ...]:
    """What waits for a person, of one session or of all, the oldest first; UnknownSession."""
    return await any_session.open_now(questions_in, session, **options)


async def answer_question(
    session: str, approval: str, answer: Answer, **options: "Unpack[any_session.StoreOptions]"
) -> None:
    """Answer a question of a session that anybody or nobody runs; NotFitting when it is not open.

    The first answer counts. A call that waits goes on at once, or within half a second; one whose
    program is gone is ended by `Holdfast.resume`.
    """
    told = checked_answer(answer)
    async with any_session.desk(**options) as at:
        await write_answer(at.journal, session, approval, told, at.redactor)
        await at.tell_runner(session)


async def questions_in(store: Store, session_id: str | None) -> tuple[Question, ...]:
    """The open questions of one session, or of all."""
    found = await any_session.waiting_in(store, session_id, "waiting", recovery.open_questions)
    once = {one.approval_id: one for one in found}  # a session tells of those below it, too
    return tuple(sorted(once.values(), key=lambda one: (one.asked_at, one.approval_id)))


async def write_answer(
    journal: Journal, session_id: str, approval_id: str, answer: Answer, redactor: Redactor
) -> None:
    """Write an answer down; NotFitting when the question does not wait, or not any more.

    Where the session asks for it to be confirmed as well, the same answer is both.
    """
    call_id = await _call_of(journal, session_id, approval_id)
    told = without_secrets(answer, redactor)
    payloads: list[Payload] = []
    asked = (await journal.session(session_id)).state.confirmation
    if asked is not None and asked.id == approval_id and asked.answered_by is None:
        payloads.append(confirmation(asked, told))
    # Last: with the answer to the question itself the request to confirm is over.
    await journal.append(session_id, [*payloads, answered(approval_id, call_id, told)])


def confirmation(asked: ConfirmationRequest, answer: Answer) -> ToolConfirmation:
    """The answer to a request to confirm."""
    return ToolConfirmation(
        request_id=asked.id,
        tool_name=asked.tool_name,
        allowed=answer.allowed is True,
        note=answer.note,
    )


def checked_answer(given: object) -> Answer:
    """The answer as it can be written down; TypeError says what to write."""
    if not is_answer(given):
        raise TypeError(f"{text_of(given)} is no answer; write Answer(allowed=True, by='Ada')")
    if given.remember not in get_args(Remember) or type(given.wider) is not bool:
        kinds = ", ".join(map(repr, get_args(Remember)))
        raise TypeError(f"an answer's remember is one of {kinds}, and wider is a bool")
    note = None if given.note is None else clean_text(given.note)
    return msgspec.structs.replace(given, by=clean_text(given.by), note=note)


async def _call_of(journal: Journal, session_id: str, approval_id: str) -> str:
    """The call that a question is about, whether it still waits or not."""
    for call_id, call in (await journal.session(session_id)).state.calls.items():
        if call.approval_id == approval_id:
            return call_id
    before: str | None = None
    while page := await journal.find(
        session_id, EventQuery(types=("approval.asked",), before=before)
    ):
        for event in page:
            said = event.payload
            if isinstance(said, ApprovalAsked) and said.approval_id == approval_id:
                return said.call_id
        if page[0].id == before:
            break  # the same again: its id is damaged
        before = page[0].id
    raise NotFitting(
        f"session {session_id} has no question {approval_id};"
        f" see: holdfast sessions questions {session_id}"
    )
