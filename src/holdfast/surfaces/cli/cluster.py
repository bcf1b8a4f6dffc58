"""`holdfast cluster`: start one to try, see how one is, and look at what was given up.

Exit status: 0 done; 1 it failed, or something is not well; 2 it was not understood, or the
configuration names no cluster.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import NamedTuple

from holdfast.contract.journal import JournalError
from holdfast.surfaces.cli.cluster_dead import dead
from holdfast.surfaces.cli.cluster_status import status
from holdfast.surfaces.cli.cluster_up import up
from holdfast.surfaces.cli.parsing import After, Parser, UsageError, add_settings_options
from holdfast.surfaces.cli.screen import Screen

_FAILED = 1
_EXAMPLES = """\
examples:
  holdfast cluster up                     PostgreSQL, three NATS servers and two workers, to try
  holdfast cluster status                 the servers, what waits, what was given up, the stores
  holdfast cluster status --json          the same, for programs
  holdfast cluster dead                   the sessions that were run in vain too often
  holdfast cluster dead requeue ses_019   have one of them run again
  holdfast cluster dead requeue --all     have all of them run again
"""


class _Answer(NamedTuple):
    """What one of the words does, and which options it takes."""

    do: Callable[[Namespace, Screen], int]
    options: tuple[str, ...]
    takes: str
    says: str


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("what", nargs="?", choices=tuple(_ANSWERS), help="what to do")
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="dead: requeue, and which sessions"
    )
    parser.add_argument("--all", action="store_true", help="dead requeue: all that there are")
    parser.add_argument("--tenant", metavar="NAME", help="dead: of this tenant alone")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    add_settings_options(parser)
    for name, answer in _ANSWERS.items():
        options = frozenset({*answer.options, *_OF_ALL, "help"})
        parser.after[name] = After(options=options, takes=answer.takes, says=answer.says)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    answer = _ANSWERS.get(arguments.what)
    if answer is None:
        raise UsageError(f"what about the cluster? write: holdfast cluster {' | '.join(_ANSWERS)}")
    if arguments.words and not answer.takes:
        raise UsageError(f"{arguments.what} takes no word; leave {arguments.words[0]} out")
    for name in ("all", "tenant"):
        if getattr(arguments, name) and name not in answer.options:
            raise UsageError(f"--{name} is for dead, not for {arguments.what}")
    try:
        return answer.do(arguments, screen)
    except JournalError as problem:
        screen.remark(str(problem))
        if arguments.json:
            screen.document({"error": str(problem)})
        return _FAILED


_OF_ALL = frozenset({"what", "json", "workspace", "overrides"})
_ANSWERS = {
    "up": _Answer(up, (), "", "Start a cluster to try on this machine; Ctrl-C ends all of it."),
    "status": _Answer(status, (), "", "Say how the servers are, what waits and what was given up."),
    "dead": _Answer(
        dead,
        ("all", "tenant"),
        "[requeue SESSION...]",
        "List sessions that were run in vain too often, or have them run again.",
    ),
}
