"""Several messages in one array, as exactly one version of the protocol has them."""

from holdfast.surfaces.mcp.client import Client
from holdfast.surfaces.mcp.eras import BATCHING
from holdfast.surfaces.mcp.messages import (
    INVALID_REQUEST,
    MAX_BATCH,
    Fault,
    Malformed,
    Request,
    elements,
    is_batch,
    read,
    refusal,
)
from holdfast.surfaces.mcp.tickets import Outlet, Ticket

_NO_BATCHES = Fault(
    INVALID_REQUEST,
    f"Invalid request: only version {BATCHING} has batches, of {MAX_BATCH} messages at most",
)


class _Answers:
    """Collects the answers to a batch; the last one sends them all."""

    def __init__(self, outlet: Outlet, owed: int) -> None:
        self._outlet = outlet
        self._owed = owed
        self._answers: list[bytes] = []

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        """Goes out at once."""
        self._outlet.send(message, droppable=droppable)

    def finish(self, message: bytes, _code: int = 0, /) -> None:
        """Goes out with the others."""
        self._answers.append(message)
        self.skip()

    def skip(self) -> None:
        """One of them gets no answer."""
        self._owed -= 1
        if self._owed:
            return
        if self._answers:
            self._outlet.finish(b"[%b]" % b",".join(self._answers))
        else:
            self._outlet.skip()


def taken(text: bytes, client: Client, outlet: Outlet) -> Ticket | None:
    """Hand a text to a client, whether it holds one message or several."""
    if not is_batch(text):
        return client.take(read(text), outlet)
    parts = elements(text)
    if parts is None or client.caller is None or client.caller.version != BATCHING:
        outlet.finish(refusal(None, _NO_BATCHES), _NO_BATCHES.code)
        return None
    messages = [read(part) for part in parts]
    owed = sum(isinstance(one, (Request, Malformed)) for one in messages)
    answers = _Answers(outlet, owed)
    if not owed:
        outlet.skip()
    for message in messages:
        client.take(message, answers)
    return None
