"""The door of the `holdfast` command. It loads nothing it does not need.

`--version` is answered here, before any parser or library is imported. What verbs there are is not
known here.
"""

import gc
import os
import sys
from importlib import import_module

from holdfast._version import __version__
from holdfast.surfaces.cli.interrupts import end_by_an_interrupt

_PROGRAM = "holdfast.surfaces.cli.program"
_READER_IS_GONE = 141
"""128 + SIGPIPE: what a shell reports for a program whose reader has left."""


def main(argv: "list[str] | None" = None) -> int:
    """Run the command; returns its exit status."""
    words = sys.argv[1:] if argv is None else argv
    _open_missing_streams()
    if argv is None:
        gc.disable()  # what loading makes stays: to look through it again and again finds nothing
        end_by_an_interrupt()
    try:
        if words[:1] in (["--version"], ["-V"]):
            sys.stdout.write(f"holdfast {__version__}\n")
            status = 0
        else:
            status = int(import_module(_PROGRAM).run(words, ends_the_process=argv is None))
        sys.stdout.flush()
        if argv is None:
            end_by_an_interrupt()
    except ImportError as problem:
        return _incomplete(problem)
    except BrokenPipeError:
        _discard_stdout()
        return _READER_IS_GONE
    except OSError as problem:
        # Whatever the verb could not answer for: what is left is that the answer did not get out.
        _discard_stdout()
        sys.stderr.write(
            f"holdfast: cannot write the answer ({problem.strerror}); make room and try again\n"
        )
        return 1
    return status


def _incomplete(problem: ImportError) -> int:
    if import_module("holdfast.app.environment").debugging():
        raise problem
    sys.stderr.write(f"holdfast: a part is missing ({problem}); run: pip install holdfast\n")
    return 1


def _open_missing_streams() -> None:
    """Give a process that was started without standard streams something to write to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - stays open to the end
            setattr(sys, name, nowhere)


def _discard_stdout() -> None:
    """Let the interpreter's own last flush go nowhere instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
