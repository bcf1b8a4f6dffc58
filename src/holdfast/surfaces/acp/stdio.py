"""An agent over standard streams: whoever started us is the one client.

The end of input, a signal, and a client that reads no more end everything, in order and soon. What
the messages say is not known here. What the SDK writes down of messages that it could not use is a
line each.
"""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from signal import SIGHUP, SIGINT, SIGTERM
from typing import Any, cast

from acp.agent.connection import AgentSideConnection
from anyio import CancelScope, create_task_group, move_on_after, open_signal_receiver

from holdfast.app.environment import debugging
from holdfast.surfaces.acp.agent import EditorAgent
from holdfast.surfaces.acp.pipe import Pipe
from holdfast.surfaces.acp.sessions import Prepare, Sessions

_FAREWELL_SECONDS = 0.5
"""How long requests may go on after the end of input before they are stopped."""
_ENDING_SECONDS = 1.0


async def serve(prepare: Prepare, stdin: int, stdout: int, tell: Callable[[str], None]) -> None:
    """Answer until the input ends, nobody reads the output, or a signal comes.

    ``tell``: writes one line to standard error.
    """
    pipe = Pipe(stdin, stdout)
    reading = CancelScope()
    with _logged_in_lines(tell):
        await _serve(prepare, pipe, reading, tell)


async def _serve(
    prepare: Prepare, pipe: Pipe, reading: CancelScope, tell: Callable[[str], None]
) -> None:
    async with create_task_group() as group:
        group.start_soon(pipe.write, reading.cancel)
        group.start_soon(_signalled, reading)
        sessions = Sessions(prepare, group, tell)
        agent: Any = EditorAgent(sessions)
        connection = AgentSideConnection(
            agent, cast("Any", pipe), listening=False, use_unstable_protocol=True
        )
        try:
            with reading:
                await connection.listen()
                with move_on_after(_FAREWELL_SECONDS):
                    await pipe.answered()
        finally:
            with CancelScope(shield=True):
                await sessions.close_all()
                with move_on_after(_ENDING_SECONDS):
                    await pipe.answered()
                await connection.close()
                with move_on_after(_ENDING_SECONDS):
                    await pipe.flushed()
        group.cancel_scope.cancel()


async def _signalled(reading: CancelScope) -> None:
    with open_signal_receiver(SIGTERM, SIGHUP, SIGINT) as signals:
        async for _ in signals:  # a second one must not cut the end short
            reading.cancel()


class _Lines(logging.Handler):
    """Tells what is logged; where in the code it was is nothing for whoever wrote to us."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        problem = record.exc_info[1] if record.exc_info else None
        said = record.getMessage()
        with suppress(OSError):  # an editor need not read what is said beside the messages
            self._tell(f"{said}: {problem}" if problem is not None else said)


@contextmanager
def _logged_in_lines(tell: Callable[[str], None]) -> Generator[None]:
    handler = logging.StreamHandler() if debugging() else _Lines(tell)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
