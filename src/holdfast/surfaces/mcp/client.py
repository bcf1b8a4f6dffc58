"""From messages to answers: what one client says, in whichever era, over whichever transport.

A client is a pipe, a session of HTTP, or everybody who comes without either. Messages come in as
values, answers go out through the outlet of their request. No byte is read or written here.
"""

import logging
from collections.abc import Awaitable, Callable

import msgspec
from anyio import Event, move_on_after

from holdfast.contract.json_value import JsonObject
from holdfast.execution.drive import PlainTasks
from holdfast.surfaces.mcp.calls import Asked, Call
from holdfast.surfaces.mcp.eras import (
    SUBSCRIPTION_KEY,
    Caller,
    Meta,
    greeted,
    is_modern,
    modern_caller,
)
from holdfast.surfaces.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Fault,
    Id,
    Message,
    Notification,
    Reply,
    Request,
    notification,
    refusal,
)
from holdfast.surfaces.mcp.methods import (
    LEGACY_METHODS,
    MODERN_METHODS,
    WORKING_METHODS,
    Answered,
    decoded,
)
from holdfast.surfaces.mcp.served import CallParams, Served, completed, welcome
from holdfast.surfaces.mcp.tickets import Outlet, Ticket

MOST_UNDER_WAY = 256
"""Requests of one client that are being answered."""
MOST_AT_WORK = 512
"""What is worked on for one client: also what it gave up and what waits for it to ask again."""
MOST_LISTENING = 128
"""Requests of one client to be told of changes. They are not among those under way."""
_LAST_WORD_SECONDS = 0.5
_CANCELLING_SECONDS = 1.0
LIST_CHANGED = "notifications/tools/list_changed"
_LISTEN = "subscriptions/listen"

_log = logging.getLogger("holdfast")
_NOT_GREETED = (
    "Invalid params: send initialize first, or say the protocol version and the client's"
    " capabilities in _meta of every request"
)
_TOO_MANY = "Too many requests: {most} are being answered; wait for one of them"
_TOO_MUCH = "Too many requests: {most} are worked on, cancelled ones among them; try later"
_TOO_MANY_LISTEN = "Too many requests: {most} listen for changes; end one of them"


class _Cancelled(msgspec.Struct, frozen=True):
    request: str | int = msgspec.field(name="requestId")


class _Wanted(msgspec.Struct, frozen=True):
    tools: bool = msgspec.field(default=False, name="toolsListChanged")


class _Listen(msgspec.Struct, frozen=True):
    notifications: _Wanted


class _CallWithMeta(CallParams, frozen=True):
    meta: Meta = msgspec.field(default=Meta(), name="_meta")


class _OnlyMeta(msgspec.Struct, frozen=True):
    meta: Meta = msgspec.field(default=Meta(), name="_meta")


_calls = msgspec.json.Decoder(_CallWithMeta)
_others = msgspec.json.Decoder(_OnlyMeta)
_cancelled = msgspec.json.Decoder(_Cancelled)
_listens = msgspec.json.Decoder(_Listen)


class Client:
    """What is known of one client."""

    def __init__(self, served: Served, *, greets: bool = True) -> None:
        """``greets``: it is one client, whose handshake counts and whose ids differ."""
        self.caller: Caller | None = None
        """By its handshake."""
        self._served = served
        self._work, self._streams = PlainTasks(), PlainTasks()
        self._greets = greets
        self._asked = Asked()
        self._tickets: dict[object, Ticket] = {}
        self._listening: set[Ticket] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return bool(self._tickets)

    def take(self, message: Message, outlet: Outlet) -> Ticket | None:
        """Answer, now or later; a ticket: what a request can be given up by."""
        if isinstance(message, Request):
            return self._request(message, outlet)
        if isinstance(message, Reply):
            self._asked.reply(message.id, message.result)
        elif isinstance(message, Notification):
            self._notified(message)
        else:
            outlet.finish(refusal(message.id, message.fault), message.fault.code)
        return None

    async def idle(self) -> None:
        """Wait until no work is done for it any more."""
        await self._work.rest()

    def end(self) -> None:
        """Nobody is served any more: what is under way stops, and whoever waits is told so."""
        for ticket in list(self._tickets.values()):
            stop = ticket.give_up
            if ticket.request.method != _LISTEN:  # such a stream has an end of its own
                ticket.answer(Fault(INTERNAL_ERROR, "The server ends"))
            if stop is not None:
                stop()

    async def close(self) -> None:
        """After `end`: streams say their last word, and what did not stop is cancelled."""
        with move_on_after(_LAST_WORD_SECONDS):
            await self._streams.rest()
        for tasks in (self._work, self._streams):
            await tasks.end(_CANCELLING_SECONDS)

    def listed_to(self, outlet: Outlet) -> Callable[[], None]:
        """Tell a client of changes there once it has greeted; returns what ends that."""
        changed = notification(LIST_CHANGED, {})

        def tell() -> None:
            if self.caller is not None:  # a modern client says itself what it wants to hear of
                outlet.send(changed, droppable=True)

        return self._served.listen(tell)

    def _request(self, request: Request, outlet: Outlet) -> Ticket | None:
        is_call = request.method == "tools/call"
        params = decoded(_calls, request.params) if is_call else decoded(_others, request.params)
        caller = params if isinstance(params, Fault) else self._caller(request, params.meta)
        fault = caller if isinstance(caller, Fault) else self._objection(request)
        if isinstance(params, Fault) or isinstance(caller, Fault) or fault is not None:
            told = fault or Fault(INVALID_PARAMS, "Invalid params")
            outlet.finish(refusal(request.id, told), told.code)
            return None
        ticket = Ticket(request, caller, outlet, params.meta.progress, self._forget)
        self._tickets[request.id if self._greets else ticket] = ticket
        try:
            if isinstance(params, _CallWithMeta):
                self._call(ticket, params)
            else:
                self._other(ticket)
        except Exception:  # noqa: BLE001 - one request must not end the others
            _log.exception("%s could not be answered", request.method[:200])
            ticket.answer(Fault(INTERNAL_ERROR, "Internal error: it could not be answered"))
        return ticket

    def _caller(self, request: Request, meta: Meta) -> Caller | Fault:
        """Who asks: by the request itself, or by their handshake."""
        if is_modern(meta) or not self._greets:
            return modern_caller(meta)
        if request.method == "initialize":
            return greeted(request.params)
        if self.caller is not None:
            return self.caller
        return (
            Caller(version="") if request.method == "ping" else Fault(INVALID_PARAMS, _NOT_GREETED)
        )

    def _objection(self, request: Request) -> Fault | None:
        if self._greets and request.id in self._tickets:
            return Fault(INVALID_REQUEST, "Invalid request: its id is that of one under way")
        if request.method == _LISTEN:
            is_full = len(self._listening) >= MOST_LISTENING
            said = _TOO_MANY_LISTEN.format(most=MOST_LISTENING)
            return Fault(INTERNAL_ERROR, said) if is_full else None
        if len(self._tickets) - len(self._listening) >= MOST_UNDER_WAY:
            return Fault(INTERNAL_ERROR, _TOO_MANY.format(most=MOST_UNDER_WAY))
        return None

    def _forget(self, ticket: Ticket) -> None:
        self._tickets.pop(ticket.request.id if self._greets else ticket, None)
        self._listening.discard(ticket)

    def _call(self, ticket: Ticket, params: CallParams) -> None:
        call = self._served.begin(params, ticket, self._asked)
        if isinstance(call, Fault):
            ticket.answer(call)
        elif call is not None and len(self._work) >= MOST_AT_WORK:
            ticket.answer(Fault(INTERNAL_ERROR, _TOO_MUCH.format(most=MOST_AT_WORK)))
        elif call is not None:
            self._work.begin(_settled(self._served, call, params))

    def _other(self, ticket: Ticket) -> None:
        method = ticket.request.method
        if method == "initialize" and not ticket.caller.modern:
            ticket.answer(self._greeting(ticket.caller))
        elif method == _LISTEN and ticket.caller.modern:
            self._listen(ticket)
        elif method in WORKING_METHODS and len(self._work) >= MOST_AT_WORK:
            ticket.answer(Fault(INTERNAL_ERROR, _TOO_MUCH.format(most=MOST_AT_WORK)))
        else:
            found = (MODERN_METHODS if ticket.caller.modern else LEGACY_METHODS).get(method)
            unknown = Fault(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
            answer = unknown if found is None else found(self._served, ticket)
            if isinstance(answer, (bytes, Fault)):
                ticket.answer(answer)
            else:
                self._work.begin(_answered(ticket, answer))

    def _greeting(self, caller: Caller) -> Answered:
        if self.caller is not None:
            return Fault(INVALID_REQUEST, "Invalid request: initialize comes once")
        self.caller = caller
        return welcome(caller)

    def _listen(self, ticket: Ticket) -> None:
        said = decoded(_listens, ticket.request.params)
        if isinstance(said, Fault):
            ticket.answer(said)
            return
        over = Event()
        ticket.give_up = over.set
        self._listening.add(ticket)
        self._streams.begin(_streamed(ticket, said.notifications, self._served, over))

    def _notified(self, message: Notification) -> None:
        """Only a cancellation means something; what cannot be read is let go, as all of it may."""
        if message.method != "notifications/cancelled" or not self._greets:
            return
        said = decoded(_cancelled, message.params)
        ticket = None if isinstance(said, Fault) else self._tickets.get(said.request)
        if ticket is not None and ticket.give_up is not None:
            ticket.drop()


async def _settled(served: Served, call: Call, params: CallParams) -> None:
    try:
        await served.settle(call, params)
    except Exception:  # noqa: BLE001 - one request must not end the others
        _log.exception("a call of %s could not be answered", params.name[:200])
        call.finish(Fault(INTERNAL_ERROR, "Internal error: the call could not be answered"))


async def _answered(ticket: Ticket, work: Awaitable[Answered]) -> None:
    try:
        ticket.answer(await work)
    except Exception:  # noqa: BLE001 - one request must not end the others
        _log.exception("%s could not be answered", ticket.request.method)
        ticket.answer(Fault(INTERNAL_ERROR, "Internal error: it could not be answered"))


async def _streamed(ticket: Ticket, wanted: _Wanted, served: Served, over: Event) -> None:
    """Tell of changes until the client or the server ends it."""
    own: Id = ticket.request.id
    meta: JsonObject = {SUBSCRIPTION_KEY: own}
    heard: JsonObject = {"toolsListChanged": True} if wanted.tools else {}
    told: JsonObject = {"_meta": meta, "notifications": heard}
    ticket.outlet.send(notification("notifications/subscriptions/acknowledged", told))
    changed = notification(LIST_CHANGED, {"_meta": meta})

    def tell() -> None:
        if wanted.tools:
            ticket.outlet.send(changed, droppable=True)

    end = served.listen(tell)
    try:
        await over.wait()
    finally:
        end()
    ticket.answer(completed({"_meta": meta}, ticket.caller))
