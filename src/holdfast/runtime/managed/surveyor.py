"""What is done around the runs of one session: what the model is told first, what is written down
at the end, and what is shown on the way.

None of it decides how a run goes, so what fails here is told in the log and left out; only a
journal that cannot be read or written is a failure of the run.
"""

import logging
from collections.abc import Callable

import msgspec

from holdfast.contract.errors import ToolError
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CustomToolResult,
    CustomToolUse,
    Event,
    ModelRequested,
    Payload,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
)
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.managed_events import ContextMeasured, ShellChanged
from holdfast.contract.skills import Skill
from holdfast.execution.drive import PlainTasks
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.judging import Judged, Judging
from holdfast.runtime.managed.look import Look
from holdfast.runtime.managed.notes import notes_of
from holdfast.runtime.managed.showing import AT_END, AT_START, ONCE_ASSEMBLED, Showing
from holdfast.runtime.managed.surveying import Brought, surveyed, unless_it_fails

_POSTURE = ("permission_posture",)
_CHANGES_POSTURE: tuple[type[Payload], ...] = (
    *(ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn),
    *(CustomToolUse, ToolConfirmation, CustomToolResult, UserInterrupt, ShellChanged),
)
_CLOSING_SECONDS = 2.0
_log = logging.getLogger("holdfast")


class SurveyParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a surveyor is made from."""

    ground: Ground
    judging: Judging
    shell_view: Callable[[], ShellView]
    skills: Callable[[], tuple[Skill, ...]]
    folder: ArtifactFolder | None
    """Where the session is shown; None: nowhere."""
    brought: Brought


class Surveyor:
    """Of one session. Used on one event loop."""

    def __init__(self, parts: SurveyParts) -> None:
        self._parts = parts
        self._ground = parts.ground
        self._showing: Showing | None = None
        if parts.folder is not None:
            self._showing = Showing(
                parts.folder, self._look, parts.brought.shows, parts.brought.pages
            )
        self._due: set[str] = set()
        """What is to be shown anew."""
        self._tasks = PlainTasks()
        self._assembled: str | None = None
        """The run whose first request is known."""
        self._is_closed = False

    async def begins(self) -> tuple[str, ...]:
        """A run begins: what the model is told of where the session stands, a line each."""
        look = self._look()
        notes = await unless_it_fails("a survey", self._notes(look), ())
        await self._shown(AT_START, look)
        return notes

    async def rested(self) -> None:
        """A run has come to rest: how far it came is written down, and shown."""
        judged = await unless_it_fails("an evaluation", self._parts.judging.record(), None)
        await unless_it_fails("measuring the context", self._measured(), None)
        memory = self._parts.brought.memory
        if memory is not None:
            await unless_it_fails("keeping the memory", memory.refresh(), None)
        if self._showing is not None:
            await self._shown((*AT_END, *self._showing.missing()), self._look(judged))

    def hear(self, event: Event) -> None:
        """Something was written down: what shows it is written anew, as soon as there is time."""
        due = self._stirred(event)
        if not due or self._showing is None or self._is_closed:
            return
        self._due.update(due)
        if not self._tasks:
            self._tasks.begin(self._catch_up())

    async def caught_up(self) -> None:
        """Wait until all that was heard of is shown."""
        await self._tasks.rest()

    def open(self) -> None:
        """Show again, after it was closed."""
        self._is_closed = False

    async def close(self) -> None:
        """Show nothing any more."""
        self._is_closed = True
        await self._tasks.end(_CLOSING_SECONDS)

    def _look(self, judged: Judged | None = None) -> Look:
        parts = self._parts
        return Look(self._ground, parts.judging, parts.shell_view(), parts.skills(), judged)

    async def _notes(self, look: Look) -> tuple[str, ...]:
        survey = await surveyed(look, self._parts.brought)
        notes = notes_of(survey, lambda name: self._ground.tool(name) is not None)
        return tuple(map(self._ground.clean, notes))

    async def _measured(self) -> None:
        crowding, log = self._ground.crowding(), self._ground.log
        if crowding is None or log is None:
            return
        pressure = None if crowding.pressure is None else msgspec.to_builtins(crowding.pressure)
        measured = ContextMeasured(budget=crowding.budget, pressure=pressure)
        await log.append([measured], in_run=False)

    async def _shown(self, names: tuple[str, ...], look: Look) -> None:
        if self._showing is not None:
            await unless_it_fails("showing the session", self._showing.show(names, look), None)

    def _stirred(self, event: Event) -> tuple[str, ...]:
        said = event.payload
        if isinstance(said, ModelRequested):
            if said.purpose != "turn" or event.wake_id == self._assembled:
                return ()
            self._assembled = event.wake_id
            return ONCE_ASSEMBLED
        waits = isinstance(said, ToolUse) and said.output is None
        return _POSTURE if waits or isinstance(said, _CHANGES_POSTURE) else ()

    async def _catch_up(self) -> None:
        assert self._showing is not None
        while self._due:
            due, self._due = tuple(self._due), set[str]()
            try:
                await self._showing.show(due)
            except (JournalError, ToolError) as problem:
                # Whoever runs the session finds that, too, and what is shown is no truth.
                _log.info("the session is not shown as it is: %s", problem)
