"""The calls of one reply, taken to their answers.

A person is asked first, about one call after the other in the model's order, before any of them
runs. Then they run one by one; neighbours that are all parallel-safe and touch different things
overlap, unless a call among them may end the turn. Whatever happens, each has one answer, and
answers are told in the order of the calls. What waits for somebody who is not here leaves the turn
open. Why a turn is made, and what comes next, is not known here.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec
from anyio import create_task_group

from holdfast.agent.given_up import unmade
from holdfast.agent.place import Equipment, Guiding, Ready, Sign, Workplace
from holdfast.agent.replies import TurnCall
from holdfast.agent.spans import input_of, span_begun, span_ended
from holdfast.contract.builders import failure_of
from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import encode_json
from holdfast.contract.person import Postponed
from holdfast.contract.runtime import AbortSignal, Progress
from holdfast.runtime.recovery import settlement
from holdfast.runtime.trail import Approved

ENDS_TURN = frozenset({"complete", "clarify"})
"""A turn that holds one of these stops behind it."""

TurnEnd = Literal["answered", "waits", "refused", "completed"]
"""All calls are answered; one waits for somebody; a person refused one and said no more; the agent
says that it is done."""

SKIPPED = "This call was not made: a person refused one before it in the same reply."
BEHIND_THE_END = "This call was not made: '{0}' before it in the same reply ended the turn."


class _Step(msgspec.Struct):
    """How far a call has come."""

    call: TurnCall
    found: Ready | Envelope | Postponed | None = None


class Turn:
    """The open calls of one reply."""

    def __init__(
        self,
        place: Workplace,
        equipment: Equipment,
        standing: Mapping[str, Approved],
        guide: Guiding,
        abort: AbortSignal,
    ) -> None:
        """``standing``: calls of before that have come as far as a person. ``guide``: knows the
        answer to give in place of running a call."""
        self._guide = guide
        self._place = place
        self._equipment = equipment
        self._standing = standing
        self._abort = abort
        self._serial = equipment.managed
        """Nothing overlaps: each call may be the last."""
        self.answers: dict[str, Envelope] = {}
        """What was answered now, by the ids of the calls."""

    async def __call__(self, calls: Sequence[TurnCall]) -> TurnEnd:
        """Take them as far as they go."""
        if len(calls) == 1 or self._equipment.managed:
            return await self._one_by_one(calls)
        self._serial = self._serial or any(call.name in ENDS_TURN for call in calls)
        ends = (number for number, call in enumerate(calls, 1) if call.name in ENDS_TURN)
        last = next(ends, len(calls))
        behind = calls[last:]
        end = await self._together(calls[:last])
        refused = any(map(_is_refused, self.answers.values()))
        if refused:
            await self._skip(behind, SKIPPED)
        if refused or end != "answered":
            return end
        final = calls[last - 1]
        if final.name in ENDS_TURN and self.answers[final.id].failure is None:
            await self._skip(behind, BEHIND_THE_END.format(final.name))
            return "completed" if final.name == "complete" else "answered"
        return await self(behind) if behind else "answered"

    async def _together(self, calls: Sequence[TurnCall]) -> TurnEnd:
        """Ask about all of them first, then run them."""
        steps = [_Step(call) for call in calls]
        refused = await self._admit(steps)
        if any(isinstance(step.found, Postponed) for step in steps):
            return "waits"
        for group in self._groups(steps):
            await self._run(group)
            if any(isinstance(step.found, Postponed) for step in group):
                return "waits"  # one after the other: what comes behind it has not begun
        return "refused" if refused else "answered"

    async def _one_by_one(self, calls: Sequence[TurnCall]) -> TurnEnd:
        for number, call in enumerate(calls):
            found = await self._take(call)
            if isinstance(found, Postponed):
                return "waits"
            self.answers[call.id] = found
            if _is_refused(found):
                await self._skip(calls[number + 1 :], SKIPPED)
                return "answered" if _has_words(found) else "refused"
            if call.name in ENDS_TURN and found.failure is None:
                await self._skip(calls[number + 1 :], BEHIND_THE_END.format(call.name))
                return "completed" if call.name == "complete" else "answered"
        return "answered"

    async def _admit(self, steps: Sequence[_Step]) -> bool:
        """Ask whoever has to be asked; whether a person refused one, and said no more."""
        for number, step in enumerate(steps):
            if (held := await self._again(step.call)) is not None:
                step.found = self.answers[step.call.id] = held
                continue
            approved = self._begun_before(step.call)
            self._guide.begins(step.call)
            step.found = await self._place.pipeline.admit(
                self._call(step.call), self._abort, approved, self._progress(step.call)
            )
            if isinstance(step.found, Postponed):
                return False  # nothing runs before everybody was asked
            if isinstance(step.found, Envelope):
                self.answers[step.call.id] = step.found
                if _is_refused(step.found):
                    await self._skip([one.call for one in steps[number + 1 :]], SKIPPED)
                    return not _has_words(step.found)
        return False

    def _groups(self, steps: Sequence[_Step]) -> Iterator[list[_Step]]:
        """Neighbours that may overlap; everything else alone."""
        group: list[_Step] = []
        keys: set[tuple[str, ...]] = set()
        for step in steps:
            if step.found is None or isinstance(step.found, Envelope | Postponed):
                continue
            key, overlaps = step.found.resource, step.found.parallel_safe
            overlaps = overlaps and not self._serial
            if group and (not overlaps or key in keys):
                yield group
                group, keys = [], set()
            group.append(step)
            keys.add(key)
            if not overlaps:
                yield group
                group, keys = [], set()
        if group:
            yield group

    async def _run(self, group: Sequence[_Step]) -> None:
        if len(group) == 1:
            await self._run_one(group[0])
            return
        async with create_task_group() as tasks:
            for step in group:
                tasks.start_soon(self._run_one, step)

    async def _run_one(self, step: _Step) -> None:
        if not isinstance(step.found, Envelope | Postponed):
            step.found = await self._place.pipeline.run(step.found)
        if isinstance(step.found, Envelope):
            self.answers[step.call.id] = step.found

    async def _again(self, call: TurnCall) -> Envelope | None:
        """The answer that the same call had before, written down as this one's."""
        held = None if call.id in self._standing else self._guide.held(call)
        if held is None:
            return None
        again = msgspec.structs.replace(held, call_id=call.id)
        await self._place.log.append(settlement(unmade(self._place, call), again))
        return again

    async def _take(self, call: TurnCall) -> Envelope | Postponed:
        if (held := await self._again(call)) is not None:
            return held
        approved = self._begun_before(call)
        self._guide.begins(call)
        take, progress = self._place.pipeline.take, self._progress(call)
        taking = partial(take, self._call(call), self._abort, approved, progress)
        if not self._equipment.managed:
            return await taking()
        tool = self._place.tool(call.name)
        await self._place.log.append([span_begun(call, tool, self._place.log.wake_id)])
        found = await taking()
        arguments = self._place.clean_json(encode_json(input_of(call))).decode()
        shown = msgspec.structs.replace(call, arguments=arguments)
        ended = span_ended(shown, tool, found, self._place.log.wake_id)
        await self._place.log.append(ended)
        return found

    def _begun_before(self, call: TurnCall) -> Approved | None:
        """What is known of the call from before; whoever it asks hears what was said to it."""
        known = self._standing.get(call.id)
        if known is None:
            return None
        if known.output is not None:
            self._place.applications.given(call.id, known.output)
        elif known.began:
            self._place.people.begun_anew(call.id, known.replies)
        return known

    def _call(self, call: TurnCall) -> ToolCall:
        return ToolCall(
            id=call.id,
            tool=call.name,
            arguments=call.arguments,
            session_id=self._place.session_id,
            model_call_id=call.model_call_id,
        )

    def _progress(self, call: TurnCall) -> "partial[None]":
        return partial(self._signed, call.id)

    def _signed(self, call_id: str, progress: Progress) -> None:
        self._equipment.told(Sign(call_id=call_id, progress=progress))

    async def _skip(self, calls: Sequence[TurnCall], reason: str) -> None:
        """Answer calls that are not made."""
        for call in calls:
            if call.id not in self._standing:
                envelope = Envelope(
                    failure=failure_of(FailureKind.REJECTED, reason),
                    tool=call.name,
                    call_id=call.id,
                )
                await self._place.log.append(settlement(unmade(self._place, call), envelope))
                self.answers[call.id] = envelope


def _has_words(refused: Envelope) -> bool:
    """Whether whoever refused it says what to do instead: the model goes on from that."""
    return refused.failure is not None and bool(refused.failure.extras.get("note"))


def _is_refused(envelope: Envelope) -> bool:
    failure = envelope.failure
    return failure is not None and failure.kind is FailureKind.USER_DENIED
