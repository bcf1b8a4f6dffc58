"""The gate before what all sessions of an agent share: open once the outcome is reached.

Asked by whoever writes, where it writes. What is written is not known here.
"""

from typing import NamedTuple

import msgspec

from holdfast.contract.delegation import MOST_DEPTH
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.journal import Session, UnknownSession
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.steps import Step
from holdfast.runtime.managed.evaluating import gate_step, refused_by_gate
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.reading import reading


class Held(NamedTuple):
    """By a session above."""

    session_id: str
    step: Step | None
    """What to call meanwhile; None: it is another agent's, of which nothing is told."""


class Gate:
    """Of one session."""

    def __init__(self, judging: Judging, ground: Ground) -> None:
        self.judging = judging
        self._ground = ground

    async def passed(self, tool: str, *, required: bool | None) -> Evaluation:
        """How far the outcome is reached; PolicyDenied where it has to be and is not.

        ``required``: what the call says of it; None: where there is an outcome.
        """
        found = await self.judging.judged()
        said = refused_by_gate(tool, found.evaluation, found.outcome, required=required)
        if said is None:
            if required is not False and (above := await self.held_above()) is not None:
                raise _refused(tool, above)
            return found.evaluation
        step = gate_step(found.evaluation)
        raise PolicyDenied(
            said,
            extras={
                "outcome_status": found.evaluation.status,
                "outcome_summary": found.evaluation.summary,
                "next_step": msgspec.to_builtins(step),
            },
        )

    async def held_above(self) -> Held | None:
        """The nearest session that this one works for and whose outcome is not reached: while that
        is so, nothing is shared. One that was taken away wants nothing any more."""
        if self._ground.log is None:
            return None
        with reading():
            journal = (await self._ground.stores()).journal
            above = (await journal.session(self._ground.session_id)).state.parent_id
            for _ in range(MOST_DEPTH + 1):
                if above is None:
                    return None
                try:
                    session = await journal.session(above)
                except UnknownSession:
                    return None
                if await self._is_held(session):
                    return Held(above, _step(above) if self._ground.is_ours(session) else None)
                above = session.state.parent_id
        return None

    async def _is_held(self, session: Session) -> bool:
        """Whether its outcome is not reached, by its last verdict and by what went wrong since."""
        managed = session.state.managed
        if managed is None or managed.outcome_fingerprint is None:
            return False
        if managed.evaluated is None or not managed.evaluated.evaluation.promotion_ready:
            return True
        return await self.judging.has_failed(session)


def _step(session_id: str) -> Step:
    return Step(
        tool="outcome_evaluate",
        args={"session_id": session_id},
        rationale="This session works for that one, whose outcome is not reached yet.",
    )


def _refused(tool: str, above: Held) -> PolicyDenied:
    return PolicyDenied(
        f"{tool} requires outcome_evaluate to return status=pass; the outcome of session"
        f" {above.session_id}, which this one works for, is not reached.",
        extras={} if above.step is None else {"next_step": msgspec.to_builtins(above.step)},
    )
