"""Any session of the store, whoever runs it: what in it waits for a person, and where to answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple, TypedDict, TypeVar, Unpack

from holdfast.app import session_store
from holdfast.app.configuration import load_configuration
from holdfast.app.control.client import poke
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.archive import SessionQuery
from holdfast.contract.journal import Journal
from holdfast.envelope.redact import Redactor
from holdfast.record.store import Store

_ALL = 2**31
_T = TypeVar("_T")

Open = Callable[[Journal, str], Awaitable[tuple[_T, ...]]]
"""What waits in one session."""


class StoreOptions(TypedDict, total=False):
    """Which store, where it is not the one that the configuration names."""

    settings: Settings
    surroundings: Surroundings


class Desk(NamedTuple):
    """Where an answer is written down, and what must not be in it."""

    journal: Journal
    redactor: Redactor
    around: Surroundings

    async def tell_runner(self, session_id: str) -> None:
        """Something was written down for a session: whoever runs it looks now, if they can."""
        await poke(session_id, self.journal, self.around)


async def open_now(
    look: Callable[[Store, str | None], Awaitable[tuple[_T, ...]]],
    session: str | None,
    **options: Unpack[StoreOptions],
) -> tuple[_T, ...]:
    """What a look finds in one session or in all; nothing where nothing is stored."""
    try:
        async with session_store.opened_store(**options) as store:
            return await look(store, session)
    except session_store.NothingStored:
        if session is not None:
            raise
        return ()


async def waiting_in(
    store: Store, session_id: str | None, stage: Literal["waiting", "inquiring"], found: Open[_T]
) -> list[_T]:
    """What calls at this stage wait for, in one session or in all."""
    if session_id is not None:
        return [*await found(store.journal, session_id)]
    everything: list[_T] = []
    for session in await store.archive.sessions(SessionQuery(limit=_ALL)):
        if any(call.stage == stage for call in session.state.calls.values()):
            everything += await found(store.journal, session.id)
    return everything


@asynccontextmanager
async def desk(**options: Unpack[StoreOptions]) -> AsyncGenerator[Desk]:
    """The store's journal, with the secrets of this process."""
    settings = options.get("settings") or load_configuration(None).settings
    around = options.get("surroundings") or surroundings_of_this_process(settings)
    async with session_store.opened_store(settings=settings, surroundings=around) as store:
        yield Desk(store.journal, Redactor(around.secrets), around)
