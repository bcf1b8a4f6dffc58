"""What happens in a run that a person began here: shown, and kept as far as it decides what is said
at the end. How it is shown is not known here, nor how a run goes."""

from collections.abc import Callable

import msgspec

from holdfast.app.agent_work import OpenAgent
from holdfast.app.read_along import ReadAlong, Subagents
from holdfast.app.telling import Told
from holdfast.contract.events import (
    CallRefused,
    CallSettled,
    ChildIdle,
    Event,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal
from holdfast.policy.words import NOBODY_TO_ASK
from holdfast.surfaces.cli.overheard import Overheard
from holdfast.surfaces.cli.run_view import View

_REFUSALS = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})


class _End(msgspec.Struct):
    """What an envelope says of a refusal."""

    kind: str = ""


_read_end = msgspec.json.Decoder(_End).decode


class Heard:
    """Shows what happens."""

    def __init__(
        self,
        view: View,
        opened: OpenAgent,
        subagents: Subagents,
        stopped_here: Callable[[], bool],
    ) -> None:
        self._view = view
        self._subagents = subagents
        self._others = Overheard(opened, stopped_here)
        self._log = opened.holdfast.parts.log
        self._below = ReadAlong(subagents, self._journal)
        self._refused: set[str] = set()
        self.unasked = False
        """Whether a call was refused as nobody was there to be asked."""

    @property
    def refused(self) -> int:
        """How many calls were refused, those of subagents among them."""
        return len(self._refused)

    async def before_it_runs(self, seen: int | None) -> None:
        """Show what was said since the last run, and what became of its calls.

        ``seen``: the last event before the session was taken up.
        """
        self._view.recall(await self._others.calls())
        if seen is not None:
            for one in await self._others.since(seen):
                self._show(one)
        for one in await self._others.waiting():
            self._show(one)

    async def note(self, told: Told) -> None:
        """One more thing that happened."""
        if self._others.is_known(told):
            return
        for one in await self._others.before(told):
            self._view.show(one)
        if isinstance(told, Event) and isinstance(told.payload, ChildIdle):
            await self.look_below()  # all that it did stands before its end
        self._show(told)

    async def look_below(self) -> None:
        """Show what subagents did meanwhile."""
        for one in await self._below.new():
            self._count(one.event)
            self._view.show(one)

    def _show(self, told: Told) -> None:
        self._subagents.note(told)
        self._view.show(told)
        if isinstance(told, Event):
            self._count(told)

    def _count(self, event: Event) -> None:
        match event.payload:
            case CallSettled(call_id=call_id, envelope=envelope):
                self.unasked = self.unasked or NOBODY_TO_ASK.encode() in bytes(envelope)
                if _read_end(envelope).kind in _REFUSALS:
                    self._refused.add(call_id)  # maybe by the tool itself, after a person's yes
            case CallRefused(call_id=call_id):
                self._refused.add(call_id)
            case _:
                pass

    async def _journal(self) -> Journal | None:
        return None if self._log is None else await self._log.journal()
