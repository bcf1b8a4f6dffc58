"""A desk where questions wait for whoever answers: an approver for surfaces that answer later.

Safe to use from any thread. What is asked and what an answer means is not known here.
"""

import threading

from holdfast.contract.call import Ask
from holdfast.contract.json_value import text_of
from holdfast.contract.ports import Answer, Clock, IdSource, is_answer
from holdfast.execution.drive import Wakeup
from holdfast.policy import approval
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

_NOT_OPEN = "no question {0.id} about call {0.call_id} of session {0.session_id} is open"


class ApprovalDesk:
    """Puts questions on a list, and waits."""

    def __init__(self, clock: Clock | None = None, ids: IdSource | None = None) -> None:
        self._clock = clock or SystemClock()
        self._ids = ids or TimeIds(self._clock)
        self._ledger = approval.ApprovalLedger()
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Wakeup]] = {}

    @property
    def pending(self) -> "tuple[approval.ApprovalRequest, ...]":
        """The open questions, the oldest first."""
        with self._lock:
            return self._ledger.pending

    def answer(self, asked: "approval.ApprovalRequest", answer: Answer) -> None:
        """Answer a question that was shown; ApprovalError when it is none that is open.

        It counts for the session, the call and the question that ``asked`` names, and for no other.
        """
        if not is_answer(answer):
            given = text_of(answer)
            raise approval.ApprovalError(f"{given} is no answer; write Answer(allowed=..., by=...)")
        with self._lock:
            if not any(_names(asked, one) for one in self._ledger.pending):
                raise approval.ApprovalError(_NOT_OPEN.format(asked))
            self._ledger.answer(asked.id, asked.tool_name, answer, self._clock.now())
            waiting = self._waiting.get(asked.id, [])[:]
        for wakeup in waiting:
            wakeup.set()

    async def __call__(self, ask: Ask, /) -> Answer | None:
        """Wait for the answer."""
        answered = Wakeup()
        with self._lock:
            name = ask.approval_id or self._ids.new("apr")
            request = self._ledger.request(ask, name, self._clock.now())
            self._waiting.setdefault(request.id, []).append(answered)
        try:
            await answered.wait()
            with self._lock:
                return self._ledger.use(request.id, ask.prepared, self._clock.now())
        finally:
            with self._lock:
                self._leave(request.id, answered)

    def _leave(self, request_id: str, waiting: Wakeup) -> None:
        """Whoever stops waiting takes the question back only when nobody else waits for it."""
        others = self._waiting[request_id]
        others.remove(waiting)
        if not others:
            del self._waiting[request_id]
            self._ledger.withdraw(request_id)


def _names(asked: "approval.ApprovalRequest", known: "approval.ApprovalRequest") -> bool:
    """Whether it is this very question; somebody may have made it up."""
    return (asked.id, asked.session_id, asked.call_id, asked.call_hash) == (
        known.id,
        known.session_id,
        known.call_id,
        known.call_hash,
    )
