"""What a call leaves in the journal on its way: asked, decided, intended, settled.

An intent stands in the journal before anything happens, or nothing happens. A call that can change
nothing has no such moment before its end: if it ends without waiting for anything, all of it is
written down at once, and an answer that could not be is not given. What was done is told even when
it could not be written down any more. Secrets are taken out before.
"""

import hashlib
import logging

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Ask, Deny, Permit, Prepared, ToolCall, Verdict
from holdfast.contract.envelope import NULL, Envelope, Metadata
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Payload,
    SidecarKept,
)
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.journal import EventQuery, JournalError, JournalUnusable, NotFitting
from holdfast.contract.json_value import clean_text, encode_json
from holdfast.contract.person import Replies
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Use
from holdfast.envelope.dialects.ok import render
from holdfast.envelope.from_error import cancelled
from holdfast.envelope.redact import Redactor
from holdfast.execution.run import IN_PLACE, Begun, give_up
from holdfast.policy.words import NO_ANSWERS
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")

LONGEST_ARGUMENTS = 1 << 20
"""How many characters of arguments are kept: more is refused before it could matter."""
_ANOTHER_CALL = (
    "A person was asked about this call, and something else would run now: its tool is another one,"
    " or what it was given is not kept, as it holds a secret. Make the call again."
)


def arguments_hash(prepared: Prepared) -> str:
    """The fingerprint of what exactly is going to run, whatever a model wrote."""
    return hashlib.sha256(encode_json(prepared.arguments)).hexdigest()


def answered(approval_id: str, call_id: str, answer: Answer | None) -> ApprovalAnswered:
    """What a person said, or that nobody was there."""
    if answer is None:
        return ApprovalAnswered(approval_id=approval_id, call_id=call_id, allowed=False, by=None)
    return ApprovalAnswered(
        approval_id=approval_id,
        call_id=call_id,
        allowed=answer.allowed is True,
        by=answer.by,
        note=answer.note,
        remember=answer.remember,
        wider=answer.wider,
    )


def answer_of(said: ApprovalAnswered) -> Answer | None:
    """What a person said; None: nobody was there."""
    if said.by is None:
        return None
    return Answer(
        allowed=said.allowed,
        by=said.by,
        note=said.note,
        remember=said.remember,
        wider=said.wider,
    )


def without_secrets(answer: Answer, redactor: Redactor) -> Answer:
    """The answer as it may be written down."""
    if not redactor.active:
        return answer
    note = None if answer.note is None else redactor.text(answer.note)
    return msgspec.structs.replace(answer, note=note, by=redactor.text(answer.by))


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """A call of before that has come as far as a person, and has no end yet.

    They decided over it or replied to it; or they have not, and are asked again.
    """

    call: ToolCall
    arguments_hash: str
    answer: Answer | None
    """What they decided; None: nothing yet."""
    approval_id: str | None = None
    """The question that stands in the journal."""
    began: bool = False
    """Its intent stands: it ran, and asked a person something. It is begun anew with the reply."""
    replies: Replies | None = None
    """What they replied to that; None: nothing yet."""
    output: str | None = None
    """What the application gave for a call of one of its own tools; None: nothing yet."""

    def again(self, verdict: Verdict) -> Verdict:
        """What is judged now, with what a person said before: who refused it has refused it, and
        it is not refused because nobody is there, if somebody was."""
        if self.answer is None or isinstance(verdict, Ask):
            return verdict
        if isinstance(verdict, Deny):
            reason = verdict.why or verdict.reason
            lifted = (self.began and verdict.reason == NO_ANSWERS) or verdict.why is not None
            return Ask(prepared=verdict.prepared, reason=reason) if lifted else verdict
        if self.answer.allowed:
            return verdict
        return Ask(prepared=verdict.prepared, reason=verdict.grounds)

    @property
    def open_question(self) -> str | None:
        """The question about it that stands in the journal and has no answer."""
        return self.approval_id if self.answer is None else None

    @property
    def void_question(self) -> str | None:
        """The same, if the call may run by now: one that has begun was allowed before."""
        return None if self.began else self.open_question

    def answer_to(self, ask: Ask) -> Answer | Failure | None:
        """What was answered to exactly this question before; a refusal holds for any.

        A failure: it was an answer to another question, and the call cannot be asked about twice.
        """
        if self.answer is None:
            return None
        same = self.arguments_hash == arguments_hash(ask.prepared)
        if same or self.began or not self.answer.allowed:
            return self.answer
        return failure_of(FailureKind.EXECUTION_ERROR, _ANOTHER_CALL)


class Trail:
    """One call's."""

    def __init__(
        self, log: SessionLog, redactor: Redactor, call: ToolCall, approved: Approved | None = None
    ) -> None:
        """``approved``: it has come that far already."""
        self._log = log
        self._redactor = redactor
        self._call = call
        self.standing = approved
        """How far it had come before, if it had."""
        self._begun = approved is not None
        """Something of the call stands in the journal."""
        self._in_doubt = False
        """A write was begun, and nobody has heard yet what became of it."""
        self._untold: list[Payload] = []
        self._at_once = False
        """Its intent is written down together with its end: there is nothing to come before."""
        self._last_event: str | None = None
        if approved is None:
            named = call.model_call_id
            arguments = _text(call)
            asked = CallAsked(
                call_id=call.id,
                model_call_id=None if named is None else self._clean(named),
                tool=self._clean(clean_text(call.tool)),
                arguments=redactor.written(arguments) if redactor.active else arguments,
            )
            self._untold.append(asked)

    async def asks(self, ask: Ask, approval_id: str) -> Failure | None:
        """A person is going to be asked, or asked again what they have not answered."""
        known = self.standing
        if known is not None and approval_id == known.open_question:
            same = known.arguments_hash == arguments_hash(ask.prepared)
            return None if same else failure_of(FailureKind.EXECUTION_ERROR, _ANOTHER_CALL)
        self._untold.append(
            ApprovalAsked(
                approval_id=approval_id,
                call_id=self._call.id,
                tool=ask.prepared.tool.name,
                arguments_hash=arguments_hash(ask.prepared),
                reason=self._clean(ask.reason),
                uses=_uses_without_secrets(ask.uses, self._redactor),
                offers=ask.offers,
                wider=tuple(map(self._clean, ask.wider)),
            )
        )
        return await self._told("asked about")

    async def answered(self, approval_id: str, answer: Answer | None) -> Answer | Failure | None:
        """They answered, or nobody was there; what counts is whatever was written down first."""
        told = None if answer is None else without_secrets(answer, self._redactor)
        first = await self._unless_answered(answered(approval_id, self._call.id, told))
        if not isinstance(first, ApprovalAnswered):
            return answer if first is None else first
        _log.warning(
            "an answer to %s came after that of %s: the first counts", approval_id, first.by
        )
        return answer_of(first)

    async def withdraws(self, approval_id: str, grounds: str) -> Answer | Failure | None:
        """Nobody has to be asked any more, on these grounds; if somebody has answered before, what
        they said."""
        withdrawn = ApprovalWithdrawn(
            approval_id=approval_id, call_id=self._call.id, reason=self._clean(grounds)
        )
        first = await self._unless_answered(withdrawn)
        return answer_of(first) if isinstance(first, ApprovalAnswered) else first

    async def first_answer(self, approval_id: str) -> ApprovalAnswered | None:
        """What the journal holds as the answer to the question asked last; JournalError."""
        journal = await self._log.journal()
        query = EventQuery(after=self._last_event, types=("approval.answered",))
        found = await journal.find(self._call.session_id, query)
        answers = (one.payload for one in found if isinstance(one.payload, ApprovalAnswered))
        return next((one for one in answers if one.approval_id == approval_id), None)

    async def _unless_answered(
        self, said: ApprovalAnswered | ApprovalWithdrawn
    ) -> ApprovalAnswered | Failure | None:
        """End a question; where it has an answer already, that."""
        self._untold.append(said)
        try:
            await self._write()
        except NotFitting as problem:
            self._untold.clear()  # the call is known, and can still be given its end
            try:
                first = await self.first_answer(said.approval_id)
            except JournalError as unread:
                return _unwritten("run", unread)
            return _unwritten("run", problem) if first is None else first
        except JournalError as problem:
            return _unwritten("run", problem)
        return None

    def refused(self, verdict: Deny) -> None:
        """It may not run; written with the answer."""
        self._untold.append(
            CallRefused(
                call_id=self._call.id,
                tool=verdict.prepared.tool.name,
                arguments_hash=arguments_hash(verdict.prepared),
                kind=verdict.kind,
                reason=self._clean(verdict.reason),
            )
        )

    async def intends(self, permit: Permit) -> Failure | None:
        """It is about to run."""
        known = self.standing
        if known is not None and known.began:
            return None  # its intent stands, and what is left of it does nothing
        self._untold.append(
            CallIntended(
                call_id=self._call.id,
                tool=permit.prepared.tool.name,
                arguments_hash=arguments_hash(permit.prepared),
                grounds=self._clean(permit.grounds),
                repairs=permit.prepared.repairs,
            )
        )
        tool = permit.prepared.tool
        self._at_once = not self._begun and tool.is_pure and tool.body.style in IN_PLACE
        return None if self._at_once else await self._told("run")

    async def waits(self, begun: Begun) -> Failure | None:
        """It did not end at once: others may see that it runs, before it goes on."""
        if not self._at_once:
            return None
        try:
            unwritten = await self._told("run")
        except BaseException:
            give_up(begun)
            raise
        self._at_once = False
        if unwritten is not None:
            give_up(begun)
        return unwritten

    async def settled(self, envelope: Envelope) -> Envelope:
        """Its answer; with a warning where that could not be written down."""
        kept = envelope.metadata
        if kept.output_path is not None:
            stored = (kept.output_bytes or 0) - (kept.dropped_bytes or 0)
            self._untold.append(
                SidecarKept(call_id=self._call.id, path=kept.output_path, stored_bytes=stored)
            )
        try:
            await self._write_end(envelope)
        except JournalError as problem:
            if self._at_once:
                self._at_once = False
                self._untold = [one for one in self._untold if not isinstance(one, SidecarKept)]
                return await self.settled(_unanswered(envelope, problem))
            told = f"This answer could not be written down: {problem}."
            return msgspec.structs.replace(envelope, warnings=(*envelope.warnings, told))
        return envelope

    async def abandoned(self) -> None:
        """Whoever asked for it is gone: what was begun gets its end."""
        if self._in_doubt:
            # It was written or is refused before this is: if it was not, nothing has happened.
            self._untold.clear()
        if self._begun:
            failure = cancelled(self._call.tool)
            await self.settled(Envelope(failure=failure, tool=self._call.tool))

    async def _told(self, what: str) -> Failure | None:
        try:
            await self._write()
        except JournalError as problem:
            if isinstance(problem, NotFitting):
                # What became of it does not fit; that it was asked for does, and so does its end.
                self._untold = [one for one in self._untold if isinstance(one, CallAsked)]
            return _unwritten(what, problem)
        return None

    async def _write_end(self, envelope: Envelope) -> None:
        """With what is still to be told, unless that was written down without our hearing of it."""
        answer = msgspec.Raw(render(envelope).encode())
        tool = self._clean(clean_text(self._call.tool))
        settlement = CallSettled(call_id=self._call.id, tool=tool, envelope=answer)
        try:
            await self._write(settlement)
        except NotFitting:
            if not self._untold:
                raise
            self._untold.clear()
            await self._write(settlement)

    async def _write(self, *more: Payload) -> None:
        payloads = (*self._untold, *more)
        self._begun = self._in_doubt = True
        try:
            events = await self._log.append(payloads)
        except JournalError:
            self._in_doubt = False
            raise
        self._in_doubt = False
        self._last_event = events[-1].id
        self._untold.clear()

    def _clean(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor.active else text


def _uses_without_secrets(uses: tuple[Use, ...], redactor: Redactor) -> tuple[Use, ...]:
    if not redactor.active:
        return uses
    return msgspec.json.decode(redactor.json(encode_json(uses)), type=tuple[Use, ...])


def _unwritten(what: str, problem: JournalError) -> Failure:
    message = f"The call was not {what}: it cannot be written down ({problem})."
    again = not isinstance(problem, JournalUnusable)
    return failure_of(FailureKind.UNAVAILABLE, message, retryable=again)


def _unanswered(envelope: Envelope, problem: JournalError) -> Envelope:
    """Nobody saw that it ran, and nobody will: as if it never had."""
    measured = Metadata(duration_ms=envelope.metadata.duration_ms)
    failure = _unwritten("run", problem)
    return msgspec.structs.replace(envelope, result_json=NULL, failure=failure, metadata=measured)


def _text(call: ToolCall) -> str:
    """The arguments as they arrived, as text."""
    given = call.arguments
    if given is None:
        return ""
    if isinstance(given, bytes):
        given = given[:LONGEST_ARGUMENTS].decode("utf-8", "replace")
    elif not isinstance(given, str):
        given = encode_json(given).decode()
    return clean_text(given[:LONGEST_ARGUMENTS])
