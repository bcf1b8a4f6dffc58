"""How far a session came with its outcome: looked up in its journal, written down when it rests.

The rules are in `grading` and `evaluating`; what is made of a verdict is not known here.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.events import Event, OutcomeDefined, StopReason, WantedOutcome
from holdfast.contract.journal import EventQuery, Journal, JournalError, Session
from holdfast.contract.managed.artifact_names import ARTIFACTS_FOLDER
from holdfast.contract.managed.outcomes import Case, Evaluator, Past
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.managed_events import OutcomeEvaluated
from holdfast.contract.mounts import of_kind
from holdfast.contract.outcomes import (
    MOST_RECORDS,
    Evaluation,
    EvaluationRecord,
    Grade,
    Pending,
    Standing,
)
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import PARKED_UNTIL
from holdfast.runtime.managed.evaluating import PlainEvaluator, moved, recorded
from holdfast.runtime.managed.evidence import Sources, Told, does_work, shows_work, told
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.instead import SHELL_COMMANDS, instead_of

_RECORDED = EventQuery(types=("outcome.evaluated",), limit=4 * MOST_RECORDS)
"""A run may have been recorded more than once."""
_BEGUN = EventQuery(types=("session.status_changed", "session.status_idle"), limit=1)
_WAITING = frozenset({"waiting", "inquiring"})
"""Stages of calls that somebody has to answer."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A session's outcome and what was found of it."""

    session_id: str
    outcome: WantedOutcome | None
    outcome_event_id: str | None
    grade: Grade
    evaluation: Evaluation
    records: tuple[EvaluationRecord, ...]
    """The oldest first."""
    past: Past


class Judging:
    """Judges sessions of one agent, as one of them sees it."""

    def __init__(
        self,
        ground: Ground,
        shell: Callable[[], ShellView],
        evaluator: Evaluator | None = None,
    ) -> None:
        """``evaluator``: who decides; None: rules alone."""
        self._ground = ground
        self._shell = shell
        self.evaluator = evaluator or PlainEvaluator()
        """Who says how far a session came. Another one may take its place."""
        self._sources = Sources(
            shows_work=lambda name: shows_work(ground.tool(name)),
            does_work=lambda name: does_work(ground.tool(name)),
            own_places=_own_places(ground),
        )

    async def judged(self, session_id: str | None = None) -> Judged:
        """How far a session came; without an id, this one, whose shell counts as well."""
        session = await self._ground.session(session_id)
        with _readable():
            return await self._judged(session)

    async def outcome(self, session: Session) -> WantedOutcome | None:
        """What is to come of a session; of the newest event that says it."""
        managed = session.state.managed
        if managed is None or managed.outcome_event_id is None:
            return None
        with _readable():
            found = await (await self._journal()).find(session.id, _alone(managed.outcome_event_id))
        said = found[0].payload
        return said.outcome if isinstance(said, OutcomeDefined) else None

    async def records(self, session: Session) -> tuple[EvaluationRecord, ...]:
        """What its runs came to, the oldest first."""
        with _readable():
            return await self._records(session)

    async def has_failed(self, session: Session) -> bool:
        """Whether something failed or was not done in its newest run, or in the one under way."""
        with _readable():
            events = await self._events(session)
        said = told(events, self._sources, goes_on=session.state.status == "running")
        return bool(said.last_wake.failed_tools or said.last_wake.not_done)

    async def record(self) -> Judged | None:
        """Write down how far this session came at the end of its run; None: it has no outcome."""
        session = await self._ground.session()
        managed = session.state.managed
        if managed is None or managed.outcome_fingerprint is None or self._ground.log is None:
            return None
        found = await self._judged(session)
        at = self._ground.clock.now().isoformat()
        after = recorded(found.evaluation, found.grade, found.past, at)
        if after == found.records:
            return found
        await self._ground.log.append([OutcomeEvaluated(record=after[-1])], in_run=False)
        return msgspec.structs.replace(found, records=after)

    async def _judged(self, session: Session) -> Judged:
        state = session.state
        runs = state.status == "running"
        said = told(await self._events(session), self._sources, goes_on=runs)
        other = None if session.id == self._ground.session_id else session.id
        past = Past(
            outcome=said.outcome,
            wake_id=said.last_wake_id,
            records=await self._records(session),
            session={} if other is None else {"session_id": other},
        )
        standing = Standing(
            outcome=said.outcome,
            session_id=other,
            title=state.title,
            pending=await self._pending(session),
            stop_reason=_stop_reason(state, said),
            sleeps=bool(state.wakes) or (_is_put_off(state) and not runs),
            last_wake_id=said.last_wake_id or await self._wake_before(session),
            evidence=said.evidence,
        )
        case = Case(standing=standing, last_wake=said.last_wake, past=past)
        found = await self.evaluator.verdict(case)
        live = self._shell().live() if other is None else None
        busy = live is not None and live.status == "busy"
        return Judged(
            session_id=session.id,
            outcome=said.outcome,
            outcome_event_id=said.outcome_event_id,
            grade=found.grade,
            evaluation=moved(found.evaluation, past, busy=busy),
            records=past.records,
            past=past,
        )

    async def _events(self, session: Session) -> Sequence[Event]:
        """Everything since the outcome was defined; without one, the end."""
        journal = await self._journal()
        managed = session.state.managed
        defined = None if managed is None else managed.outcome_event_id
        if defined is None:
            return await journal.find(session.id, EventQuery())
        found = list(await journal.find(session.id, _alone(defined)))
        while page := await journal.events(session.id, after=found[-1].sequence):
            found += page
        return found

    async def _records(self, session: Session) -> tuple[EvaluationRecord, ...]:
        found = await (await self._journal()).find(session.id, _RECORDED)
        kept: dict[tuple[str, str], EvaluationRecord] = {}
        for event in found:
            if isinstance(event.payload, OutcomeEvaluated):
                record = event.payload.record
                kept.pop((record.wake_id, record.outcome_fingerprint), None)
                kept[record.wake_id, record.outcome_fingerprint] = record
        return tuple(kept.values())[-MOST_RECORDS:]

    async def _wake_before(self, session: Session) -> str | None:
        """The last run before the outcome was defined, to be read again."""
        found = await (await self._journal()).find(session.id, _BEGUN)
        return found[-1].wake_id if found else None

    async def _pending(self, session: Session) -> Pending | None:
        """What somebody still has to answer."""
        state = session.state
        asked = state.confirmation
        if asked is not None and asked.answered_by is None:
            cwd = state.workspace or "/"
            if asked.tool_name in SHELL_COMMANDS:
                cwd = (await self._shell().state(session.id)).cwd
            instead = instead_of(asked.tool_name, asked.input, cwd, state.workspace or "/")
            return Pending(
                kind="tool_confirmation", tool_name=asked.tool_name, instead=instead.bash
            )
        if state.custom is not None and state.custom.answered_by is None:
            return Pending(kind="custom_tool", tool_name=state.custom.name)
        return None

    async def _journal(self) -> Journal:
        return (await self._ground.stores()).journal


@contextmanager
def _readable() -> Generator[None]:
    """A journal that fails is told as every tool tells it."""
    try:
        yield
    except JournalError as problem:
        raise Unavailable(f"The session cannot be read: {problem}") from None


def _alone(event_id: str) -> EventQuery:
    return EventQuery(around=event_id, before_limit=0, after_limit=0)


def _stop_reason(state: SessionState, said: Told) -> StopReason:
    """Why it does not go on; whatever was answered meanwhile is none any more."""
    if any(call.stage in _WAITING for call in state.calls.values()):
        return "requires_action"
    if said.stop_reason == "requires_action" and state.stop_reason != "terminated":
        return state.stop_reason
    return said.stop_reason


def _is_put_off(state: SessionState) -> bool:
    """Whether it is to be run again at a moment that is known."""
    return 0 < state.deferred_until < int(PARKED_UNTIL.timestamp()) * 1_000_000


def _own_places(ground: Ground) -> tuple[str, ...]:
    memory = of_kind(ground.mounts, "runtime_memory")
    return (ARTIFACTS_FOLDER, *(() if memory is None else (memory.mount_path,)))
