"""What stands behind the ports that tools name: an entry for each, made for one session."""

import msgspec

from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Ports, SessionFacts
from holdfast.contract.search import FileSearch
from holdfast.contract.todos import TodoList
from holdfast.execution.processes.hand import SessionHand
from holdfast.execution.search.file_search import RipgrepSearch
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.todos import SessionTodos


class PortParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's ports are made from."""

    session: SessionFacts
    profile: str
    """The name of the session's profile."""
    settings: Settings
    surroundings: Surroundings
    catalog: Catalog
    hand: SessionHand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource


class SessionPorts:
    """The ports of a session, and what they keep for it."""

    def __init__(self, parts: PortParts) -> None:
        self.parts = parts
        self.todos = SessionTodos()
        # There, searches stand in for ls, find and grep, which leave nothing out.
        self._skips = parts.profile != "managed"

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            FileSearch: lambda call: RipgrepSearch(self.parts.hand.view(call), skips=self._skips),
        }
