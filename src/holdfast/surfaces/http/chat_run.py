"""One answer of a session, as it is said: words as they come, until the session rests.

It follows the session wherever it runs. In which form the words are sent is not known here.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from anyio import CancelScope, current_time, move_on_after
from anyio import Event as Happening

from holdfast.app.control.following import Followed, Following
from holdfast.contract.events import (
    Event,
    EventsProcessed,
    ModelReplied,
    ModelRequested,
    SpanStarted,
    StatusChanged,
    StatusIdle,
)
from holdfast.contract.model import TextDelta
from holdfast.contract.wake_events import ModelFailed
from holdfast.surfaces.http.chat_requests import Finish, Usage
from holdfast.surfaces.http.house import House

_BETWEEN = "\n\n"
_LIMITS = ("iteration", "budget", "limit")
_LOOK_SECONDS = 1.0
_SOON_SECONDS = 5.0
"""A run that is due so soon belongs to the answer."""


class End(msgspec.Struct, kw_only=True):
    """How it ended."""

    finish: Finish = "stop"
    problem: str | None = None
    """It failed, and why."""
    waits: bool = False
    """It waits for a person."""
    usage: Usage = msgspec.field(default_factory=Usage)


class Answering:
    """What a session says to a message."""

    def __init__(self, house: House, session_id: str, said: Event) -> None:
        self._house = house
        self._session_id = session_id
        self._said = said
        self._reply = ""
        """What was told of the reply under way."""
        self._said_before = False
        self._speaks = False
        """Whether the reply under way is to the message, and no summary."""
        self._is_heard = False
        """A run took the message into account, or began behind it."""
        self._failed: str | None = None
        self._waits_until = 0.0
        self._new = Happening()
        self.end = End()

    async def pieces(self, patience: float) -> AsyncGenerator[str]:
        """The words, as they come; JournalError.

        ``patience``: how many seconds a person may take to answer what the session asks.
        """
        house = self._house
        following = Following(
            self._session_id,
            house.journal,
            house.around,
            self._said.sequence,
            until_new=self._until_new,
        )
        house.pulse.watch(self._session_id, self._said.sequence, self._wake)
        try:
            async with aclosing(following(stays=True)) as told:
                while (one := await self._next(told)) is not None:
                    for piece in self._heard(one):
                        yield piece
                    waited = self.end.waits
                    if self._is_over(one) or await self._sleeps(one):
                        return
                    if self.end.waits and not waited:
                        self._waits_until = current_time() + patience
        finally:
            house.pulse.leave(self._session_id, self._wake)

    async def _next(self, told: AsyncGenerator[Followed]) -> Followed | None:
        """What is told next; None: nobody answered what it waits for."""
        if not self.end.waits:
            return await anext(told, None)
        with CancelScope(deadline=self._waits_until) as patience:
            # The server ends, and nobody may answer it before it has: the session stays there.
            forget = self._house.leaving.subscribe(patience.cancel)
            try:
                return await anext(told, None)
            finally:
                forget()
        return None

    async def _sleeps(self, one: Followed) -> bool:
        """Whether it goes on by itself, but only later."""
        match one:
            case Event(payload=StatusChanged(to_status="rescheduling")) if self._is_heard:
                state = (await self._house.journal.session(self._session_id)).state
                due = min((wake.due_micros for wake in state.wakes), default=0) / 1e6
                return due > self._house.clock.now().timestamp() + _SOON_SECONDS
            case _:
                return False

    def _heard(self, one: Followed) -> list[str]:
        """What is new to say. A run under way may still speak of what was said before."""
        match one:
            case TextDelta(text) if self._speaks:
                return [self._piece(text)]
            case Event(payload=ModelRequested() as asked):
                self._said_before = self._said_before or bool(self._reply)
                self._reply = ""
                knows = asked.through >= self._said.sequence
                self._speaks = asked.purpose == "turn" and knows
                self._is_heard = self._is_heard or self._speaks
            case Event(payload=SpanStarted(span_kind="wake")):
                self._is_heard = True
            case Event(payload=EventsProcessed(event_ids=names)) if self._said.id in names:
                self._is_heard = True
            case Event(payload=ModelReplied() as said) if self._speaks:
                self._count(said)
                return self._rest(said)
            case Event(payload=ModelFailed(message=message)):
                self._failed = message
            case _:
                pass
        return []

    def _piece(self, text: str) -> str:
        begins = self._said_before and not self._reply and bool(text)
        self._reply += text
        return f"{_BETWEEN}{text}" if begins else text

    def _rest(self, said: ModelReplied) -> list[str]:
        """What of a reply was not told live."""
        reply = said.reply if isinstance(said.reply, dict) else {}
        text = reply.get("text")
        if not isinstance(text, str) or not text.startswith(self._reply):
            return []
        rest = text[len(self._reply) :]
        return [self._piece(rest)] if rest else []

    def _count(self, said: ModelReplied) -> None:
        used = [said.usage.get(name) for name in ("input_tokens", "output_tokens")]
        sent, given = (one if isinstance(one, int) else 0 for one in used)
        usage = self.end.usage
        usage.prompt_tokens += sent
        usage.completion_tokens += given
        usage.total_tokens += sent + given

    def _is_over(self, one: Followed) -> bool:
        if not isinstance(one, Event):
            return False
        match one.payload:
            case StatusIdle(reason="requires_action"):
                self.end.waits = True
                return False
            case StatusChanged(to_status="running"):
                self.end.waits = False
                return False
            case StatusIdle(reason=reason, summary=summary):
                if not self._is_heard and reason != "failed":
                    return False  # of a run that knew nothing of the message: it is heard next
                if reason == "failed":
                    self.end.problem = self._failed or summary
                elif any(word in summary.casefold() for word in _LIMITS):
                    self.end.finish = "length"
                return True
            case StatusChanged(to_status="terminated"):
                return True
            case _:
                return False

    def _wake(self) -> None:
        self._new.set()

    async def _until_new(self) -> None:
        with move_on_after(_LOOK_SECONDS):
            await self._new.wait()
        self._new = Happening()
