"""Programs that last as long as we do: servers of a trial, and whoever works with them.

Each is the child of a shell that waits for the end of its input. However we end, our end of the
pipe is closed, and the shell has the program end. What is run, and why, is not known here.
"""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

_KEEPER = """
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ read -r _ <&3; kill -"$0" $program 2>/dev/null; } >/dev/null 2>&1 &
reader=$!
wait $program
status=$?
kill $reader 2>/dev/null
exit $status
"""
_ANOTHER_USER = ("--user", "--map-user=1000", "--map-group=1000")


class KeptProgram:
    """One program. What it prints goes to a file."""

    def __init__(
        self, argv: Sequence[str], log: Path, more: Mapping[str, str], ends_by: str = "TERM"
    ) -> None:
        """Begin it. ``more``: variables beside ours. ``ends_by``: the signal that ends it."""
        self._again = partial(KeptProgram, argv, log, more, ends_by)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as out:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, ends_by, *argv],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                cwd=log.parent,
                env={**os.environ, **more},
                # A key that interrupts us is no reason for it to leave before we say so.
                start_new_session=True,
            )

    @property
    def has_ended(self) -> bool:
        """Whether it ended, by itself or not."""
        return self._keeper.poll() is not None

    def begun_again(self) -> "KeptProgram":
        """The same anew, once this one has ended. What a killed shell left behind is ended, too."""
        self.end(0)
        return self._again()

    def end(self, seconds: float) -> bool:
        """Have it end; whether it did so in order. After so long it is killed. Blocking."""
        assert self._keeper.stdin is not None
        with suppress(BrokenPipeError):
            self._keeper.stdin.close()
        try:
            self._keeper.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self._keeper.pid, signal.SIGKILL)
            self._keeper.wait()
            return False
        return True


def as_no_root(argv: Sequence[str]) -> tuple[str, ...]:
    """The same for a program that refuses root: as somebody else, who has root's files."""
    unshare = shutil.which("unshare")
    return tuple(argv) if os.geteuid() or unshare is None else (unshare, *_ANOTHER_USER, *argv)


def run_to_its_end(argv: Sequence[str], seconds: float) -> str | None:
    """Run it; None: all went well, else what it said. Blocking."""
    try:
        ran = subprocess.run(
            list(argv), stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    return None if ran.returncode == 0 else ran.stderr.decode("utf-8", "replace").strip()


def free_ports(count: int) -> list[int]:
    """Ports of this machine's own address that nobody listens at now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
