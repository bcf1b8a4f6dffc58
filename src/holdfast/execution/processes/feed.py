"""Standard input for a process: nothing, or given bytes, written while it runs.

A process that does not read what it is given is no mistake: the rest is dropped when it closes.
"""

import asyncio
import os


class Feed:
    """Writes bytes into a pipe as fast as the process reads them."""

    def __init__(self, content: bytes | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = memoryview(content or b"")
        self._pipe: int | None = None
        if content is None:
            self.end = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            return
        self.end, self._pipe = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._pipe, False)
        self._loop.add_writer(self._pipe, self._write, self._pipe)
        self._write(self._pipe)

    def close(self) -> None:
        """Write no more."""
        if self._pipe is not None:
            self._loop.remove_writer(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _write(self, pipe: int) -> None:
        try:
            while self._left:
                self._left = self._left[os.write(pipe, self._left) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # it reads no more
        self.close()
