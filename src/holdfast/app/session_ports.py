"""What stands behind the ports that tools name: an entry for each, made for one session."""

import msgspec

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.web import session_search
from holdfast.contract.extraction import Extraction
from holdfast.contract.journal import Journal
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Hand, Ports, SessionFacts
from holdfast.contract.searching import WebSearch
from holdfast.contract.todos import TodoList
from holdfast.execution.extraction.parsers import Parsers
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.searching import calls_before
from holdfast.runtime.todos import SessionTodos
from holdfast.tools.locked.web_search import web_search


class PortParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's ports are made from."""

    session: SessionFacts
    settings: Settings
    surroundings: Surroundings
    catalog: Catalog
    hand: Hand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource


class SessionPorts:
    """The ports of a session, and what they keep for it."""

    def __init__(self, parts: PortParts) -> None:
        self.parts = parts
        self.todos = SessionTodos()
        self._parsers = Parsers()
        self._search = session_search(parts.settings.web, parts.session.id, parts.surroundings)

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            Extraction: lambda _call: self._parsers,
            WebSearch: self._search.of_call,
        }

    def open(self) -> None:
        """The session begins, or begins again."""
        self._parsers.open()

    async def take_up(self, journal: Journal) -> None:
        """What the session used up before it was taken up counts on."""
        before = await calls_before(journal, self.parts.session.id, web_search.name)
        self._search.used_before(before)

    async def close(self) -> None:
        """End what is kept for the next call."""
        await self._parsers.close()
