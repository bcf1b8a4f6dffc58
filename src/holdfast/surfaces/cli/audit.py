"""`holdfast audit`: which programs ran, who allowed what, and whether the journal is as written.

Exit status: 0 it was shown, or all is as it was written; 1 it cannot be read, or is not; 2 the
words or the configuration cannot be used: no such session, no key, nothing that is kept.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import NamedTuple

import anyio

from holdfast.app import session_store
from holdfast.app.ledger import NotUsable
from holdfast.contract.archive import LAST
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.surfaces.cli.audit_ledger import list_decisions, verify_journal
from holdfast.surfaces.cli.audit_list import list_programs
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.parsing import After, Parser, UsageError
from holdfast.surfaces.cli.screen import Screen

_FAILED = 1
_EXAMPLES = """\
examples:
  holdfast audit log                      every program, the oldest first
  holdfast audit log --limit 20           the last twenty
  holdfast audit log --since 2h           what ended in the last two hours
  holdfast audit log --tool run --follow  what a tool starts, as it goes on
  holdfast audit log --day 20260801 --json
  holdfast audit decisions --session ses_019  who allowed which call, and over what
  holdfast audit verify                   is the journal what was written?

The log says which program ran, never what it was told or what it printed.
"""


class _Answer(NamedTuple):
    """What one of the words does, and which options it takes."""

    do: Callable[[Namespace, Screen], int]
    options: tuple[str, ...]
    says: str


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("what", nargs="?", choices=tuple(_ANSWERS), help="what to show or check")
    parser.add_argument("--day", metavar="YYYYMMDD", help="log: of this day (UTC) alone")
    parser.add_argument(
        "--since",
        metavar="WHEN",
        help="log: 2026-08-01, 2026-08-01T10:00 (UTC), or 90s, 30m, 2h, 7d, 2w",
    )
    parser.add_argument("--tool", metavar="NAME", help="log, decisions: of this tool")
    parser.add_argument(
        "--session", metavar="ID", help="of this session; its beginning or last will do"
    )
    parser.add_argument("--limit", metavar="N", help="log, decisions: the last N alone")
    parser.add_argument("--follow", action="store_true", help="log: go on until you interrupt it")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    for name, answer in _ANSWERS.items():
        options = frozenset({*answer.options, *_OF_ALL, "help"})
        parser.after[name] = After(options=options, says=answer.says)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    answer = _ANSWERS.get(arguments.what)
    if answer is None:
        raise UsageError(f"what about the audit log? write: holdfast audit {' | '.join(_ANSWERS)}")
    _check(arguments, answer)
    try:
        if arguments.session == LAST:
            arguments.session = anyio.run(_last, arguments)
        return answer.do(arguments, screen)
    except (UnknownSession, NotUsable) as problem:
        raise UsageError(str(problem)) from None
    except JournalError as problem:
        screen.remark(str(problem))
        if arguments.json:
            screen.document({"error": str(problem)})
        return _FAILED


async def _last(arguments: Namespace) -> str:
    async with session_store.opened_store() as store:
        return await session_meant(store.archive, LAST, arguments)


def _check(arguments: Namespace, answer: _Answer) -> None:
    for name, value in vars(arguments).items():
        if value and name not in {*_OF_ALL, *answer.options}:
            takers = [word for word, one in _ANSWERS.items() if name in one.options]
            raise UsageError(f"--{name} is for {' and '.join(takers)}, not for {arguments.what}")


_OF_ALL = frozenset({"what", "json"})
_ANSWERS = {
    "log": _Answer(
        list_programs,
        ("day", "since", "tool", "session", "limit", "follow"),
        "Show which programs ran, the oldest first.",
    ),
    "decisions": _Answer(
        list_decisions, ("tool", "session", "limit"), "Show who allowed or refused which call."
    ),
    "verify": _Answer(verify_journal, ("session",), "Say whether the journal is what was written."),
}
