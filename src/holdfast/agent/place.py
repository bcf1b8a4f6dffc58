"""What a run stands on: the journal, the way of a call, tools, time. Handed in by whoever opens it.

Nothing here acts. Where any of it comes from is not known to the loop.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

import msgspec
from anyio import move_on_after

from holdfast.agent.conversation import Conversation
from holdfast.agent.held_answers import Witness
from holdfast.agent.outfit import Outfit
from holdfast.agent.replies import TurnCall
from holdfast.agent.spending import Spending
from holdfast.contract.agents import RunLimits
from holdfast.contract.call import Ending, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.model import ChatModel, ModelDelta
from holdfast.contract.person import Postponed
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import AbortSignal, Progress, ProgressSink
from holdfast.contract.todos import Todo
from holdfast.contract.tool import Tool
from holdfast.contract.wake_events import RunTerms
from holdfast.runtime.applications import Applications
from holdfast.runtime.driving import driven
from holdfast.runtime.people import People
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import Approved


class Sign(msgspec.Struct, frozen=True, kw_only=True):
    """A sign of life of a call that runs."""

    call_id: str
    progress: Progress


Live = ModelDelta | Sign
"""What is told while it happens and kept nowhere: events tell of it again when it is whole."""


class Ready(Protocol):
    """A call that may run, and has not begun."""

    @property
    def parallel_safe(self) -> bool:
        """Whether it may overlap with others."""
        ...

    @property
    def resource(self) -> tuple[str, ...]:
        """What it touches: calls that touch the same never overlap."""
        ...


_ReadyT = TypeVar("_ReadyT", bound=Ready)


class Calls(Protocol[_ReadyT]):
    """The way of a call, in one go or with a stop before anything happens."""

    async def take(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> Envelope | Postponed:
        """Take a call to its answer, or to where it waits for somebody."""
        ...

    async def admit(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> _ReadyT | Envelope | Postponed:
        """Take a call as far as it goes before anything happens."""
        ...

    async def run(self, admitted: _ReadyT, /) -> Envelope | Postponed:
        """Run what was admitted here."""
        ...


class Guiding(Protocol):
    """Advises one run, and remembers answers that still hold."""

    def held(self, call: TurnCall) -> Envelope | None:
        """The answer to give in place of running the call."""
        ...

    def begins(self, call: TurnCall) -> None:
        """The call is about to run: what it may change is not known from before any more."""
        ...

    def record(self, call: TurnCall, envelope: Envelope) -> None:
        """The model is told this answer."""
        ...

    def notices(self, spent: Spending, /) -> tuple[str, ...]:
        """Advice for the step that begins."""
        ...


async def waited(seconds: float, abort: AbortSignal) -> bool:
    """Wait; whether that was broken off."""
    with move_on_after(seconds):
        await abort.wait()
    return abort.aborted


async def in_time(work: Coroutine[object, object, object], seconds: float | None) -> Ending:
    """Take a run to its end: its own, or that of its time."""
    return await driven(work, seconds, None)


class Surveying(Protocol):
    """Knows where a session of the managed profile stands, and writes that down."""

    async def begins(self, reason: str, /) -> tuple[str, ...]:
        """A run begins: what the model is told with its first step, a line each."""
        ...

    async def rested(self) -> None:
        """A run has come to rest."""
        ...


class Workplace(msgspec.Struct, frozen=True, kw_only=True):
    """The session as its runner has it."""

    session_id: str
    log: SessionLog
    talk: Conversation
    """What the model is told of it."""
    pipeline: Calls[Any]
    people: People
    applications: Applications
    clock: Clock
    ids: IdSource
    tool: Callable[[str], Tool | None]
    """By its name."""
    outfit: Outfit
    running_children: Callable[[], frozenset[str]]
    """The sessions of subagents that run in this process."""
    stop_children: Callable[[], Awaitable[None]]
    """Stops them, and waits a moment for it."""
    tells_above: Callable[[], bool]
    """Whether the session above is told where this one rests: not if it waits for that itself."""
    todos: Callable[[], tuple[Todo, ...]]
    """What the session has to do, as it last said."""
    witness: Witness | None
    """What tells that a file is as it was when it was read."""
    new_turn: Callable[[], None]
    """A person spoke: what is counted by turns begins anew, and changes of sources count."""
    clean: Callable[[str], str]
    """Takes secrets out of a text."""
    clean_json: Callable[[bytes], bytes]
    """The same for JSON, which stays JSON."""
    waited: Callable[[float, AbortSignal], Awaitable[bool]] = waited
    """Waits for so many seconds; whether that was broken off."""
    in_time: Callable[[Coroutine[object, object, object], float | None], Awaitable[Ending]] = (
        in_time
    )
    """Takes a run to its end: its own, or that of its time."""
    guide: Callable[[], Guiding] | None = None
    """Who advises a run; None: whoever usually does."""
    surveying: Surveying | None = None
    """Of the managed profile."""


class Equipment(msgspec.Struct, frozen=True, kw_only=True):
    """Who runs: a model, and how much it may use."""

    model: ChatModel
    limits: RunLimits = RunLimits()
    directives: bool = False
    """Whether the model may say how it goes on."""
    guidance: bool = True
    tools_off: bool = False
    managed: bool = False
    """Calls one after the other, each in a span of its own."""
    interactive: bool = False
    """Somebody is there who is asked while the run waits."""
    goes_on: bool = False
    """It goes on where another run rested, and has what that one left of its limits."""
    told: Callable[[Live], None] = lambda _live: None
    """Who is told while it happens."""

    @property
    def is_advised(self) -> bool:
        """Whether its model is told which calls lead on."""
        return self.guidance and not self.tools_off

    @property
    def terms(self) -> RunTerms:
        """What of it decides how a run goes, as it is written down."""
        return RunTerms(
            limits=self.limits,
            window=self.model.window,
            max_output_tokens=self.model.max_output_tokens,
            directives=self.directives,
            guidance=self.guidance,
            tools_off=self.tools_off,
            managed=self.managed,
            interactive=self.interactive,
        )
