"""Whether something listens on a port, from the kernel's own tables.

A private network cannot be reached from outside, so the tables are read by a process inside of it.
A port that is listened on accepts connections: the kernel does, for the program.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")

_LISTENING = "0A"


def is_listened_on(tables: str, port: int) -> bool:
    """Whether a port is listened on, by the text of the tables."""
    return port in set(_ports(tables))


def tables_of_this_machine() -> str:
    """The tables of the network the runtime is in. Blocking."""
    text = ""
    for table in TABLES:
        with suppress(OSError):
            text += Path(table).read_text("ascii", "replace")
    return text


def _ports(tables: str) -> Iterator[int]:
    for line in tables.splitlines():
        words = line.split()
        if len(words) > 3 and words[3] == _LISTENING:
            with suppress(ValueError):
                yield int(words[1].rpartition(":")[2], 16)
