"""What an editor is shown of one session: in the order in which it happens, whoever finds it.

How a turn goes is not known here.
"""

from collections.abc import Iterable
from contextlib import suppress

from acp.agent.connection import AgentSideConnection
from anyio import Lock, move_on_after, to_thread

from holdfast.app.agent_work import OpenAgent
from holdfast.app.changed_texts import ChangedText, changed_texts
from holdfast.app.read_along import ReadAlong, Subagents
from holdfast.app.telling import Told
from holdfast.contract.call import Ask
from holdfast.contract.events import ChildIdle, Event
from holdfast.contract.journal import Journal
from holdfast.surfaces.acp.calls import Calls, Card
from holdfast.surfaces.acp.telling import Telling, Update, message

_SHOWN_SECONDS = 2.0
"""How long a question waits for its call to be shown."""


class Showing:
    """Shows one session. Used on one event loop."""

    def __init__(self, connection: AgentSideConnection, opened: OpenAgent) -> None:
        self._connection = connection
        self._opened = opened
        self._id = opened.session.id
        self._subagents = Subagents()
        self._subagents.top = self._id
        parts = opened.holdfast.parts
        self._redactor = parts.redactor
        self._known = Calls(parts.catalog.get, parts.session.workspace)
        self._telling = Telling(self._known, self._changed, parts.session.workspace)
        self._below = ReadAlong(self._subagents, self.journal)
        self._one_by_one = Lock()

    async def journal(self) -> Journal | None:
        """Where the session is written down."""
        log = self._opened.holdfast.parts.log
        return None if log is None else await log.journal()

    async def show(self, told: Told) -> None:
        """One more thing that happened."""
        async with self._one_by_one:
            if isinstance(told, Event) and isinstance(told.payload, ChildIdle):
                await self._look_below()  # all that it did stands before its end
            self._subagents.note(told)
            await self._send(await self._telling.of(told))

    async def look(self) -> None:
        """Show what commands print, and what subagents do."""
        async with self._one_by_one:
            await self._look_below()
            for command in self._opened.session.window.commands.all():
                if command.state == "running":
                    printed = "\n".join(filter(None, (command.stdout_tail, command.stderr_tail)))
                    await self._send(self._known.prints(command.call_id, printed))

    async def _look_below(self) -> None:
        for one in await self._below.new():
            await self._send(await self._telling.below(one))

    async def say(self, text: str) -> None:
        """Words beside those of the model."""
        await self._send([message(text)])

    async def retell(self) -> None:
        """Show what happened until now."""
        journal = await self.journal()
        after = 0
        self._telling.is_live = False
        while journal and (page := await journal.events(self._id, after=after)):
            for event in page:
                await self._send(await self._telling.of(event))
            after = page[-1].sequence
        self._telling.is_live = True

    async def shown(self, call_id: str) -> Card:
        """The card of a call of the session's own, once the editor was told of it."""
        return await self._known.shown(call_id)

    async def card(self, ask: Ask) -> Card:
        """The card of a call in question; that of a subagent's call is made."""
        call = ask.prepared.call
        whose = None
        if call.session_id == self._id:
            with move_on_after(_SHOWN_SECONDS):
                return await self._known.shown(call.id)
        else:
            whose = (self._subagents.named(call.session_id) or "").removesuffix(" asks")
        if (known := self._known.get(call.id)) is not None:
            return known
        sent = call.arguments if isinstance(call.arguments, str) else "{}"
        arguments = self._redactor.written(sent) if self._redactor.active else sent
        await self._send(self._known.asked(call.id, call.tool, arguments, whose))
        return self._known[call.id]

    async def _send(self, updates: Iterable[Update]) -> None:
        """Whoever is gone is told nothing more."""
        with suppress(ConnectionError):
            for one in updates:
                await self._connection.session_update(session_id=self._id, update=one)

    async def _changed(self, call_id: str) -> tuple[ChangedText, ...]:
        if not self._telling.is_live:
            return ()
        home = self._opened.session.window.surroundings.data_home
        found = await to_thread.run_sync(changed_texts, home, self._id, call_id)
        return tuple(one.shown(self._redactor) for one in found)
