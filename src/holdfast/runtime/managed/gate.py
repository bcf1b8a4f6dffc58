"""The gate before what all sessions of an agent share: open once the outcome is reached.

Asked by whoever writes, where it writes. What is written is not known here.
"""

import msgspec

from holdfast.contract.delegation import MOST_DEPTH
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.outcomes import Evaluation
from holdfast.runtime.managed.evaluating import gate_step, refused_by_gate
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judging


class Gate:
    """Of one session."""

    def __init__(self, judging: Judging, ground: Ground) -> None:
        self._judging = judging
        self._ground = ground

    async def passed(self, tool: str, *, required: bool | None) -> Evaluation:
        """How far the outcome is reached; PolicyDenied where it has to be and is not.

        ``required``: what the call says of it; None: where there is an outcome.
        """
        found = await self._judging.judged()
        said = refused_by_gate(tool, found.evaluation, found.outcome, required=required)
        if said is None:
            if required is not False:
                await self._check_above(tool)
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

    async def _check_above(self, tool: str) -> None:
        """A session that works for others shares nothing while theirs is not reached."""
        if self._ground.log is None:
            return
        journal = (await self._ground.stores()).journal
        above = (await journal.session(self._ground.session_id)).state.parent_id
        for _ in range(MOST_DEPTH + 1):
            if above is None:
                return
            state = (await journal.session(above)).state
            managed = state.managed
            wanted = managed is not None and managed.outcome_fingerprint is not None
            record = None if managed is None else managed.evaluated
            if wanted and (record is None or not record.evaluation.promotion_ready):
                raise PolicyDenied(
                    f"{tool} requires outcome_evaluate to return status=pass; the outcome of"
                    f" session {above}, which this one works for, is not reached."
                )
            above = state.parent_id
