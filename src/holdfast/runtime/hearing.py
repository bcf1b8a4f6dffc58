"""Waiting for the answer to a question: the approver's, or one that was given elsewhere.

The journal holds the first answer, whoever gave it and from which process. When that was not the
approver, its question is over: it is interrupted. What an answer means is not known here.
"""

from anyio import Event, create_task_group, move_on_after

from holdfast.contract.call import Ask, Interrupted
from holdfast.contract.events import ApprovalAnswered
from holdfast.contract.journal import JournalError
from holdfast.contract.person import Postponed
from holdfast.contract.ports import Answer, Approver
from holdfast.contract.runtime import AbortSignal
from holdfast.execution.run import answer_to
from holdfast.runtime.abort import Abort
from holdfast.runtime.trail import Trail

LOOK_SECONDS = 0.5
"""How often it is looked whether another process wrote an answer down."""


class Hearing:
    """Hears whoever answers. Used on one event loop."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._waiting: dict[str, Event] = {}

    def look(self, approval_id: str | None) -> None:
        """An answer was written down: whoever waits for it need not wait any longer.

        None: whoever waits for any looks.
        """
        for waits_for, waiting in self._waiting.items():
            if approval_id in (None, waits_for):
                waiting.set()

    async def __call__(
        self, ask: Ask, approval_id: str, trail: Trail, abort: AbortSignal
    ) -> Answer | ApprovalAnswered | Interrupted | Postponed | None:
        """What the approver says, or what the journal says already."""
        over, elsewhere = Abort(), list[ApprovalAnswered]()
        answer: Answer | Interrupted | Postponed | None = None

        async def look() -> None:
            elsewhere.append(await self._written(approval_id, trail))
            over.set()

        unsubscribe = abort.subscribe(over.set)
        self._waiting[approval_id] = Event()
        try:
            async with create_task_group() as group:
                group.start_soon(look)
                answer = await answer_to(ask, self._approver, over)
                group.cancel_scope.cancel()
        finally:
            unsubscribe()
            del self._waiting[approval_id]
        if elsewhere and isinstance(answer, Interrupted) and not abort.aborted:
            return elsewhere[0]
        return answer

    async def _written(self, approval_id: str, trail: Trail) -> ApprovalAnswered:
        """The answer in the journal, once there is one."""
        while True:
            with move_on_after(LOOK_SECONDS):
                await self._waiting[approval_id].wait()
            self._waiting[approval_id] = Event()
            try:
                found = await trail.first_answer(approval_id)
            except JournalError:
                found = None  # the approver may still answer
            if found is not None:
                return found
