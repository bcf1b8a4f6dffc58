"""A session's outcome as tools define and read it, and the ports behind that.

What an outcome, a grade and an evaluation are is in `contract.outcomes`.
"""

from typing import NamedTuple, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import JsonObject
from holdfast.contract.outcomes import (
    Evaluation,
    EvaluationRecord,
    Grade,
    LastWake,
    Standing,
    outcome_fingerprint,
)


class ReadOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is to achieve."""

    session_id: str
    active_outcome: WantedOutcome | None
    artifact_paths: tuple[str, ...] = ()
    """Where the same is shown to the session's own hand; of the calling session alone."""


class DefinedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What it is to achieve from here on."""

    session_id: str
    active_outcome: WantedOutcome
    event_id: str
    warnings: tuple[str, ...] = ()
    """Criteria that can hardly ever be shown, each with what to write in its place."""
    artifact_paths: tuple[str, ...] = ()


class GradedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How far it came."""

    session_id: str
    active_outcome: WantedOutcome | None
    grade: Grade
    artifact_paths: tuple[str, ...] = ()


class EvaluatedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what it did may be shared."""

    session_id: str
    active_outcome: WantedOutcome | None
    grade: Grade
    evaluation: Evaluation
    evaluation_history: tuple[EvaluationRecord, ...]
    """The oldest first."""
    artifact_paths: tuple[str, ...] = ()


class OutcomeHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What its runs came to."""

    session_id: str
    active_outcome: WantedOutcome | None
    count: int
    latest_iteration: int | None
    """Of the active outcome; None: no run has ended since it was defined."""
    evaluations: tuple[EvaluationRecord, ...]
    """The oldest first."""
    artifact_paths: tuple[str, ...] = ()


class Outcomes(CallPort, Protocol):
    """Whoever knows the outcomes of an agent's sessions; without an id, the calling one is meant.

    PolicyDenied for a session that is not the agent's, Unavailable where nothing is written down.
    """

    async def define(self, outcome: WantedOutcome, session_id: str | None, /) -> DefinedOutcome:
        """This is to come of it. No run is begun by that."""
        ...

    async def read(self, session_id: str | None, /) -> ReadOutcome:
        """What is to come of it."""
        ...

    async def grade(self, session_id: str | None, /) -> GradedOutcome:
        """How far it came."""
        ...

    async def evaluate(self, session_id: str | None, /) -> EvaluatedOutcome:
        """Whether what it did may be shared."""
        ...

    async def history(self, session_id: str | None, limit: int, /) -> OutcomeHistory:
        """What its newest runs came to."""
        ...


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What earlier runs came to."""

    outcome: WantedOutcome | None = None
    wake_id: str | None = None
    """The newest run, which is evaluated now."""
    records: tuple[EvaluationRecord, ...] = ()
    """The oldest first."""
    session: JsonObject = {}
    """The argument that names the session, where it is another one."""

    @property
    def of_outcome(self) -> list[EvaluationRecord]:
        """Those for the same outcome."""
        known = None if self.outcome is None else outcome_fingerprint(self.outcome)
        return [one for one in self.records if one.outcome_fingerprint == known]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """All that an evaluator is shown of a session."""

    standing: Standing
    last_wake: LastWake
    past: Past


class Verdict(NamedTuple):
    """What it makes of that. How it moved from run to run is added by whoever asks."""

    grade: Grade
    evaluation: Evaluation


class Evaluator(Protocol):
    """Says how far a session came with its outcome, and whether what it did may be shared.

    The one that ships asks no model. Another one may, in a context of its own: the gate, the
    history and the tools take whatever it says.
    """

    async def verdict(self, case: Case, /) -> Verdict:
        """Of one session, as it stands now."""
        ...
