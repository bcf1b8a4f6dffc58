"""What stands behind the ports that tools name: an entry for each, made for one session."""

import msgspec

from holdfast.app.after_edit import hooks_of
from holdfast.app.file_bounds import bounds_of
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Hand, Ports, Runtime, SessionFacts
from holdfast.contract.todos import TodoList
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.after_edit import CallHooks
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.todos import SessionTodos


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
        self._hooks = hooks_of(parts.settings)

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            FileBounds: self._bounds,
            AfterEdit: lambda call: CallHooks(call, self._hooks),
        }

    def _bounds(self, call: Runtime) -> FileBounds:
        return bounds_of(self.parts.settings, self.parts.catalog, call.tool)
