"""What people answer to a session: the questions that wait, and what becomes of the calls."""

from anyio import Lock

from holdfast.app import answering, inquiring
from holdfast.app.problems import ConfigurationError
from holdfast.app.session_views import SessionViews
from holdfast.contract.envelope import Envelope
from holdfast.contract.journal import Journal
from holdfast.contract.json_value import text_of
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.runtime import recovery
from holdfast.runtime.abort import Abort
from holdfast.runtime.pipeline import Pipeline
from holdfast.runtime.session_log import SessionLog

_NOT_AMONG_THE_TOOLS = (
    "a person allowed a call of {tool!r}, or replied to it, and there is no such tool here: open"
    " the session with it among tools=, under a profile that shows it"
)


class SessionAnswers(SessionViews):
    """The answers to a session."""

    _log: SessionLog | None
    _pipeline: Pipeline
    _resuming: Lock
    _abort: Abort
    _open: bool

    async def questions(self) -> tuple[Question, ...]:
        """What still waits for a person's answer, the oldest first."""
        journal = await self._journal()
        return await recovery.open_questions(journal, self._session.id)

    async def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer a question or the approval of this id; NotFitting when it waits not, or no more.

        The first answer counts, whoever gives it. A call that waits for it goes on at once; one
        from before a restart is ended by `resume`.
        """
        approval_id = _approval_id(question, self._session.id)
        told = answering.checked_answer(answer)
        journal = await self._journal()
        await answering.write_answer(journal, self._session.id, approval_id, told, self._redactor)
        self._pipeline.heard(approval_id)

    async def inquiries(self) -> tuple[Inquiry, ...]:
        """What tools still ask a person, the oldest first."""
        journal = await self._journal()
        return await recovery.open_inquiries(journal, self._session.id)

    async def answer_inquiry(self, inquiry: Inquiry | str, replies: Replies) -> None:
        """Reply to an inquiry or the call of this id; NotFitting when it waits not, or no more.

        The first reply counts, whoever gives it. A call that waits for it goes on at once; one from
        before a restart is ended by `resume`.
        """
        call_id = inquiring.call_of(inquiry, self._session.id)
        told = inquiring.checked_replies(replies)
        journal = await self._journal()
        await inquiring.write_replies(journal, self._session.id, call_id, told, self._redactor)
        self._own.people.heard(call_id)

    async def resume(self) -> tuple[Envelope, ...]:
        """End the calls from before a restart that a person answered: what was allowed runs, once.

        What was refused gets its refusal, and what asked a person their reply. ConfigurationError,
        and all of them stay open, in another workspace than before, as what was allowed there would
        mean other files here, and where a tool is missing.
        """
        journal = await self._journal()
        async with self._resuming:
            stayed = frozenset[str]() if self._taken_up is None else self._taken_up.stayed
            calls = await recovery.answered_calls(journal, self._session.id, stayed)
            allowed = [one for one in calls if one.answer is not None and one.answer.allowed]
            if self._moved is not None and any(one.replies is None for one in allowed):
                raise ConfigurationError(self._moved)
            missing = [
                one.call.tool for one in allowed if self._catalog.plan(one.call.tool) is None
            ]
            if missing:
                raise ConfigurationError(_NOT_AMONG_THE_TOOLS.format(tool=missing[0]))
            for one in calls:
                if one.replies is not None:
                    self._own.people.begun_anew(one.call.id, one.replies)
            return tuple([await self._pipeline.settle(one.call, self._abort, one) for one in calls])

    async def _journal(self) -> Journal:
        if self._log is None or not self._open:
            raise RuntimeError("Holdfast is not open, or its configuration has store.kind = 'none'")
        return await self._log.journal()


def _approval_id(question: object, session_id: str) -> str:
    if isinstance(question, str):
        return question
    if not isinstance(question, Question):
        raise TypeError(
            f"{text_of(question)} is no question; give one of questions(), or its approval_id"
        )
    if question.session_id != session_id:
        raise ValueError(
            f"the question is one of session {question.session_id}, and this is {session_id};"
            " use holdfast.answer_question(session, approval, answer)"
        )
    return question.approval_id
