"""Looking for a pattern in a log that grows, by a process of the sandbox.

The pattern is a model's, and one that never ends would stop the whole runtime: Python matches
without letting anything else run. So a confined interpreter matches, line by line, with little time
of the processor. It gets the log as an open file and can reach nothing else of the runtime.
"""

import asyncio
import os
import re
import sys
from contextlib import suppress

from holdfast.contract.errors import InvalidArguments
from holdfast.execution.processes.spawners import Spawner, Start
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.warden.wire import Ended

MOST_PATTERN = 1000
MOST_LINE = 4096
CPU_SECONDS = 10
"""Time of the processor that one search may use."""

_PROGRAM = """
import os, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
pattern = re.compile(sys.argv[1])
def look(line):
    line = line[:{most}]
    if pattern.search(line.decode("utf-8", "replace")):
        os.write(1, line)
        os._exit(0)
rest = b""
while True:
    told = os.read(3, 65536)
    while piece := os.read(0, 65536):
        *lines, rest = (rest + piece).split(b"\\n")
        for line in lines:
            look(line)
        rest = rest[:{most}]
    look(rest)
    if not told:
        os._exit(1)
"""


class LogSearch:
    """One search, from its start to its end."""

    def __init__(self, warden: Warden, spawner: Spawner) -> None:
        self._warden = warden
        self._spawner = spawner
        self._loop = asyncio.get_running_loop()
        self._found, self._finds = os.pipe2(os.O_CLOEXEC)
        self._listens, self._tells = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(self._listens, True)
        self.ended: asyncio.Future[Ended]
        """It has found something, or will not."""

    def begin(self, log: int, pattern: str, environment: dict[str, str]) -> None:
        """Search an open log; it stays the caller's."""
        program = _PROGRAM.format(seconds=CPU_SECONDS, most=MOST_LINE)
        argv = [sys.executable, "-I", "-S", "-c", program, pattern]
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            files = [log, self._finds, null, self._listens]
            self.ended = self._spawner.start(Start(argv, "/", environment, files))
        finally:
            os.close(null)
        self.look_again()

    def look_again(self) -> None:
        """The log has grown."""
        if self._tells >= 0:
            with suppress(OSError):  # it is told already, or listens no more
                os.write(self._tells, b"x")

    def look_for_the_last_time(self) -> None:
        """The log does not grow any more."""
        os.close(self._tells)
        self._tells = -1

    def found(self) -> str | None:
        """The line, once it has ended; InvalidArguments when the pattern took too long."""
        ended = self.ended.result()
        if ended.exit == 0:
            return os.read(self._found, MOST_LINE).decode("utf-8", "replace")
        if ended.exit == 1:
            return None
        raise InvalidArguments("the pattern takes too long to match", field="pattern")

    async def close(self) -> None:
        """End it, whether or not it found anything."""
        ends = (self._found, self._finds, self._listens, self._tells)
        self._tells = -1
        for end in ends:
            if end >= 0:
                os.close(end)
        await self._warden.give_back(self._spawner)


def check_pattern(pattern: str) -> None:
    """Whether it can be searched for at all; raises InvalidArguments."""
    if len(pattern) > MOST_PATTERN:
        raise InvalidArguments(
            f"the pattern has more than {MOST_PATTERN} characters", field="pattern"
        )
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise InvalidArguments(
            f"the pattern is no regular expression: {problem}", field="pattern"
        ) from None
