"""`holdfast worker`: run the sessions of agents that are due, as they become due.

Nobody is asked here: questions wait for `holdfast sessions answer`. Asked to end, it begins nothing
more and finishes what runs; asked once more, or when that takes too long, it stops what runs, and
whoever looks next goes on with it.
Exit status: 0, 1 where a run failed with --once, 2 it could not begin.
"""

import os
import signal
from argparse import Namespace, RawDescriptionHelpFormatter
from contextlib import AsyncExitStack
from functools import partial
from typing import NamedTuple

import anyio
import msgspec

from holdfast.app import fleet
from holdfast.app.meter import Meter
from holdfast.contract.json_value import encode_json
from holdfast.contract.wakes import WakeEnd
from holdfast.runtime.abort import Abort
from holdfast.surfaces.cli.amounts import seconds_in
from holdfast.surfaces.cli.health import answering
from holdfast.surfaces.cli.interrupts import end_by_an_interrupt
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_settings_options, add_tool_files
from holdfast.surfaces.cli.run_end import FAILED
from holdfast.surfaces.cli.runners import runner_of
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.serving_words import LOOPBACK, address_in
from holdfast.surfaces.cli.stores import with_a_store
from holdfast.surfaces.cli.working import BROKEN, lone, worded

_EXAMPLES = """\
examples:
  holdfast worker                       run what is due, until Ctrl-C
  holdfast worker --once                run what is due now, and end
  holdfast worker --json                a line of JSON for the end of every run
  holdfast worker --label gpu --concurrency 2    also what asks for that label; two at once
  holdfast worker --drain 10m           asked to end, finish what runs within that time
  holdfast worker --health 9321         answers /healthz, /readyz and /metrics on this machine
  holdfast sessions send SESSION "..."  what makes a session due, from another terminal"""
_DRAINS = "ending: what runs is finished; once more stops it, and it goes on with the next worker"
_STOPS = "stopping what runs; it goes on with the next worker"
_NO_CLUSTER = (
    "--label is for workers of a cluster, and engine.kind is {}; set engine.kind = 'cluster' (see"
    " docs/cluster.md), or leave the label out"
)
_LONGEST_WORDS = 200


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.epilog = _EXAMPLES
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("--once", action="store_true", help="run what is due now, and end")
    parser.add_argument(
        "--json", action="store_true", help="a line of JSON for the end of every run"
    )
    parser.add_argument(
        "--concurrency",
        metavar="N",
        help="how many sessions at once; engine.concurrency by default",
    )
    parser.add_argument(
        "--label",
        dest="labels",
        metavar="NAME",
        action="append",
        default=[],
        help="run sessions that ask for it, too, in a cluster; may be given several times",
    )
    parser.add_argument(
        "--health",
        metavar="[HOST:]PORT",
        help=f"answer whether it lives and is ready, and what it counted; on {LOOPBACK} by default",
    )
    parser.add_argument(
        "--drain",
        metavar="TIME",
        help="asked to end, stop what still runs after so long, such as 10m; else it is waited for",
    )
    add_tool_files(parser)
    add_settings_options(parser)
    parser.set_defaults(manifests=[], tool_timeout=None, timeout=None, profile=None, agent=None)


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    where = None if arguments.health is None else address_in(arguments.health, "--health")
    drain = None if arguments.drain is None else _seconds(arguments.drain)
    _override(arguments)
    try:
        opened = chosen(arguments, screen)
        settings = with_a_store(opened.configuration.settings)
        if settings.engine.kind == "cluster":
            fleet.check_fleet(settings)
        elif arguments.labels:
            raise UsageError(_NO_CLUSTER.format(settings.engine.kind))
        return anyio.run(partial(_worked, arguments, opened, screen, _Ending(where, drain)))
    except BROKEN as problem:
        return worded(problem, screen, as_json=False)
    except ExceptionGroup as group:
        if not isinstance(problem := lone(group), BROKEN):
            raise
        return worded(problem, screen, as_json=False)


def _override(arguments: Namespace) -> None:
    """What has an option of its own, said as what is set: it holds for other projects, too."""
    if arguments.concurrency is not None:
        arguments.overrides.append(f"engine.concurrency={arguments.concurrency}")
    if arguments.labels:
        labels = msgspec.json.encode(arguments.labels).decode()  # as TOML writes it
        arguments.overrides.append(f"cluster.labels={labels}")


class _Ending(NamedTuple):
    """Where it says how it is, and how long it may take to end."""

    where: tuple[str, int] | None
    drain: float | None


def _seconds(text: str) -> float:
    try:
        return seconds_in(text)
    except ValueError as problem:
        raise UsageError(f"--drain {problem}") from None


async def _worked(arguments: Namespace, opened: Chosen, screen: Screen, ending: _Ending) -> int:
    where = ending.where
    ends = _Ends(screen, as_json=arguments.json)
    meter = None if where is None else Meter()
    async with AsyncExitStack() as stack:
        if meter is not None and where is not None:
            port = await stack.enter_async_context(answering(*where, meter))
            screen.remark(f"answers at http://{where[0]}:{port}/healthz, /readyz and /metrics")
        hf = await stack.enter_async_context(
            runner_of(opened, arguments.workspace, arguments, screen)
        )
        drains = Abort()
        if meter is not None:
            drains.subscribe(meter.drain)
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(_heed_signals, drains, group.cancel_scope, screen)
        if ending.drain is not None:
            group.start_soon(_stop_late, ending.drain, drains, group.cancel_scope, screen)
        if not arguments.once:
            screen.remark("running what is due, as it becomes due; Ctrl-C ends it")
        await hf.agents.run_due(ends.tell, drains, meter, forever=not arguments.once)
        group.cancel_scope.cancel()
    if arguments.once and not ends.told:
        screen.remark("nothing is due")
    return FAILED if arguments.once and ends.failed else 0


async def _heed_signals(drains: Abort, work: anyio.CancelScope, screen: Screen) -> None:
    """The first one lets runs end, the second one stops them, the third one is as everywhere."""
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for one in signals:
                if work.cancel_called:
                    signal.signal(one, signal.SIG_DFL)
                    os.kill(os.getpid(), one)
                elif drains.aborted:
                    screen.remark(_STOPS)
                    work.cancel()
                else:
                    screen.remark(_DRAINS)
                    drains.set()
    finally:
        end_by_an_interrupt()


async def _stop_late(
    seconds: float, drains: Abort, work: anyio.CancelScope, screen: Screen
) -> None:
    """Whoever ends this process does not wait for ever: what is stopped in order is gone on with
    at once, what is killed when its lease ends."""
    await drains.wait()
    await anyio.sleep(seconds)
    screen.remark(_STOPS)
    work.cancel()


class _Ends:
    """Shows how runs end."""

    def __init__(self, screen: Screen, *, as_json: bool) -> None:
        self._screen = screen
        self._as_json = as_json
        self._left: set[str] = set()
        self.told = 0
        self.failed = False

    def tell(self, end: WakeEnd) -> None:
        """One more; of what cannot be run here, once."""
        if not end.executed:
            if end.reason == "not_ours" and end.session_id not in self._left:
                self._left.add(end.session_id)
                self._screen.remark(f"session {end.session_id} is not run here: {end.problem}")
            return
        self.told += 1
        self.failed = self.failed or end.ended == "failed"
        self._screen.raw(encode_json(end).decode() if self._as_json else _line(end))
        self._screen.show_now()


def _line(end: WakeEnd) -> str:
    said = one_line(end.problem or end.response)[:_LONGEST_WORDS]
    return "  ".join(filter(None, (end.session_id, end.ended or "failed", said)))
