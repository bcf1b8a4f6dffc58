"""`holdfast cluster up`: a cluster to try, until Ctrl-C."""

import os
import signal
from argparse import Namespace
from functools import partial
from pathlib import Path

import anyio

from holdfast.app.environment import variables
from holdfast.app.locations import data_home, user_file
from holdfast.app.own_files import check_home
from holdfast.app.problems import ConfigurationError
from holdfast.app.trial import Trial, trial_in
from holdfast.contract.json_value import JsonObject
from holdfast.surfaces.cli.interrupts import end_by_an_interrupt
from holdfast.surfaces.cli.parsing import UsageError, workspace_in
from holdfast.surfaces.cli.screen import Screen

_FAILED = 1
_LOOK_SECONDS = 0.5
_OFTEN = 5
_OFTEN_SECONDS = 60.0
"""What ends so often in that time is not started again."""


def up(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    check_home(variables())
    workspace = str(Path(workspace_in(arguments)).resolve())
    worker = ["worker", "--json", "--workspace", workspace]
    for pair in arguments.overrides:
        worker += ["--set", pair]
    try:
        return anyio.run(partial(_up, worker, screen, as_json=arguments.json))
    except ConfigurationError as problem:
        raise UsageError(str(problem)) from None


async def _up(worker: list[str], screen: Screen, *, as_json: bool) -> int:
    if not as_json:
        screen.remark("starting PostgreSQL, three servers of NATS and two workers")
    unusable: ConfigurationError | None = None
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(_heed_signals, scope, screen)
            try:
                async with trial_in(data_home(variables()), worker) as trial:
                    _tell(trial, screen, as_json=as_json)
                    ended = await _tend(trial, screen)
                    screen.remark(
                        f"{ended} ends again and again, so all is ended;"
                        f" see {trial.folder / ended}.log"
                    )
            except ConfigurationError as problem:
                unusable = problem
            group.cancel_scope.cancel()
    if unusable is not None:
        raise unusable
    if not scope.cancelled_caught:
        return _FAILED
    screen.remark("all of it has ended; what it kept is there when it is started again")
    return 0


async def _tend(trial: Trial, screen: Screen) -> str:
    """Start again what ends by itself; what does so again and again is returned."""
    ends: dict[str, list[float]] = {}
    while True:
        await anyio.sleep(_LOOK_SECONDS)
        name = trial.ended()
        if name is None:
            continue
        now = anyio.current_time()
        before = [moment for moment in ends.get(name, []) if moment > now - _OFTEN_SECONDS]
        if len(before) == _OFTEN:
            return name
        ends[name] = [*before, now]
        screen.remark(f"{name} ended by itself and is started again; see {trial.folder / name}.log")
        await anyio.sleep(len(before))  # what it left behind may have to end first
        trial.begin_again(name)


async def _heed_signals(scope: anyio.CancelScope, screen: Screen) -> None:
    """The first one ends all of it in order, the second one is as everywhere."""
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for one in signals:
                if scope.cancel_called:
                    signal.signal(one, signal.SIG_DFL)
                    os.kill(os.getpid(), one)
                screen.remark("ending: workers first, then the servers")
                scope.cancel()
    finally:
        end_by_an_interrupt()


def _tell(trial: Trial, screen: Screen, *, as_json: bool) -> None:
    places = trial.places
    if as_json:
        told: JsonObject = {
            "kind": "cluster",
            "config": str(trial.config),
            "postgres": f"127.0.0.1:{places.postgres}",
            "servers": list(places.servers),
            "workers": [name for name in trial.programs if name.startswith("worker")],
        }
        screen.json_line(told)
    else:
        own = user_file(variables())
        screen.raw(f"PostgreSQL    127.0.0.1:{places.postgres}")
        screen.raw(f"NATS          {'  '.join(places.servers)}")
        screen.raw(f"workers       two; what they say: {trial.folder}/worker-*.log")
        screen.raw(f"to use it     put the lines of {trial.config}")
        screen.raw(f"              into {own}; they hold passwords of this trial alone")
        screen.remark("Ctrl-C ends all of it, and loses nothing")
    screen.show_now()
