"""What stands behind the ports that tools name: an entry for each, made for one session."""

import msgspec

from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.contract.commanding import Commanding
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Hand, Ports, SessionFacts
from holdfast.contract.todos import TodoList
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.command_policies import form_of
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.todos import SessionTodos


class PortParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's ports are made from."""

    session: SessionFacts
    settings: Settings
    profile: ProfileSettings
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
        self.commanding = form_of(parts.profile.commands or "any")

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            Commanding: lambda _call: self.commanding,
        }
