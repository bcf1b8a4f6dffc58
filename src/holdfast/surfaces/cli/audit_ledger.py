"""`holdfast audit verify` and `holdfast audit decisions`: the journal as evidence.

Exit status of `verify`: 0 all is as it was written, 1 something is not.
"""

from argparse import Namespace

from holdfast.app.configuration import load_configuration
from holdfast.app.ledger import decided, verified
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.runtime import Progress
from holdfast.record.decisions import Decision
from holdfast.record.verifying import Problem
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.audit_list import most_of
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.progress import progress_here
from holdfast.surfaces.cli.screen import Screen

_NOT_AS_WRITTEN = 1
_HEADINGS = ("TIME (UTC)", "SESSION", "CALL", "TOOL", "DECISION", "BY", "ARGUMENTS")
_HASH_CHARACTERS = 12


def verify_journal(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = load_configuration(None).settings
    around = surroundings_of_this_process(settings)
    sessions = events = 0
    problems: list[Problem] = []
    try:
        with progress_here() as progress:
            for one in verified(settings, around, arguments.session):
                sessions += 1
                events += one.events
                problems += one.problems
                progress(Progress(message=f"looking at {one.session_id}", done=sessions))
    except JournalError as problem:
        raise UsageError(str(problem)) from None
    if arguments.session and not sessions:
        raise UsageError(str(UnknownSession.named(arguments.session)))
    if arguments.json:
        listed: list[JsonValue] = [_plain(problem) for problem in problems]
        screen.document({"sessions": sessions, "events": events, "problems": listed})
    else:
        _tell(screen, sessions, events, problems)
    return _NOT_AS_WRITTEN if problems else 0


def list_decisions(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = load_configuration(None).settings
    around = surroundings_of_this_process(settings)
    try:
        found = [
            one
            for one in decided(settings, around, arguments.session)
            if arguments.tool in (None, one.tool)
        ]
    except JournalError as problem:
        raise UsageError(str(problem)) from None
    shown = found[-(most_of(arguments.limit) or len(found)) :]
    if arguments.json:
        for one in shown:
            screen.raw(_line(one))
    elif shown:
        screen.look.table(_HEADINGS, [_row(one) for one in shown])
    else:
        screen.raw("Nothing was decided yet.")
    return 0


def _tell(screen: Screen, sessions: int, events: int, problems: list[Problem]) -> None:
    for problem in problems:
        place = "" if problem.sequence is None else f" event {problem.sequence}"
        told = f"{problem.session_id}{place}: {problem.trouble}: {problem.told}"
        screen.raw(printable(told))
    looked_at = f"{counted(events, 'event')} of {counted(sessions, 'session')}"
    if problems:
        screen.remark(f"{looked_at}: {counted(len(problems), 'place')} not as written")
    else:
        screen.raw(f"{looked_at}: all as written.")


def _plain(problem: Problem) -> JsonObject:
    return {
        "session": problem.session_id,
        "sequence": problem.sequence,
        "trouble": problem.trouble,
        "told": problem.told,
    }


def _row(one: Decision) -> tuple[str, ...]:
    shown = "" if one.arguments_hash is None else one.arguments_hash[:_HASH_CHARACTERS]
    when = f"{one.at:%Y-%m-%d %H:%M:%S}"
    cells = (when, one.session_id, one.call_id, one.tool or "", one.decision, one.by, shown)
    return tuple(map(printable, cells))


def _line(one: Decision) -> str:
    return encode_json({**one._asdict(), "at": one.at.isoformat()}).decode()
