"""What stands behind the tools of `tools/managed/shell`, put together for one session."""

from functools import partial

from holdfast.app.managed.basis import Basis, ManagedParts
from holdfast.app.managed.session_shell import SessionShell
from holdfast.contract.managed.shell import ShellKeeping, ShellReading
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.artifact_folder import ArtifactFolder


def shells_of(basis: Basis, folder: ArtifactFolder | None = None) -> SessionShell:
    """Who knows how the shells of the agent's sessions stand; ``folder``: where it is shown."""
    parts = basis.parts
    return SessionShell(
        basis.ground,
        parts.session.workspace,
        lambda: parts.hand.commands,
        partial(_kept, parts),
        folder,
    )


def _kept(parts: ManagedParts, name: str, text: str) -> str | None:
    stored = parts.sidecars.keep(parts.session.id, name, text.encode("utf-8", "replace"))
    return None if stored is None else stored.path


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    return {
        ShellReading: lambda _call: basis.shells.reader,
        ShellKeeping: lambda _call: basis.shells.keeper,
    }
