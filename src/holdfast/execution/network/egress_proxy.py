"""The one door of a confined process to the network: a proxy on the sandbox's own loopback.

It serves the listening socket that a warden opened inside the sandbox and handed over; what it
reaches, it reaches from outside. Who may reach what is the gate's business.
"""

import asyncio
import logging
import socket

from holdfast.execution.network.conversation import Ways, converse
from holdfast.execution.network.dialling import Line

_logger = logging.getLogger("holdfast")
_RETRY_SECONDS = 0.1


class EgressProxy:
    """Serves programs until it is closed. To be made on the event loop that it is to use."""

    def __init__(self, listener: socket.socket, ways: Ways) -> None:
        # Its owner may close it at any time; the loop must not meet a file that is gone.
        self._listener = listener.dup()
        self._listener.settimeout(0)
        self._ways = ways
        self._loop = asyncio.get_running_loop()
        self._open: dict[asyncio.Task[None], socket.socket] = {}
        self._closed = False
        self.port: int = self._listener.getsockname()[1]
        """Where programs inside find it, on 127.0.0.1."""
        self._watch()

    async def close(self) -> None:
        """End every connection at once; harmless when it is closed."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._listener)
        self._listener.close()
        serving = list(self._open)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _watch(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except BlockingIOError:
            return  # whoever it was is gone again
        except OSError:
            # There are no files left, for instance. Those who wait are served later.
            self._loop.remove_reader(self._listener)
            self._loop.call_later(_RETRY_SECONDS, self._watch)
            return
        task = self._loop.create_task(self._serve(accepted))
        self._open[task] = accepted
        task.add_done_callback(self._served)
        if len(self._open) >= self._ways.limits.connections:
            self._loop.remove_reader(self._listener)

    def _served(self, task: "asyncio.Task[None]") -> None:
        self._open.pop(task).close()
        if not task.cancelled() and (problem := task.exception()) is not None:
            _logger.error("a connection of the egress proxy failed", exc_info=problem)
        self._watch()

    async def _serve(self, accepted: socket.socket) -> None:
        limit = self._ways.limits.header_bytes
        program = Line(*await asyncio.open_connection(sock=accepted, limit=limit))
        try:
            await converse(program, self._ways)
        finally:
            program.drop()
