"""Asking the person who watches a run: the view waits meanwhile, and edits are shown first."""

import msgspec
from anyio import to_thread

from holdfast.app.telling import Told
from holdfast.contract.call import Ask
from holdfast.contract.events import ChildCreated, Event
from holdfast.contract.person import Asker, Inquiry, Postponed, Replies
from holdfast.contract.ports import Answer, Approver
from holdfast.surfaces.cli.call_cards import CardLine, change_tones
from holdfast.surfaces.cli.changes import beside_the_change, files_below, whole_change
from holdfast.surfaces.cli.run_view import View


class Subagents:
    """Knows which session a person speaks with, and which ones are below it."""

    def __init__(self) -> None:
        self.top: str | None = None
        self._names: dict[str, str | None] = {}

    def note(self, told: Told) -> None:
        """One more thing that happened."""
        if isinstance(told, Event) and isinstance(told.payload, ChildCreated):
            self._names[told.payload.child_session_id] = told.payload.outcome_title

    def named(self, session_id: str) -> str | None:
        """Who asks, where it is a subagent."""
        if self.top is None or session_id == self.top:
            return None
        name = self._names.get(session_id)
        return f"the subagent {name} asks" if name else f"a subagent asks ({session_id})"


class ApprovedHere:
    """Shows what a call would change, then asks whether it may."""

    def __init__(
        self, approver: Approver, view: View, workspace: str, subagents: Subagents
    ) -> None:
        self._approver = approver
        self._view = view
        self._before = files_below(workspace)
        self._subagents = subagents

    async def __call__(self, ask: Ask, /) -> Answer | Postponed | None:
        """Wait for an answer."""
        prepared = ask.prepared
        arguments = prepared.arguments
        lines = await to_thread.run_sync(whole_change, prepared.tool.name, arguments, self._before)
        shown = list(change_tones(lines))
        if (who := self._subagents.named(prepared.call.session_id)) is not None:
            shown.insert(0, CardLine(who, "warn"))
        if lines:
            left = msgspec.structs.replace(prepared, checked=beside_the_change(arguments))
            ask = msgspec.structs.replace(ask, prepared=left)
        with self._view.paused(shown):
            return await self._approver(ask)


class InquiredHere:
    """Asks what a tool wants to know."""

    def __init__(self, asker: Asker, view: View) -> None:
        self._asker = asker
        self._view = view

    async def __call__(self, inquiry: Inquiry, /) -> Replies | Postponed | None:
        """Wait for the replies."""
        with self._view.paused([]):
            return await self._asker(inquiry)
