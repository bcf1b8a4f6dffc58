"""How the kernel would start a program, by the first line of its file. Nothing is started."""

import os
from contextlib import suppress

_READ = 256
_BINARY = b"\x7fELF"
_SCRIPT = b"#!"


def start_doubt(program: str) -> str | None:
    """Why a file that is there may not start, and what to do; None: nothing speaks against it."""
    first = _first_line(program)
    if first is None or first.startswith(_BINARY):
        return None
    if not first.startswith(_SCRIPT):
        return (
            "its program is neither a binary nor does it begin with #!, so that it may not start;"
            " let its first line be, for example, #!/usr/bin/env python3"
        )
    words = first[len(_SCRIPT) :].strip(b" \t").split(maxsplit=1)
    if first.endswith(b"\r"):
        return (
            "the first line of its program ends in a carriage return, which counts as part of the"
            " interpreter's name; save it with line feeds alone"
        )
    if not words:
        return "its program begins with #! and names no interpreter; write #!/usr/bin/env python3"
    interpreter = os.fsdecode(words[0])
    if not os.path.exists(interpreter):  # noqa: PTH110 - the path is taken as it is written
        return f"its program is to be run by {interpreter}, which is not there; correct its #!"
    return None


def _first_line(program: str) -> bytes | None:
    """The beginning of the file up to its first line feed; None: it cannot be read."""
    with suppress(OSError, ValueError):
        # Opened without waiting: a pipe of that name would never answer.
        handle = os.open(program, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return os.read(handle, _READ).partition(b"\n")[0]
        finally:
            os.close(handle)
    return None
