"""Either store under a worker that is going to be killed, and under whoever looks at what is left.

On SQLite a session is a whole `Holdfast`. On PostgreSQL it is put together by hand from the parts.
"""

from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal, Protocol

import msgspec
from support import make_judge

from holdfast.app.holders import is_gone, this_process
from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Options
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.store import journal_key
from holdfast.contract.archive import Archive, Found, Near, WordQuery
from holdfast.contract.call import RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal
from holdfast.contract.ports import Answer, Approver
from holdfast.contract.question import Question
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.record.archive import StoreArchive
from holdfast.record.codec import Chain
from holdfast.record.journal import StoreJournal, StoreParts
from holdfast.record.postgres.committing import PostgresCommitter
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.journal import PostgresReader
from holdfast.record.sqlite.connection import Durability
from holdfast.record.sqlite.opening import SqliteReader
from holdfast.record.sqlite.store import SqliteCommitter
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.recovery import answered_calls, close_open_calls, open_questions
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import answered
from holdfast.testing.fakes import FakeProgress, FakeSidecars

CLOCK = SystemClock()
IDS = TimeIds(CLOCK)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where sessions are written down."""

    kind: Literal["sqlite", "postgres"]
    home: str
    url: str = ""
    durability: Durability = "process"

    @property
    def surroundings(self) -> Surroundings:
        home = Path(self.home)
        return Surroundings(data_home=home / "data", state_home=home / "state")

    @property
    def settings(self) -> Settings:
        return Settings(store=StoreSettings(durability=self.durability))

    @property
    def chain(self) -> Chain:
        return Chain(journal_key(self.surroundings.state_home))


class NoIndex:
    """Finds nothing."""

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        return []

    def near(self, wanted: WordQuery, /) -> Near:
        return Near(())

    def close(self) -> None:
        return


def parts_at(place: Place) -> StoreParts:
    """A store of either kind, opened. Blocking."""
    if place.kind == "postgres":
        connections = PostgresConnections(place.url)
        committer, reader = PostgresCommitter(connections), PostgresReader(connections)
        return StoreParts(committer, reader, place.chain, CLOCK, IDS, quick=False)
    path = place.surroundings.data_home / "holdfast.db"
    quick = place.durability == "process"
    committer = SqliteCommitter(path, place.durability)
    return StoreParts(committer, SqliteReader(path), place.chain, CLOCK, IDS, quick)


@asynccontextmanager
async def store_at(place: Place) -> AsyncGenerator[tuple[Journal, Archive, StoreParts]]:
    parts = parts_at(place)
    journal = StoreJournal(parts)
    try:
        yield journal, StoreArchive(parts, journal.writer, NoIndex()), parts
    finally:
        await journal.close()


class Opened(Protocol):
    """A session that calls are settled in."""

    @property
    def session_id(self) -> str: ...

    def settle(
        self, tool: str, arguments: RawArguments = None
    ) -> Coroutine[object, object, Envelope]: ...

    def questions(self) -> Awaitable[tuple[Question, ...]]: ...

    def answer(self, question: Question, answer: Answer) -> Awaitable[None]: ...

    def resume(self) -> Awaitable[tuple[Envelope, ...]]: ...


class Sessions(Protocol):
    """Opens sessions of one store: a new one, or one that was written down before."""

    def open(self, session_id: str | None = None) -> AbstractAsyncContextManager[Opened]: ...


class SqliteSessions:
    """Each a whole Holdfast."""

    def __init__(
        self, place: Place, tools: tuple[Tool, ...], rules: tuple[Rule, ...], approver: Approver
    ) -> None:
        self._place = place
        self._tools = tools
        self._rules = rules
        self._approver = approver

    @asynccontextmanager
    async def open(self, session_id: str | None = None) -> AsyncGenerator[Opened]:
        place = self._place
        options = Options(
            settings=place.settings,
            surroundings=place.surroundings,
            approver=self._approver,
            rules=self._rules,
        )
        if session_id is not None:
            options["session"] = session_id
        async with Holdfast(tools=self._tools, **options) as opened:
            yield opened


class PostgresSessions:
    """Each by hand, on one journal."""

    def __init__(
        self, journal: Journal, tools: tuple[Tool, ...], rules: tuple[Rule, ...], approver: Approver
    ) -> None:
        self._journal = journal
        self._tools = tools
        self._judge = make_judge(*rules, standing={tool.name: "" for tool in tools})
        self._approver = approver

    @asynccontextmanager
    async def open(self, session_id: str | None = None) -> AsyncGenerator[Opened]:
        facts = SessionFacts(id=session_id or IDS.new("ses"))

        async def opening() -> Journal:
            return self._journal

        log = SessionLog(opening, SessionCreated(), facts.id, this_process(), CLOCK)
        stayed: frozenset[str] = frozenset()
        if session_id is not None:
            journal, epoch = await log.take_up(is_gone)
            stayed = (await close_open_calls(journal, session_id, epoch)).stayed
        parts = Parts(
            catalog=Catalog(self._tools),
            judge=self._judge,
            approver=self._approver,
            clock=CLOCK,
            ids=IDS,
            sidecars=FakeSidecars(),
            redactor=Redactor(),
            session=facts,
            progress=FakeProgress(),
            log=log,
        )
        yield ByHand(log, Pipeline(parts), facts.id, stayed)


class ByHand:
    """What Holdfast does with a session, without it."""

    def __init__(
        self, log: SessionLog, pipeline: Pipeline, session_id: str, stayed: frozenset[str]
    ) -> None:
        self._log = log
        self._pipeline = pipeline
        self.session_id = session_id
        self._stayed = stayed

    def settle(
        self, tool: str, arguments: RawArguments = None
    ) -> Coroutine[object, object, Envelope]:
        call = ToolCall(
            id=IDS.new("cal"), tool=tool, arguments=arguments, session_id=self.session_id
        )
        return self._pipeline.settle(call, Abort())

    async def questions(self) -> tuple[Question, ...]:
        return await open_questions(await self._log.journal(), self.session_id)

    async def answer(self, question: Question, answer: Answer) -> None:
        said = answered(question.approval_id, question.call_id, answer)
        await (await self._log.journal()).append(self.session_id, [said])

    async def resume(self) -> tuple[Envelope, ...]:
        journal = await self._log.journal()
        waiting = await answered_calls(journal, self.session_id, self._stayed)
        return tuple([await self._pipeline.settle(one.call, Abort(), one) for one in waiting])
