"""The bus by which processes of other machines are reached, joined once for all of an event loop.

The first who needs it joins it, and the last one leaves it. What is said over it is not known here.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from anyio import CancelScope, Lock, fail_after, move_on_after, sleep, sleep_forever
from anyio.lowlevel import RunVar

from holdfast.app.settings import Surroundings
from holdfast.contract.bus import BusPlace, BusUnavailable, OpenedBus
from holdfast.engine.lines.addresses import Addresses
from holdfast.engine.lines.connecting import Lines

JOIN_SECONDS = 2.0
AGAIN_SECONDS = 5.0
"""When a bus that could not be joined is tried again."""
_LEAVE_SECONDS = 5.0
_SAY_SECONDS = 1.0

_here: "RunVar[dict[str, _Shared]]" = RunVar("holdfast.control.exchange")


@asynccontextmanager
async def lines_of(place: BusPlace) -> AsyncGenerator[Lines]:
    """Connections over a bus; BusUnavailable."""
    known = _of_this_loop()
    shared = known.get(place.name)
    if shared is None:
        shared = known[place.name] = _Shared(place)
    shared.users += 1
    try:
        yield await shared.lines()
    finally:
        shared.users -= 1
        if not shared.users:
            del known[place.name]
            await shared.leave()


@asynccontextmanager
async def joined(around: Surroundings) -> AsyncGenerator[Lines | None]:
    """Stay on the bus meanwhile, where there is one that can be joined now."""
    async with AsyncExitStack() as stack:
        lines: Lines | None = None
        if around.bus is not None:
            try:
                lines = await stack.enter_async_context(lines_of(around.bus))
            except BusUnavailable:
                lines = None
        yield lines


async def say_look(session_id: str, around: Surroundings) -> None:
    """Something was written down for a session: whoever follows it elsewhere looks now, if they
    can be told."""
    with move_on_after(_SAY_SECONDS):
        async with joined(around) as lines:
            if lines is not None:
                await _say(session_id, lines)


async def stay_joined(around: Surroundings) -> None:
    """Stay on the bus, and join it again; never ends, where there is one.

    For those who run or follow one session after the other.
    """
    while around.bus is not None:
        with suppress(BusUnavailable):
            async with lines_of(around.bus):
                await sleep_forever()
        await sleep(AGAIN_SECONDS)


async def hear_looks(around: Surroundings, looked: Callable[[str], object]) -> None:
    """Be told which sessions somebody has written something down for; never ends, where there is a
    bus. ``looked`` never waits."""

    def hear(_subject: str, message: bytes) -> None:
        with suppress(UnicodeDecodeError):
            looked(message.decode())

    while around.bus is not None:
        with suppress(BusUnavailable):
            async with lines_of(around.bus) as lines:
                listening = await lines.bus.subscribe(lines.addresses.any_look, hear)
                try:
                    await sleep_forever()
                finally:
                    with CancelScope(shield=True):
                        await listening.close()
        await sleep(AGAIN_SECONDS)


async def _say(session_id: str, lines: Lines) -> None:
    try:
        await lines.bus.publish(lines.addresses.look(session_id), session_id.encode())
    except BusUnavailable:
        return  # they find it when they look by themselves


class _Shared:
    """One bus that was joined, or is about to be."""

    def __init__(self, place: BusPlace) -> None:
        self.users = 0
        self._place = place
        self._joining = Lock()
        self._opened: OpenedBus | None = None
        self._lines: Lines | None = None

    async def lines(self) -> Lines:
        """BusUnavailable."""
        async with self._joining:
            if self._lines is None:
                try:
                    with fail_after(JOIN_SECONDS):
                        self._opened = await self._place.opened()
                except TimeoutError:
                    raise BusUnavailable("no server of it answers in time") from None
                self._lines = Lines(self._opened.bus, Addresses(self._place.namespace))
            return self._lines

    async def leave(self) -> None:
        """Nobody uses it any more."""
        with CancelScope(shield=True), move_on_after(_LEAVE_SECONDS, shield=True):
            if self._lines is not None:
                await self._lines.close()
            if self._opened is not None:
                await self._opened.close()


def _of_this_loop() -> "dict[str, _Shared]":
    try:
        return _here.get()
    except LookupError:
        made: dict[str, _Shared] = {}
        _here.set(made)
        return made
