"""What a call leaves in the journal on its way: asked, decided, intended, settled.

An intent stands in the journal before anything happens, or nothing happens. What was done is told
even when it could not be written down any more. Secrets are taken out before.
"""

import hashlib

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Ask, Deny, Permit, Prepared, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Payload,
    SidecarKept,
)
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.journal import JournalError, NotFitting
from holdfast.contract.json_value import clean_text, encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Use
from holdfast.envelope.dialects.ok import render
from holdfast.envelope.from_error import cancelled
from holdfast.envelope.redact import Redactor
from holdfast.runtime.session_log import SessionLog

LONGEST_ARGUMENTS = 1 << 20
"""How many characters of arguments are kept: more is refused before it could matter."""
_REFUSED_BEFORE = "A person refused this call before the program was started again."


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


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a person decided over before anything of it happened: it still has to end."""

    call: ToolCall
    arguments_hash: str
    answer: Answer


class Trail:
    """One call's."""

    def __init__(
        self, log: SessionLog, redactor: Redactor, call: ToolCall, approved: Approved | None = None
    ) -> None:
        """``approved``: it has come that far already."""
        self._log = log
        self._redactor = redactor
        self._call = call
        self._approved = approved
        self._begun = approved is not None
        """Something of the call stands in the journal."""
        self._in_doubt = False
        """A write was begun, and nobody has heard yet what became of it."""
        self._untold: list[Payload] = []
        if approved is None:
            asked = CallAsked(
                call_id=call.id,
                model_call_id=call.model_call_id,
                tool=self._clean(clean_text(call.tool)),
                arguments=self._clean(_text(call)),
            )
            self._untold.append(asked)

    @property
    def is_answered(self) -> bool:
        """A person decided over the call before."""
        return self._approved is not None

    def given(self, ask: Ask) -> Answer | None:
        """What was answered to exactly this question before; a refusal holds for any."""
        known = self._approved
        if known is None:
            return None
        fits = not known.answer.allowed or known.arguments_hash == arguments_hash(ask.prepared)
        return known.answer if fits else None

    async def asks(self, ask: Ask, approval_id: str) -> Failure | None:
        """A person is going to be asked."""
        self._untold.append(
            ApprovalAsked(
                approval_id=approval_id,
                call_id=self._call.id,
                tool=ask.prepared.tool.name,
                arguments_hash=arguments_hash(ask.prepared),
                reason=self._clean(ask.reason),
                uses=self._clean_uses(ask.uses),
                offers=ask.offers,
                wider=tuple(map(self._clean, ask.wider)),
            )
        )
        return await self._told("asked about")

    async def answered(self, approval_id: str, answer: Answer | None) -> Failure | None:
        """They answered, or nobody was there."""
        if answer is not None and answer.note is not None:
            answer = msgspec.structs.replace(answer, note=self._clean(answer.note))
        self._untold.append(answered(approval_id, self._call.id, answer))
        return await self._told("run")

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
        """It is about to run, unless a person said before that it must not."""
        if self._approved is not None and not self._approved.answer.allowed:
            return failure_of(FailureKind.USER_DENIED, _REFUSED_BEFORE)
        self._untold.append(
            CallIntended(
                call_id=self._call.id,
                tool=permit.prepared.tool.name,
                arguments_hash=arguments_hash(permit.prepared),
                grounds=self._clean(permit.grounds),
                repairs=permit.prepared.repairs,
            )
        )
        return await self._told("run")

    async def settled(self, envelope: Envelope) -> Envelope:
        """Its answer; with a warning where that could not be written down."""
        kept = envelope.metadata
        if kept.output_path is not None:
            stored = (kept.output_bytes or 0) - (kept.dropped_bytes or 0)
            self._untold.append(
                SidecarKept(call_id=self._call.id, path=kept.output_path, stored_bytes=stored)
            )
        try:
            await self._write(self._settlement(envelope))
        except JournalError as problem:
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

    def _settlement(self, envelope: Envelope) -> CallSettled:
        answer = msgspec.Raw(render(envelope).encode())
        tool = self._clean(clean_text(self._call.tool))
        return CallSettled(call_id=self._call.id, tool=tool, envelope=answer)

    async def _told(self, what: str) -> Failure | None:
        try:
            await self._write()
        except JournalError as problem:
            if isinstance(problem, NotFitting) and self._approved is not None:
                self._untold.clear()  # the call is known, and can still be given its end
            message = f"The call was not {what}: it cannot be written down ({problem})."
            return failure_of(FailureKind.UNAVAILABLE, message)
        return None

    async def _write(self, *more: Payload) -> None:
        payloads = (*self._untold, *more)
        self._begun = self._in_doubt = True
        try:
            await self._log.append(payloads)
        except JournalError:
            self._in_doubt = False
            raise
        self._in_doubt = False
        self._untold.clear()

    def _clean_uses(self, uses: tuple[Use, ...]) -> tuple[Use, ...]:
        if not self._redactor.active:
            return uses
        return msgspec.json.decode(self._redactor.json(encode_json(uses)), type=tuple[Use, ...])

    def _clean(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor.active else text


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
