"""Reaching the process that runs a session, from another window of the same person.

Every wait has an end. Whatever goes wrong is Unreachable, and the journal remains: who runs a
session, and all that was written down of it, stands there.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TypeVar

from anyio import CancelScope, DelimiterNotFound, fail_after, move_on_after
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from holdfast.app.control import places, wire
from holdfast.app.control.connection import GONE
from holdfast.app.control.exchange import lines_of, say_look
from holdfast.app.holders import process_name
from holdfast.app.settings import Surroundings
from holdfast.contract.bus import BusPlace, BusUnavailable
from holdfast.contract.journal import Journal
from holdfast.contract.shell import LiveCommand
from holdfast.engine.lines.connecting import NobodyAnswers, NobodyThere
from holdfast.execution.local_sockets import SocketFolder, may_be_reached, peer_of
from holdfast.runtime.clock import SystemClock

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 5.0
POKE_SECONDS = 1.0
"""How long somebody waits who has written down what had to be, and only wants it to be seen."""
SILENCE_SECONDS = 15.0
"""How long a watch may say nothing, not even that somebody is there."""

_R = TypeVar("_R")


class Unreachable(Exception):
    """Nobody answers for the session; says why."""


class NoSocket(Unreachable):
    """There is none, at this moment."""


class RefusedRequest(Exception):
    """The process that was asked said no; says why."""

    def __init__(self, refused: wire.Refused) -> None:
        super().__init__(refused.message)
        self.problem: wire.Problem = refused.problem


class Owner:
    """The process that runs a session, as another window reaches it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._read = BufferedByteReceiveStream(stream)
        self._last_id = 0
        self.process = ""
        """Its name, as leases have it."""

    async def greet(self, session_id: str) -> None:
        """Say hello to one who can be believed, and runs it; Unreachable, RefusedRequest."""
        welcome = await self._ask(wire.Hello(id=self._next(), version=wire.VERSION), wire.Welcome)
        self.process = welcome.process
        if all(one.session_id != session_id for one in await self.sessions()):
            raise NoSocket(f"session {session_id} does not run there any more")

    async def close(self) -> None:
        """Leave."""
        with CancelScope(shield=True):
            await self._stream.aclose()

    async def sessions(self) -> tuple[wire.RunningSession, ...]:
        """The sessions that run there."""
        return (await self._ask(wire.Sessions(id=self._next()), wire.Running)).sessions

    async def look(self, session_id: str) -> None:
        """Something was written down for a session: have it look now."""
        await self._ask(wire.Look(id=self._next(), session=session_id), wire.Done)

    async def interrupt_call(self, session_id: str) -> bool:
        """Stop the calls that run now, and let the agent go on; whether there were any."""
        asked = wire.InterruptCall(id=self._next(), session=session_id)
        return (await self._ask(asked, wire.Done)).did

    async def commands(self, session_id: str) -> tuple[LiveCommand, ...]:
        """The commands that run now, without what they printed."""
        asked = wire.Commands(id=self._next(), session=session_id)
        return (await self._ask(asked, wire.Listed)).commands

    async def tail(self, session_id: str, command: str) -> LiveCommand:
        """One command with what it printed last; RefusedRequest where it is over or unknown."""
        asked = wire.Tail(id=self._next(), session=session_id, command=command)
        return (await self._ask(asked, wire.Printed)).command

    async def terminate(self, session_id: str, command: str) -> bool:
        """End a command, and all it started; False when it is over or unknown."""
        asked = wire.Terminate(id=self._next(), session=session_id, command=command)
        return (await self._ask(asked, wire.Done)).did

    async def watch(self, session_id: str, after: int = 0) -> AsyncGenerator[wire.Reply]:
        """What happens behind an event, until the session rests there; Unreachable.

        Nothing else can be asked of this connection meanwhile.
        """
        asked = wire.Watch(id=self._next(), session=session_id, after=after)
        await self._ask(asked, wire.Done)
        while True:
            reply = await self._reply(SILENCE_SECONDS)
            if isinstance(reply, wire.Rests):
                return
            if isinstance(reply, wire.Refused):
                raise RefusedRequest(reply)
            if not isinstance(reply, wire.Here):
                yield reply

    async def _ask(self, request: wire.Request, wanted: type[_R]) -> _R:
        # One who was let go may have been told why: that is read in any case.
        with suppress(*GONE), fail_after(ANSWER_SECONDS):
            await self._stream.send(wire.line_of(request))
        reply = await self._reply(ANSWER_SECONDS)
        if isinstance(reply, wire.Refused):
            raise RefusedRequest(reply)
        if not isinstance(reply, wanted):
            raise Unreachable(f"it answers {type(reply).__name__} to {type(request).__name__}")
        return reply

    async def _reply(self, seconds: float) -> wire.Reply:
        try:
            with fail_after(seconds):
                line = await self._read.receive_until(b"\n", wire.MOST_LINE_BYTES)
            return wire.read_reply(line)
        except (wire.Malformed, DelimiterNotFound, *GONE) as problem:
            raise Unreachable(_why(problem)) from None

    def _next(self) -> int:
        self._last_id += 1
        return self._last_id


@asynccontextmanager
async def owner_of(session_id: str, holder: str, around: Surroundings) -> AsyncGenerator[Owner]:
    """The process that holds a session's lease; Unreachable where it does not answer for it.

    By its socket, where it has one here, else over the bus.
    """
    problem: Unreachable = NoSocket(f"{holder} has no socket for session {session_id}")
    with places.open_folders(around) as folders:
        for folder in folders:
            for name in places.sockets_of(folder, holder):
                try:
                    owner = await _connected(folder, name, session_id)
                except Unreachable as found:
                    problem = found
                    continue
                try:
                    yield owner
                finally:
                    await owner.close()
                return
            await places.remove_stale(folder, SystemClock())
    if around.bus is None:
        raise problem
    async with _over(around.bus, session_id, holder) as owner:
        yield owner


@asynccontextmanager
async def _over(place: BusPlace, session_id: str, holder: str) -> AsyncGenerator[Owner]:
    """The same over a bus; Unreachable."""
    async with AsyncExitStack() as stack:
        try:
            lines = await stack.enter_async_context(lines_of(place))
            subject = lines.addresses.process(process_name(holder), session_id)
            stream = await lines.connect(subject, CONNECT_SECONDS)
        except (NobodyAnswers, BusUnavailable) as problem:
            raise Unreachable(str(problem)) from None
        except NobodyThere as problem:
            raise NoSocket(
                f"{holder} does not answer for session {session_id}: {problem}"
            ) from None
        owner = await _greeted(stream, session_id)
        stack.push_async_callback(owner.close)
        if owner.process != process_name(holder):
            raise Unreachable("somebody else answers there")
        yield owner


async def poke(session_id: str, journal: Journal, around: Surroundings) -> bool:
    """Something was written down for a session: have whoever runs it look now.

    Whether they heard; otherwise they find it when they look by themselves. JournalError.
    """
    session = await journal.session(session_id)
    lease, heard = session.lease, False
    if lease is not None:
        with suppress(Unreachable, RefusedRequest), move_on_after(POKE_SECONDS):
            async with owner_of(session_id, lease.holder, around) as owner:
                await owner.look(session_id)
                heard = True
    await say_look(session_id, around)
    if around.announces is not None and not heard:
        await around.announces(session)
    return heard


async def _connected(folder: SocketFolder, name: str, session_id: str) -> Owner:
    """Somebody there whom this user may believe, and who runs the session; Unreachable."""
    try:
        with fail_after(CONNECT_SECONDS):
            stream = await folder.connect(name)
    except (OSError, TimeoutError):
        raise NoSocket("nobody listens there any more") from None
    if not may_be_reached(peer_of(stream).uid):
        await stream.aclose()
        raise Unreachable("somebody else listens there")
    return await _greeted(stream, session_id)


async def _greeted(stream: ByteStream, session_id: str) -> Owner:
    """Whoever is at the other end, if they run the session; Unreachable."""
    owner = Owner(stream)
    try:
        await owner.greet(session_id)
    except RefusedRequest as refused:
        await owner.close()
        raise Unreachable(str(refused)) from None
    except BaseException:
        await owner.close()
        raise
    return owner


def _why(problem: Exception) -> str:
    match problem:
        case TimeoutError():
            return "it does not answer in time"
        case wire.Malformed() | DelimiterNotFound():
            return f"it does not speak like this holdfast: {problem}"
        case _:
            return "it has ended, or closed the connection"
