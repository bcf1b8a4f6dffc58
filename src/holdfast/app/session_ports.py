"""What stands behind the ports that tools name: an entry for each, made for one session."""

import msgspec

from holdfast.app.language_servers import language_servers
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.contract.artifacts import Artifacts
from holdfast.contract.commanding import Commanding
from holdfast.contract.language_servers import LanguageServers
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Ports, Runtime, SessionFacts
from holdfast.contract.todos import TodoList
from holdfast.execution.artifacts import CallArtifacts, Quotas, SessionArtifacts
from holdfast.execution.language_servers.call_servers import CallServers
from holdfast.execution.language_servers.session_servers import SessionServers
from holdfast.execution.processes.hand import SessionHand
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
    hand: SessionHand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource


class SessionPorts:
    """The ports of a session, and what they keep for it."""

    def __init__(self, parts: PortParts) -> None:
        self.parts = parts
        self.todos = SessionTodos()
        self.commanding = form_of(parts.profile.commands or "any")
        known = language_servers(parts.settings.lsp, parts.surroundings.environment)
        self._servers = SessionServers(known, parts.session.workspace)
        self.artifacts = _artifacts(parts)

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            Commanding: lambda _call: self.commanding,
            LanguageServers: self._language_servers,
            Artifacts: lambda call: CallArtifacts(self.artifacts, call),
        }

    def _language_servers(self, call: Runtime) -> CallServers:
        return CallServers(self._servers, call, lambda: self.parts.hand.shell(call))


def _artifacts(parts: PortParts) -> SessionArtifacts:
    limits = parts.settings.limits
    quotas = Quotas(limits.sidecar_call_bytes, limits.sidecar_session_bytes)
    return SessionArtifacts(parts.surroundings.data_home / "sessions", parts.session.id, quotas)
