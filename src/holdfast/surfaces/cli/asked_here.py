"""Asking the person who watches a run: one question after the other, the call shown before it."""

from typing import Protocol

from anyio import Lock, to_thread

from holdfast.app.changes import CHANGE_ARGUMENTS, files_below, whole_change
from holdfast.app.read_along import Subagents
from holdfast.app.shown_asks import looking_without_secrets, without_secrets
from holdfast.contract.call import Ask
from holdfast.contract.person import Asker, Inquiry, Postponed, Replies
from holdfast.contract.ports import Answer
from holdfast.envelope.redact import Redactor
from holdfast.surfaces.cli.asked_about import Asked, Whole
from holdfast.surfaces.cli.call_cards import Card, argument_lines, change_tones
from holdfast.surfaces.cli.run_view import View
from holdfast.surfaces.cli.screen import one_line


class Decides(Protocol):
    """Knows what somebody answers about a call that was shown."""

    async def __call__(self, ask: Ask, whole: Whole | None, /) -> Answer | Postponed | None:
        """Wait for it; ``whole``: shows all of the call."""
        ...


class Desk:
    """Where a person is asked: they answer one question at a time."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.turn = Lock()
        self.redactor = Redactor()
        """That of the run, once it is open; it learns secrets while it runs."""


class ApprovedHere:
    """Shows what a call would do, then asks whether it may."""

    def __init__(self, decides: Decides, desk: Desk, workspace: str, subagents: Subagents) -> None:
        self._decides = decides
        self._desk = desk
        self._before = files_below(workspace)
        self._subagents = subagents

    async def __call__(self, ask: Ask, /) -> Answer | Postponed | None:
        """Wait for an answer."""
        async with self._desk.turn:
            shown = without_secrets(ask, self._desk.redactor)
            asked = await self._asked(shown)
            with self._desk.view.paused(asked) as whole:
                return await self._decides(shown, whole)

    async def _asked(self, ask: Ask) -> Asked:
        prepared = ask.prepared
        card = Card(prepared.tool.name, prepared.arguments)
        before = looking_without_secrets(self._before, self._desk.redactor)
        changes = await to_thread.run_sync(whole_change, card.tool, card.arguments, before)
        untold = card.untold()
        if changes:
            untold = {key: one for key, one in untold.items() if key not in CHANGE_ARGUMENTS}
        return Asked(
            call_id=prepared.call.id,
            card=card,
            who=self._subagents.named(prepared.call.session_id),
            reason=one_line(ask.reason),
            lines=(*argument_lines(untold), *change_tones(changes)),
            tells_change=bool(changes),
        )


class InquiredHere:
    """Asks what a tool wants to know."""

    def __init__(self, asker: Asker, desk: Desk) -> None:
        self._asker = asker
        self._desk = desk

    async def __call__(self, inquiry: Inquiry, /) -> Replies | Postponed | None:
        """Wait for the replies."""
        async with self._desk.turn:
            with self._desk.view.paused(Asked()):
                return await self._asker(inquiry)
