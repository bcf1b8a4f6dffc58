"""Asking a model: what it was asked and what came back is written down, and failures that may pass
are tried again, further apart each time.

What a reply means is not known here.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from holdfast.agent.keeping import Keeper
from holdfast.agent.models.storable import storable_delta, storable_reply
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.replies import KeptReply, kept_reply, replied
from holdfast.agent.requests import request_hash
from holdfast.agent.spending import Spending
from holdfast.contract.call import Raised, Returned
from holdfast.contract.chunks import Chunk, SystemChunk
from holdfast.contract.events import ModelRequested, Payload
from holdfast.contract.model import (
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    TextDelta,
)
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.wake_events import AgentEquipped, ModelBrokenOff, ModelFailed
from holdfast.runtime.driving import driven

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
LONGEST_OBEYED = 120.0
"""How long a pause a provider may ask for; one that wants more has failed."""
LONGEST_PROBLEM = 1000


Purpose = Literal["turn", "summary"]
_NOTHING = AgentEquipped(system=(), tools=())


class Heard(msgspec.Struct, frozen=True):
    """A reply, and what has to be written down of it."""

    kept: KeptReply
    event: Payload
    seen: tuple[str, ...] = ()
    """The events of people that the model was told of."""


class Unheard(msgspec.Struct, frozen=True):
    """There is no reply, and it is not tried again."""

    problem: ModelError
    """What the last attempt met."""


class Stopped(msgspec.Struct, frozen=True):
    """It was given up before it was whole."""

    partial: str
    """What it had said by then."""


def pause_before(attempt: int, problem: ModelError) -> float:
    """How long to wait before the next attempt, in seconds."""
    usual = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE)
    return usual if problem.retry_after is None else max(usual, problem.retry_after)


def _equipped(payloads: Iterable[Payload]) -> AgentEquipped | None:
    """What is written down with the request counts for it already."""
    return next((one for one in payloads if isinstance(one, AgentEquipped)), None)


class Asking:
    """Asks the model of one run."""

    def __init__(
        self,
        place: Workplace,
        equipment: Equipment,
        keeper: Keeper,
        spent: Spending,
        abort: AbortSignal,
    ) -> None:
        """``spent``: is told what every reply has cost."""
        self._place = place
        self._keeper = keeper
        self._equipment = equipment
        self._spent = spent
        self._abort = abort
        self._said: list[str] = []

    async def __call__(
        self, notices: Sequence[str], before: Sequence[Payload]
    ) -> Heard | Unheard | Stopped:
        """Ask, and ask again. ``before``: what has to be written down with the first request."""
        talk = self._keeper.talk

        def request(untold: Sequence[Payload]) -> ModelRequest:
            return self._request(talk.rows(), untold, tuple(notices))

        return await self._until_heard(request, before, "turn")

    async def aside(self, rows: tuple[Chunk, ...]) -> Heard | Unheard | Stopped:
        """Ask for something that is no part of the conversation; nobody hears the pieces.

        The tools go along, although none is wanted: there are providers that refuse a conversation
        with calls in it otherwise, and others that have its beginning in a cache.
        """
        return await self._until_heard(lambda untold: self._request(rows, untold), (), "summary")

    def _request(
        self, rows: tuple[Chunk, ...], untold: Sequence[Payload], notices: tuple[str, ...] = ()
    ) -> ModelRequest:
        equipped = _equipped(untold) or self._keeper.talk.equipped or _NOTHING
        return ModelRequest(
            rows=(*map(SystemChunk, equipped.system), *rows),
            tools=() if self._equipment.tools_off else equipped.tools,
            notices=notices,
        )

    async def _until_heard(
        self,
        request_with: Callable[[Sequence[Payload]], ModelRequest],
        before: Sequence[Payload],
        purpose: Purpose,
    ) -> Heard | Unheard | Stopped:
        """Each attempt tells what is known by then, words that came meanwhile among it."""
        model, talk = self._equipment.model, self._keeper.talk
        untold = list(before)
        attempt = 0
        while True:
            attempt += 1
            request_id = self._place.ids.new("msg")
            request = request_with(untold)
            seen = tuple(talk.pending)
            asked = ModelRequested(
                request_id=request_id,
                model=model.name,
                request_hash=request_hash(request, model.name),
                through=talk.sequence,
                purpose=purpose,
                notices=request.notices,
            )
            await self._keeper.tell([*untold, asked])
            untold = []
            found = await self._attempt(request, request_id, purpose)
            if isinstance(found, Heard):
                return msgspec.structs.replace(found, seen=seen)
            if isinstance(found, Stopped):
                await self._broken_off(request_id, found, purpose)
                return found
            pause = self._pause(attempt, found)
            failed = ModelFailed(
                request_id=request_id,
                trouble=found.trouble,
                message=self._place.clean(str(found))[:LONGEST_PROBLEM],
                attempt=attempt,
                retry_in_seconds=pause,
                retry_after=found.retry_after,
            )
            await self._keeper.tell([failed])
            if pause is None:
                return Unheard(found)
            if await self._place.waited(pause, self._abort):
                return Stopped("")

    async def _broken_off(self, request_id: str, found: Stopped, purpose: Purpose) -> None:
        """What the model had said by then, it is told that it said."""
        if found.partial and purpose == "turn":
            said = self._place.clean(found.partial)
            await self._keeper.tell([ModelBrokenOff(request_id=request_id, text=said)])

    def _pause(self, attempt: int, problem: ModelError) -> float | None:
        """None: it is not tried again."""
        if not problem.retryable or attempt > self._equipment.limits.retries:
            return None
        pause = pause_before(attempt, problem)
        return pause if pause <= LONGEST_OBEYED else None

    async def _attempt(
        self, request: ModelRequest, request_id: str, purpose: Purpose
    ) -> Heard | Stopped | ModelError:
        self._said = []
        told = self._equipment.told

        def heard(delta: ModelDelta) -> None:
            kept = storable_delta(delta)
            if isinstance(kept, TextDelta):
                self._said.append(kept.text)
            told(kept)

        work = self._equipment.model.complete(request, heard if purpose == "turn" else None)
        ending = await driven(work, None, self._abort)
        match ending:
            case Returned(ModelReply() as given):
                reply = storable_reply(given)
                kept = kept_reply(reply, lambda: self._place.ids.new("cal"))
                self._spent.charge(reply.usage)
                event = replied(request_id, kept, reply, self._place.clean_json)
                return Heard(kept, event)
            case Raised(ModelError() as problem):
                return problem
            case Raised(problem):
                raise problem
            case _:
                return Stopped("".join(self._said))
