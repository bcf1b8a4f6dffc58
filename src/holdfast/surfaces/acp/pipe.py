"""Two descriptors as a transport of the protocol's SDK: one JSON message a line, in and out.

What stands in the messages is not known here. Nothing blocks the event loop, and a message that is
no JSON object is answered and passed over: whatever a client writes, the next line is read. What is
not quite an answer to a request of ours is none, or says that it failed.
"""

import json
import os
import re
import select
import stat
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from anyio import Event, to_thread, wait_readable, wait_writable

MOST_BYTES = 64 * 1024 * 1024
"""Of one message: prompts may hold whole files."""
_TOO_LONG = f"A message has {MOST_BYTES:,} bytes at most."
_CHUNK = 64 * 1024
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that is one half of a character; mostly the other one is beside it."""
_ASIDE = "$/"
"""Notifications that whoever does not know them may pass over."""

Message = dict[str, Any]


class _Waiting(NamedTuple):
    line: bytes
    written: Event


class Pipe:
    """One client, by the streams that it started us with. Used on one event loop."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._is_too_long = False
        self._out: deque[_Waiting] = deque()
        self._more = Event()
        self._flushed = Event()
        self._is_broken = False
        self._unanswered = 0
        self._answered = Event()

    async def receive(self) -> Message | None:
        """The next message; None: there is none any more."""
        while True:
            while self._lines:
                message = await self._understood(self._lines.popleft())
                if message is not None:
                    return message
            chunk = await self._read()
            if not chunk:
                return None
            await self._cut(chunk)

    async def send(self, message: Message) -> None:
        """Have a message written, and wait until it is; nothing where nobody reads any more."""
        if self._is_broken:
            return
        # Escapes keep whatever text there is, also what is no Unicode.
        waiting = _Waiting(json.dumps(message, separators=(",", ":")).encode() + b"\n", Event())
        self._out.append(waiting)
        self._more.set()
        await waiting.written.wait()
        if "id" in message and "method" not in message:
            self._unanswered -= 1
            self._answered.set()

    async def close(self) -> None:
        """Nothing more is read; what is in line is still written."""
        self._lines.clear()

    async def write(self, gone: Callable[[], None]) -> None:
        """Write what is in line, until this is cancelled. ``gone``: called when nobody reads."""
        while True:
            while self._out:
                waiting = self._out[0]
                try:
                    await self._write_all(waiting.line)
                except OSError:
                    self._break(gone)
                    return
                self._out.popleft()
                waiting.written.set()
            self._flushed.set()
            self._more = Event()
            if not self._out:
                await self._more.wait()

    async def flushed(self) -> None:
        """Wait until all that is in line is written, or nobody reads."""
        while self._out and not self._is_broken:
            self._flushed = Event()
            await self._flushed.wait()

    async def answered(self) -> None:
        """Wait until every request has its answer."""
        while self._unanswered > 0 and not self._is_broken:
            self._answered = Event()
            await self._answered.wait()

    def _break(self, gone: Callable[[], None]) -> None:
        self._is_broken = True
        for waiting in self._out:
            waiting.written.set()
        self._out.clear()
        self._flushed.set()
        self._answered.set()
        gone()

    async def _write_all(self, line: bytes) -> None:
        left = memoryview(line)
        waits = _can_be_waited_for(self._stdout)
        while left:
            if waits:
                await wait_writable(self._stdout)
            # What is written at once fits whenever there is room at all: nothing blocks.
            left = left[os.write(self._stdout, left[: select.PIPE_BUF]) :]

    async def _read(self) -> bytes:
        try:
            if not _can_be_waited_for(self._stdin):
                return await to_thread.run_sync(os.read, self._stdin, _CHUNK)
            await wait_readable(self._stdin)
            return os.read(self._stdin, _CHUNK)
        except OSError:
            return b""

    async def _cut(self, chunk: bytes) -> None:
        """Take the lines that have ended; one that is too long is passed over, and told once."""
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            line = bytes(self._rest) + end
            self._rest.clear()
            if self._is_too_long:
                self._is_too_long = False
            elif len(line) > MOST_BYTES:
                await self._refuse(_INVALID_REQUEST, _TOO_LONG)
            elif line.strip():
                self._lines.append(line)
        if self._is_too_long:
            return
        self._rest += rest
        if len(self._rest) > MOST_BYTES:
            self._rest.clear()
            self._is_too_long = True
            await self._refuse(_INVALID_REQUEST, _TOO_LONG)

    async def _understood(self, line: bytes) -> Message | None:
        try:
            found: object = json.loads(line)
            if _HALF.search(line):  # what no file and no model can be given is told by a mark
                found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            await self._refuse(_PARSE_ERROR, "This line is no JSON.")
            return None
        if not isinstance(found, dict):
            await self._refuse(_INVALID_REQUEST, "A message is one JSON object on a line.")
            return None
        message = cast("Message", found)
        method = message.get("method")
        if method is None:
            return _answer_in(message)
        if isinstance(method, str) and method.startswith(_ASIDE) and "id" not in message:
            return None
        if "id" in message:
            self._unanswered += 1
        return message

    async def _refuse(self, code: int, said: str) -> None:
        error = {"code": code, "message": said}
        self._unanswered += 1
        await self.send({"jsonrpc": "2.0", "id": None, "error": error})


def _answer_in(message: Message) -> Message | None:
    """An answer as the SDK can read it: another would end its reading, or count as a good one.

    None: it names no request of ours. Whatever says that something went wrong has no result.
    """
    number = message.get("id")
    if type(number) is not int:  # 0, False and 0.0 would be the same request
        return None
    if "error" not in message:
        return message
    told = message["error"]
    error = cast("Message", told) if isinstance(told, dict) else {}
    said = error.get("message")
    return {"id": number, "error": {**error, "message": said if isinstance(said, str) else "Error"}}


def _can_be_waited_for(descriptor: int) -> bool:
    kind = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(descriptor)
