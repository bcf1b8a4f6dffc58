"""What the session of an agent asks people, and what they answer, for whoever has it open."""

from holdfast.app import answering, ingress, inquiring
from holdfast.app.assembly import Whole
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.session_state import CustomRequest
from holdfast.runtime import recovery
from holdfast.runtime.session_log import SessionLog


class SessionQuestions:
    """The open questions of a session."""

    _parts: Whole
    _log: SessionLog

    async def questions(self) -> tuple[Question, ...]:
        """The calls that wait for a person's leave, the oldest first."""
        return await recovery.open_questions(await self._log.journal(), self._log.session_id)

    async def answer(self, question: Question | str, answer: Answer) -> None:
        """Answer one, or the approval of this id; NotFitting when it waits not, or no more."""
        own = isinstance(question, str)
        approval = question if own else question.approval_id
        session_id = self._log.session_id if own else question.session_id
        told = answering.checked_answer(answer)
        journal = await self._log.journal()
        await answering.write_answer(journal, session_id, approval, told, self._parts.redactor)
        self._parts.pipeline.heard(approval)

    async def request(self) -> CustomRequest | None:
        """The call of a tool of the application's own that waits for what the application gives."""
        journal = await self._log.journal()
        asked = (await journal.session(self._log.session_id)).state.custom
        return None if asked is None or asked.answered_by is not None else asked

    async def give(self, request: CustomRequest | str, output: str) -> None:
        """Give what the application has for it; NotFitting when it waits not, or no more.

        The next run, or `run_due`, goes on with it.
        """
        request_id = request if isinstance(request, str) else request.id
        journal, session_id = await self._log.journal(), self._log.session_id
        await ingress.custom_result(journal, session_id, request_id, output, self._parts.redactor)

    async def inquiries(self) -> tuple[Inquiry, ...]:
        """What tools ask a person, the oldest first."""
        return await recovery.open_inquiries(await self._log.journal(), self._log.session_id)

    async def reply(self, inquiry: Inquiry | str, replies: Replies) -> None:
        """Reply to one, or to the call of this id; NotFitting when it waits not, or no more."""
        call_id = inquiry if isinstance(inquiry, str) else inquiry.call_id
        told = inquiring.checked_replies(replies)
        journal, session_id = await self._log.journal(), self._log.session_id
        await inquiring.write_replies(journal, session_id, call_id, told, self._parts.redactor)
        self._parts.own.people.heard(call_id)
