"""`holdfast cluster dead`: sessions that were run in vain too often, and sending them back."""

from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime

import anyio

from holdfast.app.fleet import opened_link
from holdfast.app.settings import Settings
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import JsonObject
from holdfast.engine.cluster.dead import Dead, DeadSession
from holdfast.engine.cluster.door import LinkError
from holdfast.record.export import moment_text
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import configured
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import cut, shown_time

_FAILED = 1
_REQUEUE = "requeue"
_HEADINGS = ("SESSION", "TENANT", "IN VAIN", "GIVEN UP (UTC)", "WHY")
_COLUMN = 60
_MICROS = 1_000_000


def dead(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    word, *names = arguments.words or (None,)
    if word not in (None, _REQUEUE):
        raise UsageError(f"dead {word}: write: holdfast cluster dead requeue SESSION...")
    if word is None and arguments.all:
        raise UsageError("--all is for: holdfast cluster dead requeue")
    if word == _REQUEUE and bool(names) == arguments.all:
        raise UsageError(
            "which sessions? write: holdfast cluster dead requeue SESSION..., or --all"
        )
    settings = configured(arguments, screen).settings
    return anyio.run(_asked, settings, arguments, names, screen)


async def _asked(
    settings: Settings, arguments: Namespace, names: Sequence[str], screen: Screen
) -> int:
    async with opened_link(settings) as link:
        try:
            those = Dead(link)
            found = [one async for one in those.all() if arguments.tenant in (None, one.tenant)]
            if not arguments.words:
                return _list(found, screen, as_json=arguments.json)
            return await _requeue(those, _meant(found, names), screen, as_json=arguments.json)
        except LinkError as problem:
            raise JournalUnavailable(str(problem)) from None


def _list(found: Sequence[DeadSession], screen: Screen, *, as_json: bool) -> int:
    if as_json:
        screen.document({"dead": [_plain(one) for one in found]})
    elif found:
        screen.look.table(_HEADINGS, [_row(one) for one in found])
        screen.remark("have them run again with: holdfast cluster dead requeue SESSION...")
    else:
        screen.look.text("Nothing was given up.")
    return 0


def _meant(found: Sequence[DeadSession], names: Sequence[str]) -> list[DeadSession]:
    """Those of these names, or all; UsageError for one that is not there."""
    if not names:
        return [*found]
    by_name: dict[str, list[DeadSession]] = {}
    for one in found:
        by_name.setdefault(one.session, []).append(one)
    for name in names:
        if name not in by_name:
            raise UsageError(f"{name} is not among the dead; see: holdfast cluster dead")
        if len(by_name[name]) > 1:
            raise UsageError(f"{name} is of several tenants; say which with --tenant")
    return [by_name[name][0] for name in dict.fromkeys(names)]


async def _requeue(
    those: Dead, meant: Sequence[DeadSession], screen: Screen, *, as_json: bool
) -> int:
    done = [one for one in meant if await those.requeue(one.tenant, one.session)]
    gone = [one.session for one in meant if one not in done]
    if as_json:
        screen.document({"requeued": [one.session for one in done], "gone": gone})
    else:
        for session in gone:
            screen.remark(f"{session} is not among the dead any more")
        screen.raw(f"{counted(len(done), 'session')} will be run again.")
    return _FAILED if gone else 0


def _row(one: DeadSession) -> tuple[str, ...]:
    at = shown_time(_moment(one))
    return printable(one.session), printable(one.tenant), str(one.times), at, cut(one.why, _COLUMN)


def _plain(one: DeadSession) -> JsonObject:
    return {
        "session_id": one.session,
        "tenant": one.tenant,
        "times": one.times,
        "at": moment_text(_moment(one)),
        "why": one.why,
        "label": one.label,
        "urgency": one.kind,
    }


def _moment(one: DeadSession) -> datetime:
    return datetime.fromtimestamp(one.at / _MICROS, UTC)
