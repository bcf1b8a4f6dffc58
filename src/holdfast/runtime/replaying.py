"""Calls of a recording settled once more, with the tools and rules of now: what would be different?

The pipeline is the one that every call takes. Only its surroundings are played: a tool's body gives
the recorded answer and is never run, a person answers what they answered, time and names are the
recorded ones, and what is written goes to a journal in memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import Event, Payload, SessionCreated, SidecarKept
from holdfast.contract.journal import Journal
from holdfast.contract.ports import Answer, IdPrefix, Judge, StoredOutput
from holdfast.contract.runtime import Progress, Runtime, SessionFacts
from holdfast.contract.tool import Body, OutputBound, Tool
from holdfast.envelope.redact import Redactor
from holdfast.preflight.parse import MAX_ARGUMENT_BYTES
from holdfast.preflight.plan import Plan
from holdfast.record.divergence import MEASURED, Divergence, diverging
from holdfast.record.memory import memory_store
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog, compiled
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.recorded import RecordedCall, recorded_calls
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import answer_of

_HOLDER = "replay"
_UNBOUND = OutputBound(max_bytes=1 << 60)


class ReplayClock:
    """The time of the call that is being played."""

    def __init__(self) -> None:
        self._now = datetime.fromtimestamp(0, UTC)

    def set(self, moment: datetime) -> None:
        """It is this late now."""
        self._now = moment

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return self._now

    def unix_ns(self) -> int:
        """The same moment as nanoseconds since 1970."""
        return int(self._now.timestamp() * 1_000_000) * 1_000

    def ticks(self) -> int:
        """Nothing takes any time."""
        return 0


class ReplayParts(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken from now."""

    tools: Sequence[Tool]
    judge: Judge
    clock: ReplayClock
    redactor: Redactor
    session: SessionFacts
    created: SessionCreated
    remarks: tuple[str, ...] = ()
    known_remarks: frozenset[str] = frozenset()
    """All that an answer may say because of the session it is given in."""
    max_argument_bytes: int = MAX_ARGUMENT_BYTES


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """How it went."""

    calls: int
    """How many were settled once more."""
    left_out: tuple[str, ...] = ()
    """Calls of which not all is known any more."""
    divergence: Divergence | None = None


async def replayed(events: Sequence[Event], parts: ReplayParts) -> Replayed:
    """Settle every call once more, and name the first event that would be another one."""
    calls = recorded_calls(events)
    driven = [call for call in calls if not call.is_cut]
    store = memory_store(parts.clock, TimeIds(parts.clock))
    stage = _Stage(driven, parts)
    try:
        found = await _first(driven, stage, _pipeline(stage, store.journal), store.journal)
    finally:
        await store.journal.close()
    return Replayed(
        calls=len(driven),
        left_out=tuple(call.asked.call_id for call in calls if call.is_cut),
        divergence=found,
    )


async def _first(
    calls: Iterable[RecordedCall], stage: "_Stage", pipeline: Pipeline, journal: Journal
) -> Divergence | None:
    """Calls overlap: the first divergence may be one of a later call."""
    first: Divergence | None = None
    written = 0
    for call in calls:
        stage.enter(call)
        await pipeline.settle(call.call, Abort())
        events = await journal.events(stage.session_id, after=written)
        written += len(events)
        found = _diverging(call, [event.payload for event in events])
        if found is not None and (first is None or found.sequence < first.sequence):
            first = found
    return first


def _diverging(call: RecordedCall, now: Iterable[Payload]) -> Divergence | None:
    steps = [said for said in now if not isinstance(said, SessionCreated | SidecarKept)]
    left_out = MEASURED | call.not_comparable
    for number, event in enumerate(call.compared):
        found = diverging(event, steps[number] if number < len(steps) else None, left_out)
        if found is not None:
            return found
    return None


def _pipeline(stage: "_Stage", journal: Journal) -> Pipeline:
    async def opening() -> Journal:
        return journal

    parts = stage.parts
    return Pipeline(
        Parts(
            catalog=_PlayedTools(stage),
            judge=parts.judge,
            approver=stage,
            clock=parts.clock,
            ids=stage,
            sidecars=_NoSidecars(),
            redactor=parts.redactor,
            session=parts.session,
            progress=_unheard,
            log=SessionLog(opening, parts.created, parts.session.id, _HOLDER, parts.clock),
            remarks=parts.remarks,
            max_argument_bytes=parts.max_argument_bytes,
        )
    )


class _Stage:
    """What the call that is being played meets: a person, names, and the answer of its tool."""

    def __init__(self, calls: Iterable[RecordedCall], parts: ReplayParts) -> None:
        self.parts = parts
        self.session_id = parts.session.id
        self._ids = TimeIds(parts.clock)
        self._calls = {call.asked.call_id: call for call in calls}
        self._here: RecordedCall | None = None

    def enter(self, call: RecordedCall) -> None:
        """This one is next."""
        self._here = call
        self.parts.clock.set(call.at)

    @property
    def was_cut(self) -> bool:
        """Whether the answer that is recorded is not the whole one."""
        envelope = None if self._here is None else self._here.envelope
        return envelope is not None and envelope.metadata.truncated

    def new(self, prefix: IdPrefix) -> str:
        """The recorded name of the question; of everything else a fresh one."""
        recorded = None if self._here is None else self._here.approval_id
        return recorded if prefix == "apr" and recorded is not None else self._ids.new(prefix)

    async def __call__(self, _ask: Ask, /) -> Answer | None:
        """What was answered. Where nobody ever did, nothing of what comes next is compared."""
        said = None if self._here is None else self._here.answer
        return None if said is None else answer_of(said)

    def body(self, _values: Mapping[str, object], runtime: Runtime) -> object:
        """The recorded answer, in place of whatever the tool does."""
        call = self._calls.get(runtime.call_id)
        envelope = None if call is None else call.envelope
        if envelope is None:
            return None
        known = self.parts.known_remarks
        warnings = tuple(text for text in envelope.warnings if text not in known)
        return Envelope(
            result_json=envelope.result_json, failure=envelope.failure, warnings=warnings
        )


class _PlayedTools(Catalog):
    """The tools of now, with bodies that only give the recorded answers.

    An answer that was cut stays as it was cut: it would be cut once more.
    """

    def __init__(self, stage: _Stage) -> None:
        super().__init__(built_in=[compiled(_played(tool, stage)) for tool in stage.parts.tools])
        self._stage = stage
        self._unbound = Catalog(built_in=[compiled(_unbound(tool)) for tool in self])

    def plan(self, name: str) -> Plan | None:
        """The compiled preflight of a tool."""
        return self._unbound.plan(name) if self._stage.was_cut else super().plan(name)


def _played(tool: Tool, stage: _Stage) -> Tool:
    real = tool.body
    body = Body(
        style="inline",
        invoke=stage.body,
        decode=real.decode,
        read=real.read,
        exact=real.exact,
    )
    return msgspec.structs.replace(tool, body=body)


def _unbound(tool: Tool) -> Tool:
    limits = msgspec.structs.replace(tool.limits, output=_UNBOUND)
    return msgspec.structs.replace(tool, limits=limits)


class _NoSidecars:
    """Nothing is kept of what was kept before."""

    def keep(self, session_id: str, name: str, content: bytes) -> StoredOutput | None:  # noqa: ARG002 - as the port has it
        return None

    def forget(self, session_id: str) -> None:
        """There is nothing."""


def _unheard(_progress: Progress) -> None:
    return None
