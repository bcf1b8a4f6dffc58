"""`holdfast cluster status`: the servers, what waits, what was given up, and the stores."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

import anyio
import msgspec
from anyio import to_thread

from holdfast.app.fleet import check_fleet, opened_link
from holdfast.app.holders import process_name
from holdfast.app.settings import Settings
from holdfast.app.store import store_url
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import JsonObject, plain
from holdfast.engine.cluster.counting import (
    LaneStanding,
    StreamStanding,
    lane_standings,
    stream_standing,
    unheard_lanes,
)
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.present import Worker, present
from holdfast.engine.cluster.subjects import ANY
from holdfast.record.postgres.door import check_postgres, holders_in
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import configured
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import shown_time

_FAILED = 1
_AGAIN = "{}; where a server has just ended the others agree first: ask again in some seconds"
_MICROS = 1_000_000
_OF_WORKERS = ("WORKER", "HOST", "VERSION", "LABELS", "IN HAND", "SINCE (UTC)", "")
_HEADINGS = ("TENANT", "LABEL", "URGENCY", "WAIT", "IN HAND", "LISTEN")


class _Store(msgspec.Struct, frozen=True, kw_only=True):
    tenant: str
    place: str | None = None
    problem: str | None = None
    holders: tuple[str, ...] = ()
    """Processes that run a session of it, by its leases."""


class _Standing(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    streams: tuple[StreamStanding, ...]
    later: int
    dead: int
    lanes: tuple[LaneStanding, ...]
    workers: tuple[Worker, ...]
    silent: tuple[str, ...]
    """Processes that run a session and do not answer: a run at a terminal, or a worker that stands
    still or has no NATS."""
    stores: tuple[_Store, ...]


def status(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    settings = configured(arguments, screen).settings
    check_fleet(settings)
    found = anyio.run(_found, settings)
    if arguments.json:
        document = plain(found)
        assert isinstance(document, dict)
        told: JsonObject = document
        screen.document(told)
    else:
        _show(found, screen)
    return 0 if found.ok else _FAILED


async def _found(settings: Settings) -> _Standing:
    stores = await _stores(settings)
    async with opened_link(settings) as link:
        try:
            made = [
                await stream_standing(link, name) for name in (link.names.wakes, link.names.dead)
            ]
            heard = await lane_standings(link)
            lanes = (*heard, *await unheard_lanes(link, heard))
            workers = await present(link)
        except LinkError as problem:
            raise JournalUnavailable(_AGAIN.format(problem)) from None
    streams = tuple(one for one in made if one is not None)
    answered = {one.name for one in workers}
    holders = {process_name(one) for store in stores for one in store.holders}
    wakes = 0 if made[0] is None else made[0].messages
    return _Standing(
        ok=all(one.is_current for stream in streams for one in stream.keepers)
        and all(one.problem is None for one in stores),
        streams=streams,
        later=max(0, wakes - sum(one.waits + one.in_hand for one in lanes)),
        dead=0 if made[1] is None else made[1].messages,
        lanes=lanes,
        workers=workers,
        silent=tuple(sorted(holders - answered)),
        stores=stores,
    )


async def _stores(settings: Settings) -> tuple[_Store, ...]:
    cluster = settings.cluster
    urls = {name: one.url for name, one in cluster.tenant.items()}
    found: list[_Store] = []
    for name, url in {cluster.own: store_url(settings.store), **urls}.items():
        try:
            health = await to_thread.run_sync(partial(check_postgres, url))
            holders = await to_thread.run_sync(partial(holders_in, url))
        except JournalUnavailable as problem:
            found.append(_Store(tenant=name, problem=str(problem)))
        else:
            found.append(_Store(tenant=name, place=health.place, holders=holders))
    return tuple(found)


def _show(found: _Standing, screen: Screen) -> None:
    if not found.streams:
        screen.look.text("No worker was ever connected: there are no streams yet.")
    for stream in found.streams:
        screen.raw(f"{stream.name}  {counted(stream.messages, 'message')}{_kept(stream)}")
    for store in found.stores:
        screen.raw(f"store of {printable(store.tenant)}  {store.place or store.problem}")
    screen.raw(f"{found.later} wait for their time, {found.dead} were given up")
    _show_workers(found, screen)
    if found.lanes:
        screen.look.table(_HEADINGS, _rows(found.lanes))
    for label, waits in sorted(_unserved(found).items()):
        screen.remark(
            f"no worker has the label {printable(label)}, which {counted(waits, 'session')}"
            f" {'waits' if waits == 1 else 'wait'} for: holdfast worker --label NAME"
        )
    if found.dead:
        screen.remark("see why: holdfast cluster dead")


def _unserved(found: _Standing) -> Counter[str]:
    """Labels that are waited for and that no worker has."""
    served = {ANY, *(label for one in found.workers for label in one.labels)}
    waits: Counter[str] = Counter()
    for lane in found.lanes:
        if lane.waits and lane.label not in served:
            waits[lane.label] += lane.waits
    return waits


def _show_workers(found: _Standing, screen: Screen) -> None:
    if found.workers:
        screen.look.table(_OF_WORKERS, list(_workers(found.workers)))
    else:
        screen.raw("no worker answers")
    for name in found.silent:
        screen.raw(f"{printable(name)}  runs a session, and does not answer as a worker")
    versions = sorted({one.version for one in found.workers})
    if len(versions) > 1:
        told = ", ".join(map(printable, versions))
        screen.remark(f"workers of several versions: {told}; see docs/cluster.md, rolling upgrades")


def _workers(workers: Iterable[Worker]) -> Iterable[tuple[str, ...]]:
    for one in workers:
        yield (
            printable(one.name.rpartition("/")[2]),
            printable(one.host),
            printable(one.version),
            printable(", ".join(one.labels)),
            f"{one.in_hand} of {one.concurrency}",
            _since(one.since),
            "ends" if one.ends else "",
        )


def _since(micros: int) -> str:
    """Whoever may speak in NATS may say anything."""
    try:
        return shown_time(datetime.fromtimestamp(micros / _MICROS, UTC))
    except (OverflowError, ValueError, OSError):
        return ""


def _kept(stream: StreamStanding) -> str:
    if not stream.keepers:
        return ""
    words = [
        f"{printable(one.name)}{' leads' if one.leads else '' if one.is_current else ' is behind'}"
        for one in stream.keepers
    ]
    return f"  kept by {', '.join(words)}"


def _rows(lanes: Sequence[LaneStanding]) -> list[tuple[str, ...]]:
    return [
        (
            printable(one.tenant),
            printable(one.label),
            one.urgency,
            str(one.waits),
            str(one.in_hand),
            str(one.listens),
        )
        for one in lanes
    ]
