"""The sessions that run in this process, reachable for other windows of the same person.

Each event loop that runs sessions listens at a socket of its own as long as it runs any, and on the
bus where there is one. It keeps no process alive and nobody waiting: where neither can be, others
look into the journal.
"""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from anyio import CancelScope, create_task_group, move_on_after
from anyio.abc import ByteStream
from anyio.lowlevel import RunVar

from holdfast.app.control import places
from holdfast.app.control.connection import Connection
from holdfast.app.control.on_bus import OnBus
from holdfast.app.control.window import Window
from holdfast.app.settings import Surroundings
from holdfast.execution.drive import Delayed
from holdfast.execution.local_sockets import SocketFolder, is_confined, is_same_user, peer_of
from holdfast.execution.local_streams import LocalListener, LocalStream
from holdfast.runtime.abort import Abort
from holdfast.runtime.clock import SystemClock

_log = logging.getLogger("holdfast")

FIRST_SECONDS = 0.02
"""A run that is over sooner has nobody who watches it, and pays for no socket."""
REST_SECONDS = 2.0
"""How long whoever watches may take to read the rest."""
MOST_CONNECTIONS = 32
_TRIES = 3

_here: "RunVar[dict[Path, Serving]]" = RunVar("holdfast.control.serving")
"""Of each event loop, by the home that sessions belong to."""
_hearing: "RunVar[dict[Path, list[Callable[[str], None]]]]" = RunVar("holdfast.control.hearing")
"""Of each event loop, who wants to know that a session of a home begins to run on it."""


@contextmanager
def served(window: Window) -> Generator[None]:
    """Have a session reachable meanwhile; nobody waits for that."""
    home = window.surroundings.data_home
    known = _of_this_loop()
    serving = known.get(home)
    if serving is None:
        serving = known[home] = Serving(window.surroundings)
    serving.enter(window)
    for hear in tuple(_listeners(home)):
        hear(window.session_id)
    try:
        yield
    finally:
        if serving.leave(window):
            del known[home]


def window_here(session_id: str, around: Surroundings) -> Window | None:
    """A session that runs on this event loop; None: it does not."""
    serving = _of_this_loop().get(around.data_home)
    return None if serving is None else serving.window(session_id)


@contextmanager
def told_of_runs(around: Surroundings, hear: Callable[[str], None]) -> Generator[None]:
    """Meanwhile ``hear`` is told of each session that begins to run on this event loop."""
    listeners = _listeners(around.data_home)
    listeners.append(hear)
    try:
        yield
    finally:
        listeners.remove(hear)


def _listeners(home: Path) -> list[Callable[[str], None]]:
    try:
        return _hearing.get().setdefault(home, [])
    except LookupError:
        made: dict[Path, list[Callable[[str], None]]] = {home: []}
        _hearing.set(made)
        return made[home]


def _of_this_loop() -> "dict[Path, Serving]":
    try:
        return _here.get()
    except LookupError:
        made: dict[Path, Serving] = {}
        _here.set(made)
        return made


class Serving:
    """One socket, and who is connected. Used on one event loop."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._windows: dict[str, Window] = {}
        self._counts: dict[str, int] = {}
        self._connections: set[Connection] = set()
        self._ended, self._all_left = Abort(), Abort()
        bus = around.bus
        self._bus = None if bus is None else OnBus(bus, self._windows, self._connect)
        self._serving = Delayed(FIRST_SECONDS, self._serve)

    def enter(self, window: Window) -> None:
        """A session runs from here on; also more than once, one inside of the other."""
        self._windows[window.session_id] = window
        self._counts[window.session_id] = self._counts.get(window.session_id, 0) + 1
        self._change()

    def leave(self, window: Window) -> bool:
        """It does not any more; whether that was the last one."""
        self._counts[window.session_id] -= 1
        if not self._counts[window.session_id]:
            del self._windows[window.session_id], self._counts[window.session_id]
            window.rests()
            self._change()
        if not self._windows:
            self._serving.call_off()
            self._ended.set()
        return not self._windows

    def window(self, session_id: str) -> Window | None:
        """One that runs here; None: it does not."""
        return self._windows.get(session_id)

    def _change(self) -> None:
        if self._bus is not None:
            self._bus.change()

    async def _serve(self) -> None:
        async with create_task_group() as group:
            group.start_soon(self._at_socket)
            if self._bus is not None:
                group.start_soon(self._bus)
                await self._rested()
                group.cancel_scope.cancel()

    async def _rested(self) -> None:
        """Nothing runs here any more, and whoever watches was told the rest."""
        await self._ended.wait()
        for connection in self._connections:
            connection.finish()
        if self._connections:
            with move_on_after(REST_SECONDS):
                await self._all_left.wait()

    async def _at_socket(self) -> None:
        problem: OSError | None = None
        for _ in range(_TRIES):
            try:
                folder = places.made_folder(self._around)
            except OSError as found:
                problem = found
                break
            try:
                await places.remove_stale(folder, SystemClock())
                problem = await self._listen(folder)
            finally:
                folder.close()
                places.leave(self._around)
            if not isinstance(problem, FileNotFoundError):
                break  # else somebody who left took the empty folder away
        if problem is not None:
            _log.info("other windows find this session in the journal alone: %s", problem)

    async def _listen(self, folder: SocketFolder) -> OSError | None:
        """Answer until the last session has left; why that cannot be."""
        name = places.new_name()
        try:
            listener = await folder.listen(name)
        except OSError as problem:
            return problem
        try:
            async with create_task_group() as group:
                group.start_soon(self._accept, listener)
                await self._ended.wait()
                folder.remove(name)
                await self._rested()
                group.cancel_scope.cancel()
        finally:
            folder.remove(name)
            with CancelScope(shield=True):
                await listener.aclose()
        return None

    async def _accept(self, listener: LocalListener) -> None:
        await listener.serve(self._take)

    async def _take(self, stream: LocalStream) -> None:
        peer = peer_of(stream)
        if not is_same_user(peer) or is_confined(peer):
            told = "only windows of the user who runs it may ask here"
            await Connection(stream, self._windows).refuse("peer", told)
            return
        await self._connect(stream)

    async def _connect(self, stream: ByteStream) -> None:
        """Somebody who may ask: over the bus they have its credentials."""
        connection = Connection(stream, self._windows)
        if len(self._connections) >= MOST_CONNECTIONS:
            told = f"{MOST_CONNECTIONS} windows are connected already; close one"
            await connection.refuse("busy", told)
            return
        self._connections.add(connection)
        try:
            await connection()
        finally:
            self._connections.discard(connection)
            if self._ended.aborted and not self._connections:
                self._all_left.set()
