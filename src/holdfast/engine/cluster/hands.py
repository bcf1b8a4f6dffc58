"""What a worker has in hand: sessions that are run, each once at a time, and hints that wait.

While a hint is in hand, the servers are told so, or another worker would be handed it. What becomes
of one is not known here.
"""

import logging
from collections.abc import Callable, Mapping

import msgspec
from anyio import Event
from anyio.abc import TaskGroup

from holdfast.contract.ports import Clock
from holdfast.engine.cluster.attending import Attended, Attending
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.hints import Hint
from holdfast.engine.cluster.looking import Away
from holdfast.engine.resting import MOST_SECONDS, Causes, Resting

_log = logging.getLogger("holdfast")

HELD_SECONDS = 1.0
"""A hint for which there is no room is given back after so long."""
_SECOND = 1_000_000_000


class _Held(msgspec.Struct, frozen=True):
    hint: Hint
    since: int


class Hands:
    """At most so many sessions at once."""

    def __init__(
        self,
        attending: Mapping[str, Attending],
        concurrency: int,
        clock: Clock,
        changed: Callable[[], None],
    ) -> None:
        """``changed``: there is more room, or there is more to do."""
        self._attending = attending
        self._concurrency = concurrency
        self._clock = clock
        self._changed = changed
        self._running: dict[tuple[str, str], list[Hint]] = {}
        """Those that are run, each with the hint that it is run for and what came since."""
        self._held: list[_Held] = []
        self._one_ended = Event()
        self._resting = Resting()
        self.executed = 0
        self.away = Away({name: one.looks for name, one in attending.items()}, changed)

    @property
    def room(self) -> int:
        """How many more may be begun."""
        return self._concurrency - len(self._running) - len(self._held)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in hand."""
        return not self._running and not self._held

    @property
    def is_running(self) -> bool:
        """Whether a session is run."""
        return bool(self._running)

    @property
    def holds(self) -> bool:
        """Whether a hint waits for room."""
        return bool(self._held)

    def came(self, hint: Hint) -> None:
        """A hint is here: it waits for room, or for the end of the run of its session."""
        if hint.to.tenant not in self._attending:
            return
        if hint.key in self._running:
            self._running[hint.key].append(hint)
        else:
            self._held.append(_Held(hint, self._clock.ticks()))
        self._changed()

    def begin(self, group: TaskGroup) -> None:
        """Begin those that there is room for."""
        while self._held and len(self._running) < self._concurrency:
            hint = self._held.pop(0).hint
            if hint.key in self._running:
                self._running[hint.key].append(hint)
            else:
                self._running[hint.key] = [hint]
                group.start_soon(self._attend, hint.key)

    async def give_back(self, after_seconds: float = HELD_SECONDS) -> None:
        """Let others have what has waited for too long. LinkError."""
        since = self._clock.ticks() - int(after_seconds * _SECOND)
        for held in [one for one in self._held if one.since <= since]:
            if held in self._held:
                self._held.remove(held)
                await self._attending[held.hint.to.tenant].give_back(held.hint)

    async def keep(self, group: TaskGroup) -> None:
        """Say that all of it is in hand. LinkError."""
        running = [hint for hints in self._running.values() for hint in hints]
        in_hand = (*running, *(one.hint for one in self._held))
        for tenant, hint in {hint.to.tenant: hint for hint in in_hand}.items():
            group.start_soon(self._attending[tenant].looks.feel, hint.to.session_id)
        for hint in in_hand:
            await self._attending[hint.to.tenant].keep(hint)

    async def wait_for_end(self) -> None:
        """Until a run has ended, if any runs."""
        if self._running:
            await self._one_ended.wait()

    def is_left_alone(self, key: tuple[str, str], causes: Causes) -> bool:
        """Whether it was run in vain a moment ago, and nothing is new."""
        return self._resting.is_left_alone("/".join(key), causes, self._clock.ticks())

    async def _attend(self, key: tuple[str, str]) -> None:
        hints = self._running[key]
        rest: float | None = None
        try:
            while hints:
                attended = await self._attended(hints[0])
                self._note(key, attended)
                rest = attended.rest_seconds
                del hints[0]
        finally:
            del self._running[key]
            self._one_ended.set()
            self._one_ended = Event()
            self._changed()
        if rest is not None:
            await self.away.wait(key[0], rest)

    async def _attended(self, hint: Hint) -> Attended:
        try:
            return await self._attending[hint.to.tenant].attend(hint)
        except LinkError as problem:
            told = "what came of session %s is not told: %s; its hint comes again"
            _log.warning(told, hint.to.session_id, problem)
            return Attended()

    def _note(self, key: tuple[str, str], attended: Attended) -> None:
        self.executed += attended.executed
        name, ticks = "/".join(key), self._clock.ticks()
        self._resting.forget_old(ticks)
        if attended.vain:
            self._resting.begin(name, attended.vain, ticks, MOST_SECONDS)
        elif attended.executed:
            self._resting.end(name)
