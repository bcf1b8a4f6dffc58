"""One client, at a socket or on the bus: greeted, answered line by line, let go if it misbehaves.

Lines, requests, waiting and sending have bounds, so that no client costs the sessions here more
than a little. Who may connect at all is decided before.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import msgspec
from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    DelimiterNotFound,
    EndOfStream,
    IncompleteRead,
    Lock,
    create_task_group,
    current_time,
    fail_after,
    move_on_after,
    sleep,
)
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from holdfast.app.control import wire
from holdfast.app.control.watching import Watcher
from holdfast.app.control.window import Window
from holdfast.app.holders import this_process
from holdfast.contract.journal import JournalError
from holdfast.contract.shell import LiveCommand

GREETING_SECONDS = 5.0
IDLE_SECONDS = 60.0
"""How long somebody may say nothing who watches nothing."""
SEND_SECONDS = 30.0
"""How long somebody may not read what is sent; then they are let go."""
MOST_REQUESTS = 200
"""In a second; more of them wait for the next one."""

GONE = (
    OSError,
    BrokenResourceError,
    ClosedResourceError,
    EndOfStream,
    IncompleteRead,
    TimeoutError,
)
"""The other side has left, or might as well have."""


class Connection:
    """Answers one client."""

    def __init__(self, stream: ByteStream, windows: Mapping[str, Window]) -> None:
        self._stream = stream
        self._read = BufferedByteReceiveStream(stream)
        self._windows = windows
        self._sending = Lock()
        self._scope = CancelScope()
        self._watches = False
        self._second = 0.0
        self._requests = 0

    async def __call__(self) -> None:
        """Until it leaves, or is let go."""
        async with _closing(self._stream):
            with self._scope:
                if await self._greet():
                    async with create_task_group() as group:
                        await self._answer_all(group)
                        group.cancel_scope.cancel()

    async def refuse(self, problem: wire.Problem, message: str) -> None:
        """Say why it is let go, and let it go."""
        async with _closing(self._stream):
            await self._say(wire.Refused(problem=problem, message=message))

    def finish(self) -> None:
        """Nothing runs here any more: whoever watches is told the rest first."""
        if not self._watches:
            self._scope.cancel()

    async def _greet(self) -> bool:
        with fail_after(GREETING_SECONDS):
            request = await self._request()
        if request is None:
            return False
        if not isinstance(request, wire.Hello):
            await self._refuse(request, "malformed", "say hello first, with the version you speak")
            return False
        if request.version != wire.VERSION:
            told = f"version {wire.VERSION} is spoken here, and not {request.version}"
            await self._refuse(request, "version", f"{told}; run the same holdfast in both")
            return False
        welcome = wire.Welcome(id=request.id, version=wire.VERSION, process=this_process())
        await self._say(welcome)
        return True

    async def _answer_all(self, group: TaskGroup) -> None:
        while True:
            request = None
            with move_on_after(None if self._watches else IDLE_SECONDS):
                request = await self._request()
            if request is None:
                return
            await self._slowly()
            await self._answer(request, group)

    async def _request(self) -> wire.Request | None:
        """The next one; None: it was none, and the client was told."""
        try:
            line = await self._read.receive_until(b"\n", wire.MOST_REQUEST_BYTES)
            return wire.read_request(line)
        except DelimiterNotFound:
            told = f"a line has at most {wire.MOST_REQUEST_BYTES} bytes"
            await self._say(wire.Refused(problem="too_long", message=told))
        except wire.Malformed as problem:
            await self._say(wire.Refused(problem="malformed", message=str(problem)))
        return None

    async def _slowly(self) -> None:
        """Sessions run on the same loop: of a flood of requests they feel little."""
        now = current_time()
        if now - self._second >= 1.0:
            self._second, self._requests = now, 0
        self._requests += 1
        if self._requests > MOST_REQUESTS:
            await sleep(self._second + 1.0 - now)

    async def _answer(self, request: wire.Request, group: TaskGroup) -> None:
        if isinstance(request, wire.Hello):
            await self._refuse(request, "malformed", "hello was said already")
            return
        if isinstance(request, wire.Sessions):
            await self._say(wire.Running(id=request.id, sessions=await self._running()))
            return
        window = self._windows.get(request.session)
        if window is None:
            told = f"session {request.session} does not run here"
            await self._refuse(request, "unknown_session", told)
        elif isinstance(request, wire.Watch):
            await self._begin_watch(request, window, group)
        else:
            await self._say(_done(request, window))

    async def _running(self) -> tuple[wire.RunningSession, ...]:
        found: list[wire.RunningSession] = []
        for session_id, window in list(self._windows.items()):
            try:
                status = await window.status()
            except JournalError:
                continue  # it has just been closed
            found.append(wire.RunningSession(session_id=session_id, status=status))
        return tuple(found)

    async def _begin_watch(self, request: wire.Watch, window: Window, group: TaskGroup) -> None:
        if self._watches:
            told = "one session is watched already; use another connection for another one"
            await self._refuse(request, "busy", told)
            return
        self._watches = True
        group.start_soon(self._watch, request, Watcher(window, request.after, self._send))

    async def _watch(self, request: wire.Watch, watcher: Watcher) -> None:
        """Its end is that of the connection."""
        try:
            await self._say(wire.Done(id=request.id))
            await watcher()
        except JournalError as problem:
            await self._refuse(request, "unavailable", str(problem))
        finally:
            watcher.close()
            self._scope.cancel()

    async def _refuse(self, request: wire.Request, problem: wire.Problem, message: str) -> None:
        await self._say(wire.Refused(id=request.id, problem=problem, message=message))

    async def _say(self, reply: wire.Reply) -> None:
        await self._send(wire.line_of(reply))

    async def _send(self, lines: bytes) -> None:
        with fail_after(SEND_SECONDS):
            async with self._sending:
                await self._stream.send(lines)


def _done(
    request: wire.Look | wire.InterruptCall | wire.Commands | wire.Tail | wire.Terminate,
    window: Window,
) -> wire.Reply:
    match request:
        case wire.Look():
            window.look()
            return wire.Done(id=request.id)
        case wire.InterruptCall():
            return wire.Done(id=request.id, did=window.interrupt_call())
        case wire.Commands():
            shown = tuple(map(_without_output, window.commands.all()))
            return wire.Listed(id=request.id, commands=shown)
        case wire.Terminate():
            return wire.Done(id=request.id, did=window.commands.terminate(request.command))
        case wire.Tail():
            found = [one for one in window.commands.all() if one.id == request.command]
            if found:
                return wire.Printed(id=request.id, command=found[0])
            told = f"no command {request.command} runs in session {request.session}"
            return wire.Refused(id=request.id, problem="unknown_command", message=told)


def _without_output(one: LiveCommand) -> LiveCommand:
    return msgspec.structs.replace(one, stdout_tail="", stderr_tail="")


@asynccontextmanager
async def _closing(stream: ByteStream) -> AsyncGenerator[None]:
    """Close it at the end; that the other side has left is no problem of anybody."""
    try:
        yield
    except* GONE:
        pass
    finally:
        with CancelScope(shield=True):
            await stream.aclose()
