"""What `run` and `resume` can be told beside what is to be done."""

import os
import select
import stat
import sys
from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable

from holdfast.contract.agents import RunLimits
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options, number_above_zero

_MOST_BYTES = 4 * 1024 * 1024
_INPUT = "-"
_PIPE_SECONDS = 3.0
"""How long a pipe may say nothing before it is taken for one that nobody writes to."""
_SILENT = (
    "standard input is a pipe that says nothing, and the task is begun without it; to wait for it"
    ' however long it takes, write: holdfast run "TASK" -'
)


def add_run_options(parser: Parser) -> None:
    """Which agent with which model, who is asked, how much it may use, how it is shown."""
    add_tool_options(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="a configured model, or kind:model; the agent's by default"
    )
    parser.add_argument(
        "--headless", action="store_true", help="ask nobody: what would be asked is refused"
    )
    parser.add_argument(
        "--later",
        action="store_true",
        help="questions wait for holdfast sessions answer: the session pauses, exit code 4",
    )
    parser.add_argument(
        "--json", action="store_true", help="a line of JSON for everything that happens"
    )
    parser.add_argument("--quiet", action="store_true", help="show only the last words")
    parser.add_argument(
        "--screen",
        action=BooleanOptionalAction,
        help="show it on the whole screen, with keys to look around, answer and speak",
    )
    parser.add_argument(
        "--max-rounds",
        "--max-steps",
        metavar="N",
        type=_count,
        help="how often the model is asked at most",
    )
    parser.add_argument("--max-tokens", metavar="N", type=_count, help="tokens of a run at most")
    parser.add_argument(
        "--max-cost",
        metavar="AMOUNT",
        type=number_above_zero,
        help="in the currency of the model's prices",
    )
    parser.add_argument(
        "--max-seconds",
        metavar="SECONDS",
        type=number_above_zero,
        help="how long a run may take at most",
    )


def check_run_options(arguments: Namespace) -> None:
    """UsageError where two of them do not go together."""
    if arguments.headless and arguments.later:
        raise UsageError("--headless asks nobody and --later asks later; give one of them")
    if arguments.screen and (arguments.json or arguments.quiet):
        raise UsageError("--screen is for somebody who watches; leave --json and --quiet out")
    if arguments.json and arguments.quiet:
        raise UsageError("--json tells everything and --quiet nothing; give one of them")


def limits_in(arguments: Namespace) -> RunLimits:
    """What a run may use at most, whatever its agent may."""
    return RunLimits(
        rounds=arguments.max_rounds or sys.maxsize,
        tokens=arguments.max_tokens,
        cost=arguments.max_cost,
        seconds=arguments.max_seconds,
    )


def message_in(words: list[str], say: Callable[[str], None]) -> str | None:
    """What is said to the agent: the words, and behind them what is piped; None: nothing.

    `-` as the last word waits for standard input, whatever it is and however long it takes.
    ``say``: told what is left out. UsageError. Blocking.
    """
    if words == [_INPUT]:
        return read_message()
    waits = words[-1:] == [_INPUT]
    said = " ".join(words[:-1] if waits else words).strip()
    if not said:
        return read_message() if waits else None
    more = _read_input() if waits or _has_input(say) else ""
    return f"{said}\n\n{more}" if more else said


def read_message() -> str:
    """What standard input says; UsageError where that is nothing. Blocking."""
    text = _read_input()
    if not text:
        raise UsageError(
            'standard input is empty, and there is no task; write: holdfast run "TASK"'
        )
    return text


def _has_input(say: Callable[[str], None]) -> bool:
    """Whether something is piped in. One who holds a pipe open and says nothing is not waited for
    long: many programs start others so."""
    try:
        given = -1 if sys.stdin is None else sys.stdin.fileno()
        kind = os.fstat(given).st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISREG(kind) or not stat.S_ISFIFO(kind):
        return stat.S_ISREG(kind)
    if select.select([given], [], [], _PIPE_SECONDS)[0]:
        return True
    say(_SILENT)
    return False


def _read_input() -> str:
    given = b"" if sys.stdin is None else sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(given) > _MOST_BYTES:
        raise UsageError("standard input is larger than a task may be; put it into a file")
    try:
        return given.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError("standard input is no UTF-8 text; write the task as text") from None


def somebody_types() -> bool:
    """Whether standard input is a terminal, or not there at all."""
    return sys.stdin is None or sys.stdin.isatty()


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"give a number of 1 or more, not {text!r}")
    return number
