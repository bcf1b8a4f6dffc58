"""`holdfast prune`: remove sessions that are too old, too many or too large, and what crashes left.

Exit status: 0 done, or there was nothing to do; 1 something could not be removed, or nobody agreed;
2 it was not understood.
"""

import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from functools import partial

import anyio
from anyio import to_thread

from holdfast.app import session_store
from holdfast.app.pruning import YOUNGEST_SECONDS, Plan, Pruned, Pruning
from holdfast.app.settings import RetentionSettings, Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Clock
from holdfast.contract.upkeep import Swept
from holdfast.execution.session_folders import SessionFolders
from holdfast.record.retention import Going, Limits
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.surfaces.cli.amounts import bytes_in, counted, seconds_in, size_shown
from holdfast.surfaces.cli.opening import configured
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_settings_options
from holdfast.surfaces.cli.person import agrees
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import with_a_store

_FAILED = 1
_MICROS = 1_000_000
_NOTHING = Pruned(sessions=(), left=(), folders=(), swept=Swept())
_EXAMPLES = """\
examples:
  holdfast prune --older-than 30d --dry-run   show what was inactive for 30 days
  holdfast prune --keep 200                   leave the 200 sessions that were last active
  holdfast prune --max-bytes 2GB --yes        remove the oldest until the rest fits; do not ask
  holdfast prune                              by the limits of [store.retention] in the settings

A session that somebody runs, or that waits for something, stays; and so do its parent and children.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "--older-than", metavar="TIME", help="inactive for longer, e.g. 30d, 12h or 90s"
    )
    parser.add_argument("--keep", metavar="N", help="leave the N sessions last active")
    parser.add_argument("--max-bytes", metavar="SIZE", help="leave at most so much, e.g. 2GB")
    parser.add_argument("--dry-run", action="store_true", help="show it and remove nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask; for scripts")
    parser.add_argument(
        "--compact", action="store_true", help="give free space back to the disk; takes a while"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    add_settings_options(parser)
    parser.offer("older_than", ["7d", "30d", "90d"])
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = with_a_store(configured(arguments, screen).settings)
    clock = SystemClock()
    limits = _limits(arguments, settings.store.retention, clock)
    surroundings = surroundings_of_this_process(settings)
    try:
        return anyio.run(_pruned, arguments, screen, limits, settings, surroundings)
    except JournalUnavailable as problem:
        screen.remark(str(problem))
        if arguments.json:
            screen.document({"error": str(problem)})
        return _FAILED


async def _pruned(
    arguments: Namespace,
    screen: Screen,
    limits: Limits,
    settings: Settings,
    surroundings: Surroundings,
) -> int:
    clock = SystemClock()
    folders = SessionFolders(surroundings.data_home / session_store.SESSIONS_FOLDER)
    if settings.store.kind == "sqlite" and not session_store.is_there(surroundings):
        plan = await to_thread.run_sync(_plan_of_nothing, folders, clock)
        if arguments.dry_run or not plan.lost:
            _show(plan, arguments, screen)
            return 0
    opening = partial(open_store, settings, surroundings, clock, TimeIds(clock))
    store = await to_thread.run_sync(opening)
    try:
        pruning = Pruning(store, folders, clock)
        plan = await pruning.plan(limits)
        if arguments.dry_run or (_is_empty(plan) and not arguments.compact):
            _show(plan, arguments, screen)
            return 0
        asked = not arguments.yes and not _is_empty(plan)
        if asked and not await to_thread.run_sync(_agreed, plan, screen):
            if arguments.json:
                screen.document(_document(plan, _NOTHING, None))
            return _FAILED
        tell = _untold if arguments.json else partial(_tell, screen, "removed")
        done = await pruning.carry_out(plan, tell)
        freed = await store.upkeep.compact() if arguments.compact else None
    finally:
        await store.journal.close()
    _show_done(plan, done, freed, screen, as_json=arguments.json)
    return _FAILED if done.left or len(done.folders) < len(plan.lost) else 0


def _is_empty(plan: Plan) -> bool:
    return not (plan.going or plan.lost or plan.swept.entries or plan.swept.contents)


def _plan_of_nothing(folders: SessionFolders, clock: Clock) -> Plan:
    """What may go where no store is: folders of no session. Looking makes none. Blocking."""
    lost = folders.lost((), clock.unix_ns() / 1e9 - YOUNGEST_SECONDS)
    return Plan(going=(), needed=(), staying=0, lost=lost, swept=Swept())


def _limits(arguments: Namespace, retention: RetentionSettings, clock: Clock) -> Limits:
    """What was given, else what the settings say."""
    try:
        age = None if retention.days is None else retention.days * 86_400
        age = age if arguments.older_than is None else seconds_in(arguments.older_than)
        most = retention.bytes if arguments.max_bytes is None else bytes_in(arguments.max_bytes)
    except ValueError as problem:
        raise UsageError(f"{problem}; nothing was removed") from None
    keep = retention.sessions if arguments.keep is None else _count(arguments.keep)
    if age is None and most is None and keep is None:
        raise UsageError(
            "what may go? give --older-than 30d, --keep 200 or --max-bytes 2GB, or set days,"
            " sessions or bytes in [store.retention]; nothing was removed"
        )
    since = None if age is None else clock.unix_ns() // 1000 - int(age * _MICROS)
    return Limits(active_since=since, sessions=keep, bytes=most)


def _count(written: str) -> int:
    if not written.isascii() or not written.isdigit():
        raise UsageError(f"--keep {written}: give a number of sessions; nothing was removed")
    return int(written)


def _agreed(plan: Plan, screen: Screen) -> bool:
    """Show what would go, and ask."""
    if sys.stdin is not None and sys.stdin.isatty():
        for one in plan.going:
            screen.remark(f"would remove {_line(one)}")
    what = counted(len(plan.going), "session") if plan.going else "what crashes left"
    return agrees(
        f"Remove {what} for good?",
        screen,
        unasked="nobody is there to agree; see it with --dry-run, then give --yes",
        otherwise="nothing was removed",
    )


def _show(plan: Plan, arguments: Namespace, screen: Screen) -> None:
    """What would be done, or that there is nothing to do."""
    if arguments.dry_run:
        _show_plan(plan, screen, as_json=arguments.json)
    elif arguments.json:
        screen.document(_document(plan, _NOTHING, None))
    else:
        screen.raw("There is nothing to remove.")
        _tell_needed(plan, screen)


def _show_plan(plan: Plan, screen: Screen, *, as_json: bool) -> None:
    would = Pruned(plan.going, (), plan.lost, plan.swept)
    if as_json:
        screen.document({"dry_run": True, **_plain(plan, would)})
        return
    for one in plan.going:
        _tell(screen, "would remove", one)
    _sum(screen, "would be removed", would)
    _tell_needed(plan, screen)


def _show_done(
    plan: Plan, done: Pruned, freed: int | None, screen: Screen, *, as_json: bool
) -> None:
    for session_id, why in done.left:
        screen.remark(f"left: {session_id}: {why}")
    if as_json:
        screen.document(_document(plan, done, freed))
        return
    _sum(screen, "removed", done)
    _tell_needed(plan, screen)
    if freed is not None:
        screen.raw(f"The store is {size_shown(freed)} smaller.")
    elif done.bytes:
        screen.raw("What is free now is used again; give --compact to have it back at once.")


def _document(plan: Plan, done: Pruned, freed: int | None) -> JsonObject:
    return {"dry_run": False, **_plain(plan, done), "compacted_bytes": freed}


def _untold(_one: Going) -> None:
    return None


def _tell(screen: Screen, what: str, one: Going) -> None:
    screen.raw(f"{what} {_line(one)}")


def _line(one: Going) -> str:
    return f"{one.session.id}  {size_shown(one.session.bytes)}  {one.why}"


def _tell_needed(plan: Plan, screen: Screen) -> None:
    for one in plan.needed:
        screen.raw(f"stays {one.id}: {one.need}")


def _sum(screen: Screen, what: str, done: Pruned) -> None:
    parts = [
        counted(len(done.sessions), "session"),
        counted(len(done.folders), "folder") + " that no session has",
        counted(done.swept.entries, "lost index entry"),
        counted(done.swept.contents, "lost content"),
    ]
    screen.raw(f"{what}: {', '.join(parts)}; {size_shown(done.bytes)} in all")


def _plain(plan: Plan, done: Pruned) -> JsonObject:
    return {
        "removed": [
            {"session": one.session.id, "bytes": one.session.bytes, "why": one.why}
            for one in done.sessions
        ],
        "left": [{"session": session_id, "why": why} for session_id, why in done.left],
        "needed": [{"session": one.id, "why": one.need} for one in plan.needed],
        "staying": plan.staying,
        "folders": [{"path": str(one.path), "bytes": one.bytes} for one in done.folders],
        "index_entries": done.swept.entries,
        "contents": done.swept.contents,
        "bytes": done.bytes,
    }
