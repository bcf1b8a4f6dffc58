"""The ground of a managed session over a journal in memory, for tests of what stands on it."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import msgspec

from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal
from holdfast.contract.managed.crowding import Crowding
from holdfast.contract.mounts import Mount
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.tool import Tool
from holdfast.contract.versions import VersionedStore
from holdfast.execution.path_facts import DiskPaths
from holdfast.runtime.managed.event_book import EventBook
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.session_book import SessionBook
from holdfast.runtime.managed.shell_book import Places, ShellBook
from holdfast.runtime.managed.summaries import Summaries
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock, FakeIds

ME = "ses_me"
BUSY = PersistentFacts(shell_id="sh_1", status="busy", cwd="/", env_keys=(), command_count=1)


class Given(msgspec.Struct, kw_only=True):
    """What a ground has beside its journal."""

    agent_id: str = "looker"
    artifacts: Path | None = None
    live_shell: Callable[[], PersistentFacts | None] = lambda: None
    crowding: Callable[[], Crowding | None] = lambda: None
    mounts: tuple[Mount, ...] = ()
    tools: Callable[[], Iterable[Tool]] = tuple


class Place(msgspec.Struct):
    """A session that looks around, and the journal all sessions are in."""

    journal: FakeJournal
    clock: FakeClock
    ground: Ground
    book: SessionBook
    events: EventBook


class _Told(SessionLog):
    """Of a session that the test itself tells."""

    async def journal(self) -> Journal:
        return await self._opening()


@asynccontextmanager
async def placed(given: Given | None = None) -> AsyncGenerator[Place]:
    """The calling session has to be told into the journal before it looks around."""
    given = given or Given()
    clock = FakeClock()
    journal = FakeJournal(clock)

    async def opening() -> FakeJournal:
        return journal

    log = _Told(opening, SessionCreated(agent_id=given.agent_id), ME, "tests", clock)

    async def stores() -> Stores:
        versions = cast("VersionedStore", None)  # nothing here has versions
        return Stores(journal=journal, archive=journal.archive, versions=versions)

    ground = Ground(
        session_id=ME,
        agent_id=given.agent_id,
        usual_agent="default",
        log=log,
        stores=stores,
        clock=clock,
        ids=FakeIds(),
        tools=given.tools,
        clean=lambda text: text,
        mounts=given.mounts,
        artifacts=given.artifacts,
        live_shell=given.live_shell,
        crowding=given.crowding,
    )
    shell = ShellBook(ground, Places(None, (), DiskPaths()))
    summaries = Summaries(ground, Judging(ground, lambda: shell), shell)
    yield Place(journal, clock, ground, SessionBook(ground, summaries), EventBook(ground))
    await journal.close()
