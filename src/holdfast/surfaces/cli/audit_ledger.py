"""`holdfast audit verify` and `holdfast audit decisions`: the journal as evidence.

Exit status of `verify`: 0 all is as it was written, 1 something is not.
"""

from argparse import Namespace
from collections.abc import Sequence
from heapq import nlargest
from itertools import count

from holdfast.app.configuration import load_configuration
from holdfast.app.ledger import StoreProblem, Verdict, decided, verified
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.runtime import Progress
from holdfast.record.decisions import Decision, by_time
from holdfast.record.export import moment_text
from holdfast.record.verifying import Problem, Verified
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.audit_list import most_of
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.narrow import Rows, narrowed
from holdfast.surfaces.cli.progress import progress_here
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import WIDE, cut, time_for

_NOT_AS_WRITTEN = 1
_HEADINGS = ("TIME (UTC)", "SESSION", "CALL", "TOOL", "DECISION", "BY", "REASON", "ARGUMENTS")
_HASH_CHARACTERS = 12
_MOST_CHARACTERS = 60
_DROPPED_FIRST = ("CALL", "REASON", "SESSION")
_SOMEBODY_CHARACTERS = 26
"""A person or a rule on a terminal, where there is room for it."""
_BESIDE = 33
"""What the time, the decision and the gaps of a short row need."""
_AT_LEAST = 8


def verify_journal(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = load_configuration(None).settings
    around = surroundings_of_this_process(settings)
    with progress_here() as progress:
        done = count(1)

        def seen(one: Verified) -> None:
            progress(Progress(message=f"looking at {one.session_id}", done=next(done)))

        verdict = verified(settings, around, arguments.session, seen)
    if arguments.json:
        problems: list[JsonValue] = [_plain(problem) for problem in verdict.problems]
        screen.document({**verdict._asdict(), "problems": problems})
    else:
        _tell(screen, verdict)
    return _NOT_AS_WRITTEN if verdict.problems else 0


def list_decisions(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = load_configuration(None).settings
    around = surroundings_of_this_process(settings)
    limit = most_of(arguments.limit)
    found = (
        one
        for one in decided(settings, around, arguments.session)
        if arguments.tool in (None, one.tool)
    )
    if limit is None:
        shown = sorted(found, key=by_time)
    else:
        shown = nlargest(limit, found, key=by_time)[::-1]
    if arguments.json:
        for one in shown:
            screen.raw(_line(one))
    elif shown:
        width = screen.look.width
        if width is None:
            screen.look.table(_HEADINGS, [_row(one) for one in shown])
        else:
            screen.look.table(*_narrowed(shown, width))
    else:
        screen.raw("Nothing was decided yet.")
    return 0


def _tell(screen: Screen, verdict: Verdict) -> None:
    for problem in verdict.problems:
        screen.raw(printable(f"{_place(problem)}: {problem.trouble}: {problem.told}"))
    if verdict.not_anchored and not any(one.trouble == "anchors" for one in verdict.problems):
        sessions = counted(verdict.not_anchored, "session")
        screen.raw(f"note: not anchored, so that a missing end cannot be told: {sessions}")
    if verdict.imported:
        sessions = counted(verdict.imported, "session")
        screen.raw(f"note: imported, so as somebody else told it: {sessions}")
    looked_at = f"{counted(verdict.events, 'event')} of {counted(verdict.sessions, 'session')}"
    if verdict.problems:
        places = counted(len(verdict.problems), "place")
        screen.remark(f"{looked_at}: {places} not as written")
    elif verdict.sessions:
        screen.raw(f"{looked_at}: all as written.")
    else:
        screen.raw("There is no session, and none is missed.")


def _place(problem: Problem | StoreProblem) -> str:
    if isinstance(problem, StoreProblem) or not problem.session_id:
        return "the store"
    place = "" if problem.sequence is None else f" event {problem.sequence}"
    return f"{problem.session_id}{place}"


def _plain(problem: Problem | StoreProblem) -> JsonObject:
    of_one = isinstance(problem, Problem)
    return {
        "session": problem.session_id or None if of_one else None,
        "sequence": problem.sequence if of_one else None,
        "trouble": problem.trouble,
        "told": problem.told,
    }


def _row(one: Decision) -> tuple[str, ...]:
    what = f"{(one.arguments_hash or '')[:_HASH_CHARACTERS]} {one.arguments or ''}".strip()
    return (
        f"{one.at:%Y-%m-%d %H:%M:%S}",
        *map(printable, (one.session_id, one.call_id, one.tool or "", one.decision)),
        *(cut(text, _MOST_CHARACTERS) for text in (_by(one), one.reason, what)),
    )


def _by(one: Decision) -> str:
    return f"imported: {one.by}" if one.imported else one.by


def _narrowed(shown: Sequence[Decision], width: int) -> tuple[Sequence[str], Rows]:
    """For a terminal: who decided and what was asked for share what the rest leaves free."""
    tools = width // 6
    longest = min(max(len(one.tool or "") for one in shown), tools)
    somebody = (width - _BESIDE - longest) // 2
    somebody = min(max(somebody, _AT_LEAST), _SOMEBODY_CHARACTERS)

    def row(one: Decision) -> tuple[str, ...]:
        return (
            time_for(one.at, width),
            *map(printable, (one.session_id, one.call_id)),
            cut(one.tool or "", tools),
            one.decision,
            cut(_by(one).removeprefix("the "), somebody),
            cut(one.reason, width // 5),
            cut(one.arguments or "", _MOST_CHARACTERS),
        )

    headings = ("TIME" if width < WIDE else _HEADINGS[0], *_HEADINGS[1:])
    return narrowed(headings, [row(one) for one in shown], width, _DROPPED_FIRST, width // 6)


def _line(one: Decision) -> str:
    return encode_json({**one._asdict(), "at": moment_text(one.at)}).decode()
