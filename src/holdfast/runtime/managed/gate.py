"""The gate before what all sessions of an agent share: open once the outcome is reached.

Asked by whoever writes, where it writes. What is written is not known here.
"""

import msgspec

from holdfast.contract.errors import PolicyDenied
from holdfast.contract.outcomes import Evaluation
from holdfast.runtime.managed.evaluating import gate_step, refused_by_gate
from holdfast.runtime.managed.judging import Judging


class Gate:
    """Of one session."""

    def __init__(self, judging: Judging) -> None:
        self._judging = judging

    async def passed(self, tool: str, *, required: bool | None) -> Evaluation:
        """How far the outcome is reached; PolicyDenied where it has to be and is not.

        ``required``: what the call says of it; None: where there is an outcome.
        """
        found = await self._judging.judged()
        said = refused_by_gate(tool, found.evaluation, found.outcome, required=required)
        if said is None:
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
