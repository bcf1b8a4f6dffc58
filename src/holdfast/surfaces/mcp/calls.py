"""One call under way: where its signs of life, its questions and its answer go.

A legacy client is asked by a request of ours, and its call waits for the reply. A modern one is
answered that input is required; its call stays here, and goes on when the client asks again with
the state it was given. A state is used once, and nobody can guess one.
"""

import math
import threading
from secrets import token_urlsafe

from anyio import Event, current_time, move_on_after

from holdfast.contract.json_value import JsonObject, JsonValue, clean_text
from holdfast.contract.runtime import Progress
from holdfast.runtime.abort import Abort
from holdfast.surfaces.mcp.forms import Elicited, elicited
from holdfast.surfaces.mcp.messages import (
    INVALID_PARAMS,
    Fault,
    Id,
    encode,
    notification,
    request,
)
from holdfast.surfaces.mcp.tickets import Outlet, Ticket

ASK_SECONDS = 600.0
"""How long a person has for an answer; then nobody is there."""
MOST_SUSPENDED = 256
"""Calls that wait for their client to ask again."""
_NO_SUCH_STATE = (
    "Invalid params: requestState is unknown, used or expired; call the tool again without it"
)
_OTHER_CALL = "Invalid params: requestState belongs to a call with other parameters"


class _Waiting:
    def __init__(self, form: JsonObject) -> None:
        self.form = form
        self.heard = Event()
        self.said: Elicited | None = None

    def tell(self, said: Elicited | None) -> None:
        self.said = said
        self.heard.set()


class Asked:
    """The requests that legacy clients still owe a reply."""

    def __init__(self) -> None:
        self._waiting: dict[Id, _Waiting] = {}
        self._count = 0

    def reply(self, request_id: Id, result: JsonValue) -> None:
        """What came back; for a question that nobody asked, or that is over, nothing happens."""
        waiting = self._waiting.get(request_id)
        if waiting is not None:
            waiting.tell(elicited(result))

    async def ask(self, outlet: Outlet, form: JsonObject) -> Elicited | None:
        """Ask, and wait; None: there is no answer."""
        self._count += 1
        name, waiting = f"ask-{self._count}", _Waiting(form)
        self._waiting[name] = waiting
        try:
            outlet.send(request(name, "elicitation/create", form))
            with move_on_after(ASK_SECONDS):
                await waiting.heard.wait()
        finally:
            del self._waiting[name]
        return waiting.said


class Suspended:
    """The calls of modern clients that wait to be asked for again, by their state."""

    def __init__(self) -> None:
        self._by_state: dict[str, tuple[Call, float]] = {}

    def keep(self, call: "Call") -> str | None:
        """A new state; None: there are too many."""
        now = current_time()
        for state, (_, until) in list(self._by_state.items()):
            if until < now:
                del self._by_state[state]
        if len(self._by_state) >= MOST_SUSPENDED:
            return None
        state = token_urlsafe(32)
        self._by_state[state] = (call, now + ASK_SECONDS)
        return state

    def take_up(self, state: str, ticket: Ticket, named: bytes, said: JsonValue) -> Fault | None:
        """Go on with a call; a fault: this request does not go on with any."""
        call, until = self._by_state.get(state, (None, 0.0))
        if call is None or until < current_time():
            return Fault(INVALID_PARAMS, _NO_SUCH_STATE)
        if call.named != named:
            return Fault(INVALID_PARAMS, _OTHER_CALL)
        fault = call.objection(said)
        if fault is None:
            del self._by_state[state]
            call.attach(ticket)
            call.hear(said)
        return fault


class Call:
    """One call."""

    def __init__(
        self, key: str, ticket: Ticket, named: bytes, asked: Asked, kept: Suspended
    ) -> None:
        self.key = key
        self.named = named
        """What exactly was called, for who asks again."""
        self.caller = ticket.caller
        self.abort = Abort()
        self._ticket: Ticket | None = None
        self._asked = asked
        self._kept = kept
        self.brought: JsonObject = {}
        """Answers that came with the first request, before anything was asked."""
        self._open: dict[str, _Waiting] = {}
        self._count = 0
        self._answer: bytes | Fault | None = None
        self._last: float | None = None
        self._lock = threading.Lock()
        self.attach(ticket)

    @property
    def wants_progress(self) -> bool:
        """Whether somebody wants signs of life, or may yet."""
        return self.caller.modern or (self._ticket is not None and self._ticket.token is not None)

    def progress(self, progress: Progress, /) -> None:
        """Pass a sign of life on, from any thread. Each has to be more than the one before."""
        ticket = self._ticket
        if ticket is None or ticket.token is None or not ticket.is_open:
            return
        with self._lock:
            last = self._last
            done = progress.done
            if done is None or not math.isfinite(done):
                done = 0.0 if last is None else last + 1
            if last is not None and done <= last:
                done = math.nextafter(last, math.inf)
            if math.isinf(done):
                return  # nothing is more than what was said before
            self._last = done
            told: JsonObject = {"progressToken": ticket.token, "progress": done}
            if progress.total is not None and math.isfinite(progress.total):
                told["total"] = progress.total
            if progress.message is not None:
                told["message"] = clean_text(progress.message)
            ticket.outlet.send(notification("notifications/progress", told), droppable=True)

    async def ask(self, name: str, form: JsonObject, *, bound: bool) -> Elicited | None:
        """Ask the person behind the client; None: nobody answers.

        ``bound``: only an answer to exactly this form counts, and none that came before it.
        """
        if not self.caller.elicits:
            return None
        if self.caller.modern:
            before = None if bound else elicited(self.brought.pop(name, None))
            return before or await self._ask_again(name, form)
        ticket = self._ticket
        if ticket is None or not ticket.is_open:
            return None
        return await self._asked.ask(ticket.outlet, form)

    async def _ask_again(self, wanted: str, form: JsonObject) -> Elicited | None:
        self._count += 1
        name = wanted if wanted not in self._open else f"{wanted}_{self._count}"
        waiting = self._open[name] = _Waiting(form)
        try:
            if not self._require_input():
                return None
            with move_on_after(ASK_SECONDS):
                await waiting.heard.wait()
        finally:
            del self._open[name]
        return waiting.said

    def _require_input(self) -> bool:
        """Answer the request that waits with what has to be known first."""
        ticket = self._ticket
        if ticket is None:
            return True  # a state is out already: whoever comes with it is told of this, too
        state = self._kept.keep(self) if ticket.is_open else None
        if state is None:
            return False
        forms: JsonObject = {
            name: {"method": "elicitation/create", "params": {"mode": "form", **one.form}}
            for name, one in self._open.items()
            if not one.heard.is_set()
        }
        required: JsonObject = {"inputRequests": forms, "requestState": state}
        self._ticket = None
        ticket.answer(encode({"resultType": "input_required", **required}))
        return True

    def objection(self, said: JsonValue) -> Fault | None:
        """Why a request that comes back is not taken."""
        if not isinstance(said, dict):
            return Fault(INVALID_PARAMS, "Invalid params: inputResponses has to be an object")
        for name in self._open:
            if name in said and elicited(said[name]) is None:
                problem = f"inputResponses.{name} is no result of an elicitation"
                return Fault(INVALID_PARAMS, f"Invalid params: {problem}")
        return None

    def attach(self, ticket: Ticket) -> None:
        """A request waits for the call."""
        self._ticket, self.caller = ticket, ticket.caller
        ticket.give_up = self.abort.set

    def hear(self, said: JsonValue) -> None:
        """What the client brings that was asked for; what it does not bring is asked for again."""
        if self._answer is not None:
            self.finish(self._answer)
            return
        told = said if isinstance(said, dict) else {}
        for name, waiting in self._open.items():
            if name in told and not waiting.heard.is_set():
                waiting.tell(elicited(told[name]))
        if any(not one.heard.is_set() for one in self._open.values()):
            self._require_input()

    def finish(self, result: bytes | Fault) -> None:
        """Answer whoever waits, or whoever will ask again."""
        if self._ticket is not None:
            self._ticket.answer(result)
        else:
            self._answer = result
