"""The way of a call, on one page: text in, one Envelope out.

    parse → look up → repair and check → judge → (ask) → run → wrap → redact → bound

Each stage is a function from one frozen value to the next. Nothing between them is an exception: a
bad argument, a refusal, a timeout and a crash of the tool are values that end in an Envelope.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Protocol, TypeVar, cast

import msgspec
from anyio import CancelScope, Event, get_cancelled_exc_class

from holdfast.contract.call import (
    Outcome,
    Permit,
    Prepared,
    Rejected,
    Returned,
    ToolCall,
)
from holdfast.contract.envelope import NO_METADATA, Envelope, Metadata, Repair
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject
from holdfast.contract.person import POSTPONED, Postponed
from holdfast.contract.ports import Approver, Clock, IdSource, Judge, SidecarStore
from holdfast.contract.runtime import (
    AbortSignal,
    Hand,
    NoHand,
    Ports,
    ProgressSink,
    Runtime,
    SessionFacts,
)
from holdfast.envelope.bound import may_exceed
from holdfast.envelope.redact import Redactor
from holdfast.execution.run import Begun, begin, finish
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES, parse_arguments
from holdfast.preflight.plan import Plan
from holdfast.runtime import guarding
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.leave import Leave
from holdfast.runtime.output import Output, bounded_refusal, guarded_progress
from holdfast.runtime.refusals import (
    MAX_NAME_CHARACTERS,
    not_ours,
    unknown_tool,
    waits_for_a_person,
)
from holdfast.runtime.repeats import RefusedCalls
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import Approved, Trail
from holdfast.runtime.turn import Turn

MAX_REPAIRS = 50
"""How many repairs an answer names one by one."""


class AroundCalls(Protocol):
    """What a host knows of calls and of where answers lead."""

    def followable(self, answer: Envelope) -> Envelope:
        """An answer without the steps to tools that are not there."""
        ...

    async def foretold(self, call: Runtime, given: JsonObject) -> Failure | None:
        """Why a call that a person would be asked about cannot work; None: maybe it does."""
        ...


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a pipeline is put together from."""

    catalog: Catalog
    judge: Judge
    approver: Approver
    clock: Clock
    ids: IdSource
    sidecars: SidecarStore
    redactor: Redactor
    session: SessionFacts
    progress: ProgressSink
    hand: Hand = NoHand()
    ports: Ports = {}
    """What stands behind the ports that tools name."""
    log: SessionLog | None = None
    """Where calls leave their trail; None: nowhere."""
    stays_open: Callable[[str], bool] = lambda _call_id: False
    """Whether a call has no end yet, although nobody waits for it any more."""
    around: AroundCalls | None = None
    """Who is asked around calls; None: nobody."""
    remarks: tuple[str, ...] = ()
    """What every answer of the session says."""
    max_argument_bytes: int = MAX_ARGUMENT_BYTES
    turn: Turn = Turn()
    fulfils: bool = False
    """Whether tools of the application can be called: their answers come from it, later."""


class Admitted(msgspec.Struct, frozen=True):
    """A call that may run, and has not begun."""

    call: ToolCall
    permit: Permit
    abort: AbortSignal
    trail: Trail | None
    progress: ProgressSink

    @property
    def parallel_safe(self) -> bool:
        """Whether it may overlap with others."""
        return self.permit.prepared.tool.parallel_safe

    @property
    def resource(self) -> tuple[str, ...]:
        """What it touches: calls that touch the same never overlap."""
        return self.permit.prepared.tool.resource_key(self.permit.prepared.arguments)


_Step = TypeVar("_Step", bound=Admitted | Envelope | Postponed)


class Pipeline:
    """Settles calls."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ticks = parts.clock.ticks
        self._output = Output(parts.redactor, parts.sidecars)
        self._redactor = parts.redactor
        self._progress = guarded_progress(parts.progress, parts.redactor)
        self._refused = RefusedCalls()
        self._leave = Leave(parts.judge, parts.approver, parts.ids)
        self._under_way = 0
        self._all_ended = Event()

    def settle(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> Coroutine[object, object, Envelope]:
        """Take a call to its one answer. Raises nothing but cancellation of the caller itself.

        ``progress``: where the signs of life of this call go, instead of where those of all do.
        """
        log = self._parts.log
        sink = self._progress if progress is None else guarded_progress(progress, self._redactor)
        if log is None:
            # Where nothing is written, nothing can be left open.
            settled = self._settled(call, abort, None, sink)
            return cast("Coroutine[object, object, Envelope]", settled)
        return self._written_down(call, abort, Trail(log, self._redactor, call, approved), sink)

    async def take(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> Envelope | Postponed:
        """The same for whoever can wait: a call that a person has to decide over stays open."""
        admitted = await self.admit(call, abort, approved, progress)
        return await self.run(admitted) if isinstance(admitted, Admitted) else admitted

    async def admit(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> "Admitted | Envelope | Postponed":
        """Take a call as far as it goes before anything happens; what is over is answered."""
        log = self._parts.log
        sink = self._progress if progress is None else guarded_progress(progress, self._redactor)
        trail = None if log is None else Trail(log, self._redactor, call, approved)
        return await self._kept(trail, call, self._admitted(call, abort, trail, sink))

    async def run(self, admitted: "Admitted") -> Envelope | Postponed:
        """Run what was admitted; it stays open where it asks a person who answers later."""
        call = admitted.call
        ended = await self._kept(admitted.trail, call, self._carried_out(admitted))
        return POSTPONED if self._parts.stays_open(call.id) else ended

    async def _written_down(
        self, call: ToolCall, abort: AbortSignal, trail: Trail, progress: ProgressSink
    ) -> Envelope:
        settled = await self._kept(trail, call, self._settled(call, abort, trail, progress))
        return settled if isinstance(settled, Envelope) else _left_open(call)

    async def _kept(
        self,
        trail: Trail | None,
        call: ToolCall,
        work: Coroutine[object, object, _Step],
    ) -> _Step | Envelope:
        """Do a part of a call, and write its end down where it has come to that."""
        self._under_way += 1
        try:
            found = await work
            if trail is None or not isinstance(found, Envelope) or self._parts.stays_open(call.id):
                return found
            return await trail.settled(found)
        except get_cancelled_exc_class():
            if trail is not None and not self._parts.stays_open(call.id):
                with CancelScope(shield=True):
                    await trail.abandoned()
            raise
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._all_ended.set()

    async def ended(self) -> None:
        """Wait until all calls have their answers written down."""
        while self._under_way:
            if self._all_ended.is_set():  # one for all who wait: nobody's is lost to a later one
                self._all_ended = Event()
            await self._all_ended.wait()

    async def _settled(
        self, call: ToolCall, abort: AbortSignal, trail: Trail | None, progress: ProgressSink
    ) -> Envelope | Postponed:
        admitted = await self._admitted(call, abort, trail, progress)
        return await self._carried_out(admitted) if isinstance(admitted, Admitted) else admitted

    async def _admitted(
        self, call: ToolCall, abort: AbortSignal, trail: Trail | None, progress: ProgressSink
    ) -> "Admitted | Envelope | Postponed":
        started = self._ticks()
        parts = self._parts
        plan = parts.catalog.plan(call.tool)
        if plan is None:
            return self._refuse(_unknown(parts, call), None, started)
        if (spent := parts.turn.counted(plan.tool)) is not None:
            return self._sealed(Envelope(failure=spent), call, (), started)
        prepared = _prepared(parts, plan, call)
        # Asked for what is likely: a negative isinstance of a struct costs three times a positive.
        if not isinstance(prepared, Prepared):
            return self._refuse(prepared, plan, started)
        if plan.tool.ownership == "custom" and not parts.fulfils:
            return self._sealed(Envelope(failure=not_ours(call.tool)), call, (), started)
        verdict = parts.judge(prepared)
        if not isinstance(verdict, Permit) or (trail is not None and trail.standing is not None):
            vain = None
            if parts.around is not None:
                runtime = self._runtime(call, prepared, abort, progress)
                vain = partial(parts.around.foretold, runtime, prepared.arguments)
            verdict = await self._leave(verdict, call.tool, abort, trail, vain)
            if isinstance(verdict, Failure):
                refused = _followable(parts, Envelope(failure=verdict, tool=call.tool))
                return self._sealed(refused, call, prepared.repairs, started)
            if isinstance(verdict, Postponed):
                return verdict
        return Admitted(call, verdict, abort, trail, progress)

    async def _carried_out(self, admitted: "Admitted") -> Envelope:
        call, verdict, trail = admitted.call, admitted.permit, admitted.trail
        parts, prepared = self._parts, admitted.permit.prepared
        started = self._ticks()  # whoever was asked before took their own time
        if trail is not None and (unwritten := await trail.intends(verdict)):
            return self._sealed(Envelope(failure=unwritten), call, prepared.repairs, started)
        runtime = self._runtime(call, prepared, admitted.abort, admitted.progress)
        outcome = begin(verdict, runtime)
        if not isinstance(outcome, Outcome):
            outcome = await _ended(outcome, trail)
        answer = self._output.wrapped(outcome, parts.hand.noticed(call.id))
        if isinstance(answer, Envelope):
            answer = _followable(parts, answer)
        if not isinstance(answer, Envelope) or may_exceed(answer, prepared.tool.limits.output):
            answer = await self._output.bounded(answer, outcome)
        return self._sealed(answer, call, prepared.repairs, started)

    def _runtime(
        self, call: ToolCall, prepared: Prepared, abort: AbortSignal, progress: ProgressSink
    ) -> Runtime:
        parts = self._parts
        return Runtime(
            call_id=call.id,
            tool=call.tool,
            session=parts.session,
            progress=progress,
            abort=abort,
            hand=parts.hand,
            ports=parts.ports,
            model_call_id=call.model_call_id,
            declared=prepared.tool,
        )

    def heard(self, approval_id: str | None) -> None:
        """The answer to a question was written down: the call that waits for it goes on.

        None: something was, maybe an answer; every call that waits for one looks.
        """
        self._leave.heard(approval_id)

    def prepare(self, call: ToolCall) -> Prepared | Failure:
        """What settling the call would begin with; a failure when it would not even be judged."""
        plan = self._parts.catalog.plan(call.tool)
        if plan is None:
            return _unknown(self._parts, call).failure
        prepared = _prepared(self._parts, plan, call)
        if isinstance(prepared, Rejected):
            return prepared.failure
        return not_ours(call.tool) if plan.tool.ownership == "custom" else prepared

    def _refuse(self, rejected: Rejected, plan: Plan | None, started: int) -> Envelope:
        refused = Envelope(failure=self._refused.advise(rejected, plan))
        return self._sealed(bounded_refusal(refused), rejected.call, rejected.repairs, started)

    def _sealed(
        self, envelope: Envelope, call: ToolCall, repairs: tuple[Repair, ...], started: int
    ) -> Envelope:
        duration = (self._ticks() - started) // 1_000_000
        metadata = envelope.metadata
        if metadata is NO_METADATA:
            metadata = Metadata(duration_ms=duration, repairs=repairs)
        else:
            metadata = msgspec.structs.replace(metadata, duration_ms=duration, repairs=repairs)
        if len(repairs) > MAX_REPAIRS:
            metadata = msgspec.structs.replace(
                metadata, repairs=repairs[:MAX_REPAIRS], repair_count=len(repairs)
            )
        sealed = Envelope(
            result_json=envelope.result_json,
            failure=envelope.failure,
            tool=call.tool[:MAX_NAME_CHARACTERS],
            call_id=call.id,
            warnings=self._parts.remarks + envelope.warnings,
            metadata=metadata,
        )
        return self._redactor.envelope(sealed) if self._redactor.active else sealed


def _unknown(parts: Parts, call: ToolCall) -> Rejected:
    parsed = parse_arguments(call.arguments, max_bytes=parts.max_argument_bytes)
    unreadable = parsed if isinstance(parsed, Failure) else None
    absent = parts.catalog.absent.get(call.tool)
    return Rejected(call=call, failure=unreadable or absent or unknown_tool(call.tool))


def _prepared(parts: Parts, plan: Plan, call: ToolCall) -> Prepared | Rejected:
    prepared = plan.prepare(call, parts.max_argument_bytes)
    if plan.tool.guard is None and not plan.tool.guarded:
        return prepared
    return guarding.guarded(prepared, parts.session)


def _followable(parts: Parts, answer: Envelope) -> Envelope:
    return answer if parts.around is None else parts.around.followable(answer)


def _left_open(call: ToolCall) -> Envelope:
    """What whoever does not wait is told of a call that does."""
    return Envelope(failure=waits_for_a_person(call.tool), tool=call.tool, call_id=call.id)


async def _ended(begun: Begun, trail: Trail | None) -> Outcome:
    """Wait for a call that did not end at once, once it is written down that it runs."""
    if trail is not None and (unwritten := await trail.waits(begun)) is not None:
        return Outcome(permit=begun.permit, ending=Returned(Envelope(failure=unwritten)))
    return await finish(begun)
