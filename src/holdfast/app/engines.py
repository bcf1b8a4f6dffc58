"""The engine that runs sessions here: one of this process alone, or a worker of a fleet.

Which sessions there are, and how one is run, is not known here.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from platform import node
from typing import Any

import msgspec
from anyio import to_thread

from holdfast._version import __version__
from holdfast.app.assembly import Whole
from holdfast.app.fleet import announcing, check_fleet, is_clustered, opened_link
from holdfast.app.holders import this_process
from holdfast.app.ledger import is_signed_elsewhere
from holdfast.app.meter import Meter, metered
from holdfast.app.other_projects import OpenProject
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Clock
from holdfast.contract.wakes import Engine, WakeEnd, WakeRunner
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.tenants import Tenant, Who, pace_within
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.record.store import Store

EndTold = Callable[[WakeEnd], None]
"""Hears how a run ended."""

_ANOTHER_KEY = (
    "the journal.key of this machine is not the one that signed what is kept, so that its sessions"
    " could not be verified any more; put the one of the other machines in its place"
)
_NOT_OF_A_TENANT = ("settings", "session", "agent", "flow", "above", "keep_outputs")
"""What is of the sessions of one store alone."""


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine runs: the sessions of a store, and who hears of it."""

    parts: Whole
    store: Store
    wake: WakeRunner
    make: Callable[..., Any]
    """Makes another `Holdfast`."""
    told: EndTold | None = None
    meter: Meter | None = None

    def runner(self, store: Store, wake: WakeRunner) -> WakeRunner:
        """The same with everybody told who wants to hear."""

        async def run(session_id: str, /) -> WakeEnd:
            end = await wake(session_id)
            if self.told is not None:
                self.told(end)
            return end

        return run if self.meter is None else metered(run, store.journal, self.meter)


@asynccontextmanager
async def opened_engine(runs: Runs) -> AsyncGenerator[Engine]:
    """The engine that is configured; ConfigurationError, JournalUnavailable."""
    settings = runs.parts.configuration.settings
    if is_clustered(settings):
        async with _clustered(runs, settings) as engine:
            yield engine
        return
    pace = EnginePace(
        concurrency=settings.engine.concurrency, look_seconds=settings.engine.look_seconds
    )
    runner = runs.runner(runs.store, runs.wake)
    if runs.meter is not None:
        runs.meter.ready = _always
    yield EmbeddedEngine(runs.store.journal, runner, runs.parts.clock, pace)


@asynccontextmanager
async def _clustered(runs: Runs, settings: Settings) -> AsyncGenerator[Engine]:
    check_fleet(settings)
    if await to_thread.run_sync(is_signed_elsewhere, settings, runs.parts.surroundings):
        raise ConfigurationError(_ANOTHER_KEY)
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(opened_link(settings))
        own = runs.parts.clock
        tenants = [_tenant(runs, settings.cluster.own, runs.store, runs.wake, own)]
        for name in settings.cluster.tenant:
            opened = await stack.enter_async_context(of_tenant(runs.parts, runs.make, name))
            store = await opened.agents.all_sessions()
            clock = opened.parts.clock
            tenants.append(_tenant(runs, name, store, opened.agents.wake, clock))
        if runs.meter is not None:
            runs.meter.ready = lambda: link.client.is_connected
        engine = settings.engine
        pace = pace_within(engine.lease_seconds, engine.concurrency, settings.cluster.labels)
        who = Who(name=this_process(), host=node(), version=__version__)
        yield _Worker(link, tenants, runs.parts.clock, pace, who)


class _Worker(ClusterEngine):
    """For those who know no NATS: that it cannot be asked is a JournalUnavailable."""

    async def run_until_idle(self) -> int:
        try:
            return await super().run_until_idle()
        except LinkError as problem:
            raise JournalUnavailable(str(problem)) from None


def _tenant(runs: Runs, name: str, store: Store, wake: WakeRunner, clock: Clock) -> Tenant:
    assert store.outbox is not None  # it is a PostgreSQL
    runner = runs.runner(store, wake)
    return Tenant(name=name, journal=store.journal, outbox=store.outbox, runner=runner, clock=clock)


def of_tenant(parts: Whole, make: Callable[..., Any], name: str) -> Any:  # noqa: ANN401 - a Holdfast, as `make` gives it
    """What runs the sessions of a tenant: the same, but for where they are written down."""
    wanted = parts.wanted
    options = {key: one for key, one in wanted.options.items() if key not in _NOT_OF_A_TENANT}
    configuration = parts.configuration
    store = msgspec.structs.replace(
        configuration.settings.store, url=configuration.settings.cluster.tenant[name].url
    )
    cluster = msgspec.structs.replace(configuration.settings.cluster, own=name, tenant={})
    settings = msgspec.structs.replace(configuration.settings, store=store, cluster=cluster)
    options["configuration"] = msgspec.structs.replace(configuration, settings=settings)
    # The same key signs, and the same secrets are kept: they are of the machine.
    options["surroundings"] = msgspec.structs.replace(
        parts.surroundings, announces=announcing(settings)
    )
    elsewhere = wanted.options.get("other_projects")
    if elsewhere is not None:
        options["other_projects"] = _others_of(elsewhere, make, name)
    return make(tools=wanted.tools, profile=wanted.profile, workspace=wanted.workspace, **options)


def _others_of(opening: OpenProject, make: Callable[..., Any], name: str) -> OpenProject:
    def opened(place: Path) -> Any:  # noqa: ANN401 - the same
        return of_tenant(opening(place).parts, make, name)

    return opened


def _always() -> bool:
    return True
