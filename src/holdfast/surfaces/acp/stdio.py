"""An agent over standard streams: whoever started us is the one client.

The end of input, a signal, and a client that reads no more end everything, in order and soon. What
the messages say is not known here.
"""

from collections.abc import Callable
from signal import SIGHUP, SIGINT, SIGTERM
from typing import Any, cast

from acp.agent.connection import AgentSideConnection
from anyio import CancelScope, create_task_group, move_on_after, open_signal_receiver

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
