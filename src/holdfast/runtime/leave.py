"""Leave to run a call that policy did not permit by itself, at once: who is asked, what is said.

A question is written down before it is asked, and its answer before anything comes of it. Of
several answers the first one counts.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from holdfast.contract.call import Ask, Deny, Interrupted, Permit, Verdict
from holdfast.contract.events import ApprovalAnswered
from holdfast.contract.failure import Failure
from holdfast.contract.person import Postponed
from holdfast.contract.ports import Answer, Approver, IdSource, Judge
from holdfast.contract.runtime import AbortSignal
from holdfast.envelope.from_error import cancelled
from holdfast.execution.run import answer_to, verdict_of
from holdfast.policy import approval
from holdfast.runtime.hearing import Hearing
from holdfast.runtime.refusals import refusal
from holdfast.runtime.trail import Trail, answer_of

Vain: TypeAlias = Callable[[], Awaitable[Failure | None]]


class Leave:
    """Asks whoever has to be asked."""

    def __init__(self, judge: Judge, approver: Approver, ids: IdSource) -> None:
        self._judge = judge
        self._approver = approver
        self._ids = ids
        self._hearing = Hearing(approver)

    def heard(self, approval_id: str | None) -> None:
        """The answer to a question was written down, or None: maybe one to any of them."""
        self._hearing.look(approval_id)

    async def __call__(
        self,
        judged: Verdict | Awaitable[Verdict],
        tool: str,
        abort: AbortSignal,
        trail: Trail | None,
        vain: Vain | None = None,
    ) -> Permit | Failure | Postponed:
        """What becomes of the call; postponed, it stays open until somebody has answered.

        ``vain``: why asking is no use, as the call cannot work whatever is answered.
        """
        known = isinstance(judged, Permit | Ask | Deny)
        verdict = judged if known else await verdict_of(judged, abort)
        if trail is not None and trail.standing is not None and isinstance(verdict, Verdict):
            verdict = trail.standing.again(verdict)
        if isinstance(verdict, Permit):
            verdict = await self._unasked(verdict, trail)
        if isinstance(verdict, Ask):
            is_new = trail is None or trail.standing is None
            if is_new and vain is not None and (failure := await vain()) is not None:
                return failure
            answer = await self._answer(verdict, abort, trail)
            if isinstance(answer, Failure | Postponed):
                return answer
            interrupted = isinstance(answer, Interrupted)
            verdict = answer if interrupted else await self._judge.answered(verdict, answer)
        if isinstance(verdict, Interrupted):
            return cancelled(tool)
        if isinstance(verdict, Permit | Failure):
            return verdict
        if trail is not None:
            trail.refused(verdict)
        return refusal(verdict.kind, verdict.reason, why=verdict.why, note=verdict.note)

    async def _unasked(self, permit: Permit, trail: Trail | None) -> Permit | Deny | Failure:
        """The call may run: who was asked about it before need not answer, unless they have."""
        standing = None if trail is None else trail.standing
        question = None if standing is None else standing.void_question
        if trail is None or question is None:
            return permit
        said = await trail.withdraws(question, permit.grounds)
        if said is None or isinstance(said, Failure):
            return permit if said is None else said
        return await self._judge.answered(
            Ask(prepared=permit.prepared, reason=permit.grounds), said
        )

    async def _answer(
        self, ask: Ask, abort: AbortSignal, trail: Trail | None
    ) -> Answer | Interrupted | Failure | Postponed | None:
        if trail is None:
            given = await answer_to(approval.shown_to_a_person(ask), self._approver, abort)
            return None if isinstance(given, Postponed) else given  # there is nowhere to keep it
        standing = trail.standing
        if standing is not None and (given := standing.answer_to(ask)) is not None:
            return given
        asked_before = None if standing is None else standing.open_question
        name = asked_before or self._ids.new("apr")
        unwritten = await trail.asks(ask, name)
        if unwritten is not None:
            return unwritten
        shown = approval.shown_to_a_person(msgspec.structs.replace(ask, approval_id=name))
        answer = await self._hearing(shown, name, trail, abort)
        if isinstance(answer, Interrupted | Postponed):
            return answer
        if isinstance(answer, ApprovalAnswered):
            return answer_of(answer)
        return await trail.answered(name, answer)
