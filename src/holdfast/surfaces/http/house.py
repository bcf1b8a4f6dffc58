"""What the server stands on: the sessions it runs, the store they are in, the tools to be tried.

It composes what the rooms below give. What is asked over HTTP is not known here.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
from anyio import CancelScope, Event, create_task_group, current_time, to_thread

from holdfast.app import session_store
from holdfast.app.agent_places import substrate_of
from holdfast.app.agent_settings import DEFAULT_AGENT, agent_of
from holdfast.app.configuration import Configuration
from holdfast.app.control.client import poke
from holdfast.app.control.exchange import hear_looks
from holdfast.app.control.serving import told_of_runs, window_here
from holdfast.app.holdfast import Holdfast
from holdfast.app.http_door.listening import Ends
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.archive import Archive
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.ports import Clock
from holdfast.envelope.redact import Redactor
from holdfast.record.store import Store
from holdfast.runtime.abort import Abort
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.http.live.feeds import Feeds
from holdfast.surfaces.http.live.home import Home
from holdfast.surfaces.http.live.pulse import Pulse
from holdfast.surfaces.http.problems import Problem

BY = "console"
"""Who answers, where a request does not say."""
DRAIN_SECONDS = 15.0
"""How long runs and answers under way may take to end when the server does; then they are stopped,
and runs are due again."""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """What the server is opened with."""

    runner: Holdfast
    """Runs what is due. Nobody is asked in it: questions stay open."""
    workbench: Holdfast
    """Where a person tries tools. Its questions wait for whoever answers."""
    profile: str
    workspace: str


class House(msgspec.Struct, frozen=True, kw_only=True):
    """An opened server, but for the door."""

    opened: Opened
    store: Store
    feeds: Feeds
    home: Home
    pulse: Pulse
    clock: Clock
    ends: Ends
    """How the server is told to end: streams end then, and no more runs begin."""

    @property
    def leaving(self) -> Abort:
        """Set when the server ends."""
        return self.ends.leaving

    @property
    def journal(self) -> Journal:
        """Where everything is written down."""
        return self.store.journal

    @property
    def archive(self) -> Archive:
        """What was written down, to be looked at."""
        return self.store.archive

    @property
    def configuration(self) -> Configuration:
        """What was read, and from where."""
        return self.opened.runner.parts.configuration

    @property
    def settings(self) -> Settings:
        """What is configured."""
        return self.configuration.settings

    @property
    def around(self) -> Surroundings:
        """What surrounds the program."""
        return self.opened.runner.parts.surroundings

    @property
    def redactor(self) -> Redactor:
        """What takes secrets out."""
        return self.opened.runner.parts.redactor

    @property
    def default_agent(self) -> str:
        """The agent of a session that names none."""
        return DEFAULT_AGENT

    def agent_called(self, name: str | None) -> str | None:
        """What an agent is opened by: nobody has to declare the default one."""
        return None if name == DEFAULT_AGENT and name not in self.settings.agent else name

    def shared_folder(self, agent: str) -> Path:
        """Where the files are that all sessions of an agent share; ConfigurationError."""
        table = self.settings.agent.get(agent)
        named = None
        if table is not None and table.substrate is not None:
            named = substrate_of(agent_of(agent, table), self.around, Path(self.opened.workspace))
        return Path(named or self.around.data_home / "agents" / agent / "substrate")

    @asynccontextmanager
    async def at(self, workspace: str | None) -> AsyncGenerator[Holdfast]:
        """What sessions of a place are begun in, open until this is left; Problem,
        ConfigurationError."""
        if workspace is None:
            yield self.opened.runner
            return
        if not Path(workspace).is_absolute() or "\0" in workspace:
            raise Problem(422, "workspace is a whole path, from the root")
        if await to_thread.run_sync(_same, workspace, self.opened.workspace):
            yield self.opened.runner
            return
        async with self.opened.runner.agents.place(workspace) as there:
            yield there

    async def written(self, session_id: str) -> None:
        """Something was written down for a session: have whoever runs it look now."""
        self.pulse.look(session_id)
        self.opened.runner.agents.poke(session_id)
        if session_id == self.opened.workbench.session_id:
            parts = self.opened.workbench.parts
            parts.pipeline.heard(None)
            parts.own.people.heard(None)
            return
        if (window := window_here(session_id, self.around)) is not None:
            window.look()
            return
        with suppress(JournalError):  # it is written down: that nobody was told of it is no problem
            await poke(session_id, self.journal, self.around)


@asynccontextmanager
async def open_house(opened: Opened) -> AsyncGenerator[House]:
    """Open the store, begin to run what is due, and to look what is new; JournalError."""
    runner = opened.runner
    settings, around = runner.parts.configuration.settings, runner.parts.surroundings
    async with (
        session_store.opened_store(settings, make=True, surroundings=around) as store,
        runner,
        opened.workbench,
        create_task_group() as group,
    ):
        clock = SystemClock()
        pulse = Pulse(store.archive, clock)
        home = Home(store.archive, pulse, clock)
        feeds = Feeds(store.journal, around, pulse, group)
        house = House(
            opened=opened,
            store=store,
            feeds=feeds,
            home=home,
            pulse=pulse,
            clock=clock,
            ends=Ends(leaving=Abort()),
        )
        drained = Event()
        draining = CancelScope(shield=True)
        house.leaving.subscribe(feeds.close)
        house.leaving.subscribe(partial(_has_time, draining))
        if (log := opened.workbench.parts.log) is not None:
            log.listeners.append(lambda _event: pulse.heard(log.session_id))

        async def run() -> None:
            try:
                await runner.run_due(forever=True, until=house.leaving)
            finally:
                drained.set()

        group.start_soon(run)
        group.start_soon(pulse.run)
        group.start_soon(home.run)
        group.start_soon(hear_looks, around, pulse.look)
        try:
            with told_of_runs(around, pulse.heard):
                yield house
        finally:
            house.leaving.set()
            with draining:
                forget = house.ends.hurrying.subscribe(draining.cancel)
                await drained.wait()
                forget()
            group.cancel_scope.cancel()


def _has_time(draining: CancelScope) -> None:
    """From the signal on: answers under way are waited for within the same time."""
    draining.deadline = current_time() + DRAIN_SECONDS


def _same(one: str, other: str) -> bool:
    try:
        return Path(one).resolve() == Path(other).resolve()
    except (OSError, RuntimeError):  # links that lead nowhere; whoever opens it says so
        return False
