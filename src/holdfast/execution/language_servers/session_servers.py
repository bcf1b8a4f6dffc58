"""The language servers of a session: one for each language, started when it is first asked.

One that ended by itself is started again by the next call, not at once after it failed, and that is
said. One that is silent through two questions is ended. All end with the session's sandbox.
"""

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, Protocol, TypeVar

from anyio import Lock, sleep

from holdfast.contract.errors import OperationTimedOut, ToolError, Unavailable
from holdfast.contract.programs import Listener
from holdfast.contract.shell import KilledBy
from holdfast.execution.language_servers.connection import Connection
from holdfast.execution.language_servers.server import LanguageServer, ServerCommand
from holdfast.execution.language_servers.watching import Seen, changes
from holdfast.execution.processes.piped import Piped

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 8.0

_T = TypeVar("_T")


class Starter(Protocol):
    """How the programs of a call are started, and how its answer is told something."""

    async def converse(self, command: tuple[str, ...], listener: Listener, /) -> Piped:
        """Start one; OSError, Unavailable."""
        ...

    def say(self, *words: str) -> None:
        """Have the answer to the call say something."""
        ...


class _Running(NamedTuple):
    server: LanguageServer
    connection: Connection
    process: Piped


class _Held:
    """The place of one server, whether or not it runs."""

    def __init__(self, command: ServerCommand) -> None:
        self.command = command
        self.starting = Lock()
        self.running: _Running | None = None
        self.doubted: int | None = None
        """How many messages had come when a question met its deadline; None: it answers."""
        self.seen: Seen | None = None
        """The files of the workspace, when it was last told of them."""
        self.failures = 0
        """How often it ended by itself since it last answered."""
        self.failed_at = 0.0
        self.ended: str | None = None
        """How the last one ended, if it did so by itself or by a person."""

    def over(self, how: str, by: KilledBy | None) -> None:
        """It has ended."""
        self.running = None
        self.doubted = None
        self.seen = None
        if by == "abort":
            return
        self.ended = how
        self.failed_at = time.monotonic()
        self.failures += by != "user"

    def answered(self) -> None:
        """It works."""
        self.failures = 0
        self.doubted = None

    def unanswered(
        self, running: _Running, doubted: int | None, problem: OperationTimedOut
    ) -> OperationTimedOut:
        """A question met its deadline, asked when it was ``doubted``; gives what to say of it.

        One that says anything at all works on something else; one that says nothing is ended.
        """
        if self.running is not running:
            return problem
        if running.connection.messages != doubted:
            self.doubted = running.connection.messages
            running.connection.knock()
            return problem
        running.process.end("lost")
        return OperationTimedOut(
            f"The language server {self.command.name} said nothing through two questions, so it was"
            " ended. It is started again with the next call."
        )

    def pause(self) -> float:
        """How long the next start has to wait."""
        if not self.failures:
            return 0.0
        pause = min(FIRST_PAUSE_SECONDS * 2 ** (self.failures - 1), LONGEST_PAUSE_SECONDS)
        return max(0.0, self.failed_at + pause - time.monotonic())


class SessionServers:
    """Holds them. Used on the session's event loop."""

    def __init__(self, commands: Iterable[ServerCommand], workspace: str | None) -> None:
        self._workspace = workspace
        self._held = {one.name: _Held(one) for one in commands}

    @property
    def workspace(self) -> str:
        """What the servers know; Unavailable without one."""
        if self._workspace is None:
            raise Unavailable("This session has no workspace, so no language server can know it.")
        return self._workspace

    def command_for(self, path: str | None) -> ServerCommand:
        """Who knows a file's language; without a file: the first there is."""
        if not self._held:
            raise Unavailable(_NONE_AT_ALL)
        if path is None:
            return next(iter(self._held.values())).command
        for held in self._held.values():
            if path.lower().endswith(held.command.extensions):
                return held.command
        raise Unavailable(_none_for(path, [one.command for one in self._held.values()]))

    def shown(self, command: ServerCommand) -> tuple[str, ...]:
        """What a server sees of the workspace now, by URI; from any thread."""
        running = self._held[command.name].running
        return () if running is None else running.server.shown()

    async def ask(
        self,
        command: ServerCommand,
        starter: Callable[[], Starter],
        seen: Seen,
        question: Callable[[LanguageServer], Awaitable[_T]],
    ) -> tuple[_T, LanguageServer]:
        """Ask a server, started if it does not run; gives who answered, too.

        ``starter`` is called on the event loop: what it gives belongs there.
        """
        held = self._held[command.name]
        async with held.starting:
            running = held.running or await self._started(held, starter())
        server, doubted = running.server, held.doubted
        self._tell_changes(held, server, seen)
        try:
            answer = await question(server)
        except OperationTimedOut as problem:
            raise held.unanswered(running, doubted, problem) from None
        held.answered()
        return answer, server

    def _tell_changes(self, held: _Held, server: LanguageServer, now: Seen) -> None:
        """Of files it may have read since it was started; who has just been started knows them."""
        before, held.seen = held.seen, now
        if before is not None:
            found = changes(before, now)
            server.files_changed({f"{self.workspace}/{path}": how for path, how in found.items()})

    async def _started(self, held: _Held, starter: Starter) -> _Running:
        await sleep(held.pause())
        before = held.ended
        connection = Connection(held.command.name)

        def over(how: str, by: KilledBy | None) -> None:
            held.over(how, by)
            connection.over(how)

        try:
            listener = Listener(connection.heard, over)
            process = await starter.converse(held.command.command, listener)
        except OSError as problem:
            raise _unstarted(held.command, problem) from None
        connection.sends_by(process.send)
        running = _Running(LanguageServer(held.command, connection), connection, process)
        try:
            await running.server.begin(self.workspace)
        except ToolError:
            process.end("lost")
            raise
        except BaseException:
            process.end("abort")
            raise
        if before is not None:
            starter.say(
                f"The language server {held.command.name} had ended ({before}) and was started"
                " again."
            )
        if not process.over:  # it may have said hello and ended; who asks it now is told
            held.running, held.ended = running, None
        return running


_HOW = (
    "For Python install basedpyright beside holdfast (pip install basedpyright); for any language"
    " name its server in holdfast's configuration, for example: [lsp.go] command = ["
    '"gopls"], extensions = [".go"].'
)
_NONE_AT_ALL = f"There is no language server here. {_HOW}"


def _none_for(path: str, known: list[ServerCommand]) -> str:
    served = ", ".join(f"{one.name} ({' '.join(one.extensions)})" for one in known)
    return f"No language server is configured for {path}; there is one for: {served}. {_HOW}"


def _unstarted(command: ServerCommand, problem: OSError) -> Unavailable:
    return Unavailable(
        f"The language server {command.name} cannot be started: {command.command[0]}:"
        f" {problem.strerror or problem}. Install it where commands of this session see it, or set"
        f" lsp.{command.name}.command in holdfast's configuration."
    )
