"""What `outcome_*` tools are answered: the outcome of a session defined, read, graded, evaluated.

How far a session came is `judging`'s to say; what is made of it is not known here.
"""

from holdfast.contract.errors import Unavailable
from holdfast.contract.events import EventsProcessed, OutcomeDefined, WantedOutcome
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.outcomes import (
    DefinedOutcome,
    EvaluatedOutcome,
    GradedOutcome,
    OutcomeHistory,
    ReadOutcome,
)
from holdfast.contract.outcomes import outcome_fingerprint
from holdfast.runtime.managed.criteria import warnings_about
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.session_folders import shown_of


class OutcomeDesk:
    """Of one session, for itself and for others of its agent."""

    def __init__(self, ground: Ground, judging: Judging) -> None:
        self._ground = ground
        self._judging = judging

    async def define(self, outcome: WantedOutcome, session_id: str | None, /) -> DefinedOutcome:
        """This is to come of it: what is written says that no run has to take it into account."""
        ground = self._ground
        session = await ground.session(session_id)
        clean = _cleaned(outcome, ground)
        event_id, marked_id = ground.ids.new("evt"), ground.ids.new("evt")
        said = [
            OutcomeDefined(outcome=clean, known=True),
            EventsProcessed(event_ids=(event_id,)),
        ]
        try:
            stores = await ground.stores()
            await stores.journal.append(session.id, said, ids=[event_id, marked_id])
        except JournalError as problem:
            raise Unavailable(f"The outcome was not written down: {problem}") from None
        return DefinedOutcome(
            session_id=session.id,
            active_outcome=clean,
            event_id=event_id,
            warnings=warnings_about(clean),
            artifact_paths=await shown_of(self._ground, session.id, "outcome"),
        )

    async def read(self, session_id: str | None, /) -> ReadOutcome:
        """What is to come of it."""
        session = await self._ground.session(session_id)
        return ReadOutcome(
            session_id=session.id,
            active_outcome=await self._judging.outcome(session),
            artifact_paths=await shown_of(self._ground, session.id, "outcome"),
        )

    async def grade(self, session_id: str | None, /) -> GradedOutcome:
        """How far it came."""
        found = await self._judging.judged(session_id)
        return GradedOutcome(
            session_id=found.session_id,
            active_outcome=found.outcome,
            grade=found.grade,
            artifact_paths=await shown_of(
                self._ground, found.session_id, "outcome_grade", "outcome_repair"
            ),
        )

    async def evaluate(self, session_id: str | None, /) -> EvaluatedOutcome:
        """Whether what it did may be shared."""
        found = await self._judging.judged(session_id)
        return EvaluatedOutcome(
            session_id=found.session_id,
            active_outcome=found.outcome,
            grade=found.grade,
            evaluation=found.evaluation,
            evaluation_history=found.records,
            artifact_paths=await shown_of(self._ground, found.session_id, "outcome_evaluation"),
        )

    async def history(self, session_id: str | None, limit: int, /) -> OutcomeHistory:
        """What its newest runs came to."""
        session = await self._ground.session(session_id)
        outcome = await self._judging.outcome(session)
        records = (await self._judging.records(session))[-limit:]
        known = None if outcome is None else outcome_fingerprint(outcome)
        of_outcome = [one.iteration for one in records if one.outcome_fingerprint == known]
        return OutcomeHistory(
            session_id=session.id,
            active_outcome=outcome,
            count=len(records),
            latest_iteration=of_outcome[-1] if of_outcome else None,
            evaluations=records,
            artifact_paths=await shown_of(self._ground, session.id, "outcome_evaluations"),
        )


def _cleaned(outcome: WantedOutcome, ground: Ground) -> WantedOutcome:
    """Without secrets: it is written down, and shown."""
    clean = ground.clean
    return WantedOutcome(
        title=clean(outcome.title),
        detail=None if outcome.detail is None else clean(outcome.detail),
        success_criteria=tuple(map(clean, outcome.success_criteria)),
    )
