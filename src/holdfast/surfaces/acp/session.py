"""One session of an agent, for an editor: a turn is one run, and ends when that rests.

How sessions are opened, and what is said over the wire, is not known here.
"""

from collections.abc import Iterable
from functools import partial

from acp.agent.connection import AgentSideConnection
from anyio import CancelScope, Event, create_task_group, move_on_after, sleep

from holdfast.app.agent_work import OpenAgent
from holdfast.contract.call import Ask
from holdfast.contract.question import Question
from holdfast.contract.wakes import WakeEnd
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import PlainTasks
from holdfast.surfaces.acp.calls import Card
from holdfast.surfaces.acp.ends import TurnEnd, end_of
from holdfast.surfaces.acp.showing import Showing

TICK_SECONDS = 0.5
_ENDING_SECONDS = 2.0
_SERVERS_SECONDS = 10.0
"""How long a turn waits for MCP servers that are being connected."""


class Busy(Exception):
    """A turn is under way."""


class _Turn:
    """A turn that is under way."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.stopped = Event()
        self.has_begun = Event()
        """Its run has written down what was said, or there will be no run."""
        self.over = Event()


class EditorSession:
    """A session that an editor has open. Used on one event loop."""

    def __init__(self, connection: AgentSideConnection, remarks: Iterable[str] = ()) -> None:
        """``remarks``: what the person has to know, said with the first turn."""
        self._connection = connection
        self._remarks = tuple(remarks)
        self._said: set[str] = set()
        self._turn: _Turn | None = None
        self.closing, self.closed = Event(), Event()

    def bind(self, opened: OpenAgent) -> None:
        """It is open."""
        self.opened = opened
        self.id: str = opened.session.id
        self.workspace: str | None = opened.holdfast.parts.session.workspace
        self.showing = Showing(self._connection, opened)

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    @property
    def redactor(self) -> Redactor:
        """Takes known secrets out of what is shown."""
        return self.opened.holdfast.parts.redactor

    async def prompt(self, text: str, remark: str | None = None) -> TurnEnd:
        """Take a turn to its end; Busy, TurnFailed, JournalError."""
        if self._turn is not None:
            raise Busy
        self._turn = turn = _Turn()
        tasks = PlainTasks()
        try:
            await self._say_first(turn, remark)
            if turn.is_stopped:
                return TurnEnd("cancelled")
            tasks.begin(self._look_again_and_again())
            async for told in self.opened.session.run(text):
                turn.has_begun.set()
                await self.showing.show(told)
            await tasks.end(_ENDING_SECONDS)
            await self.showing.look()
            return await self._ended(turn)
        finally:
            turn.has_begun.set()
            await tasks.end(_ENDING_SECONDS)
            self._turn = None
            turn.over.set()

    async def stop(self) -> None:
        """Have the turn under way end as cancelled."""
        turn = self._turn
        if turn is None or turn.is_stopped:
            return
        turn.is_stopped = True
        turn.stopped.set()
        await turn.has_begun.wait()  # an interrupt stops what was said before it
        if self.opened.session.running:
            await self.opened.session.interrupt()

    async def over(self) -> None:
        """Wait until no turn is under way."""
        if self._turn is not None:
            await self._turn.over.wait()

    async def shown(self, call_id: str) -> Card:
        """The card of a call of its own, once the editor was told of it."""
        return await self.showing.shown(call_id)

    async def card(self, ask: Ask) -> Card:
        """The card of a call in question."""
        return await self.showing.card(ask)

    async def _ended(self, turn: _Turn) -> TurnEnd:
        if turn.is_stopped:
            return TurnEnd("cancelled")
        session, holdfast = self.opened.session, self.opened.holdfast
        end = session.last or WakeEnd(session_id=self.id, executed=False, reason="idle")
        waiting = (*await holdfast.questions(), *await holdfast.inquiries())
        names = [one.approval_id if isinstance(one, Question) else one.call_id for one in waiting]
        ended = end_of(end, [f"holdfast sessions answer {self.id} {one}" for one in names])
        if ended.says is not None:
            await self.showing.say(f"\n\n{ended.says}")
        return ended

    async def _say_first(self, turn: _Turn, remark: str | None) -> None:
        """What the person has to know before anything happens; each of it once."""
        holdfast = self.opened.holdfast
        with move_on_after(_SERVERS_SECONDS):
            async with create_task_group() as group:
                group.start_soon(partial(_then_cancel, turn.stopped, group.cancel_scope))
                await holdfast.servers_settled()
                group.cancel_scope.cancel()
        known = (*self._remarks, *holdfast.remarks_on_sources)
        said = [one for one in known if one not in self._said]
        self._said.update(said)
        said += [] if remark is None else [remark]
        if said:
            await self.showing.say("".join(f"> holdfast: {one}\n" for one in said) + "\n")

    async def _look_again_and_again(self) -> None:
        while True:
            await sleep(TICK_SECONDS)
            await self.showing.look()


async def _then_cancel(event: Event, scope: CancelScope) -> None:
    await event.wait()
    scope.cancel()
