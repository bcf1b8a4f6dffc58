"""A request that is being answered, and where its messages go. What it asks for is not known."""

from collections.abc import Callable
from typing import Protocol

from holdfast.surfaces.mcp.eras import Caller, Token
from holdfast.surfaces.mcp.messages import Fault, Request, answer, refusal


class Outlet(Protocol):
    """Where messages to one client go. Safe to use from any thread, and never waits."""

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        """A message that another one follows. A droppable one may get lost on a slow client."""
        ...

    def finish(self, message: bytes, code: int = 0, /) -> None:
        """The answer, or with a code the refusal, of the request that this is for."""
        ...

    def skip(self) -> None:
        """There will be no answer."""
        ...


class Ticket:
    """One request until it has its answer."""

    __slots__ = ("_forget", "caller", "give_up", "is_open", "outlet", "request", "token")

    def __init__(
        self,
        request: Request,
        caller: Caller,
        outlet: Outlet,
        token: Token | None,
        forget: "Callable[[Ticket], None]",
    ) -> None:
        """``token``: what signs of life have to name; None: nobody wants any."""
        self.request = request
        self.caller = caller
        self.outlet = outlet
        self.token = token
        self.is_open = True
        self.give_up: Callable[[], None] | None = None
        """What stops the work for it, where there is any to stop."""
        self._forget = forget

    def answer(self, result: bytes | Fault) -> None:
        """Give the answer; one that nobody waits for any more is not given."""
        if not self.is_open:
            return
        self._close()
        if isinstance(result, Fault):
            self.outlet.finish(refusal(self.request.id, result), result.code)
        else:
            self.outlet.finish(answer(self.request.id, result))

    def drop(self) -> None:
        """Nobody waits for it any more: it stays without an answer, and its work stops."""
        if self.is_open:
            self._close()
            self.outlet.skip()
            if self.give_up is not None:
                self.give_up()

    def _close(self) -> None:
        self.is_open = False
        self._forget(self)
