"""What stands behind the tools of `tools/managed/resources`, put together for one session."""

from functools import partial

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.resources import SharedFiles
from holdfast.contract.mounts import of_kind
from holdfast.contract.runtime import Ports, Runtime
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.call_reach import CallReach
from holdfast.runtime.managed.resource_port import CallFiles, Desk
from holdfast.runtime.managed.substrate import Substrate
from holdfast.runtime.managed.write_leases import SessionLease

ARTIFACTS = ".holdfast-runtime"
"""The folder of the workspace in which sessions are shown what is known of them."""
_LEASES = "leases"


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    desk = Desk(basis.ground, Substrate(basis.ground, _lease(basis)), basis.gate, _shown(basis))
    return {SharedFiles: partial(_of_call, desk, basis)}


def _of_call(desk: Desk, basis: Basis, call: Runtime) -> CallFiles:
    against = partial(basis.parts.against_writing, call)
    return CallFiles(desk, CallReach(lambda: call.fs, against))


def _lease(basis: Basis) -> SessionLease:
    mount = of_kind(basis.ground.mounts, "agent_substrate")
    folder = basis.parts.surroundings.data_home / _LEASES
    return SessionLease(
        folder, "nothing" if mount is None else mount.mount_path, basis.ground.session_id
    )


def _shown(basis: Basis) -> ArtifactFolder | None:
    mount, path = of_kind(basis.ground.mounts, "session_workspace"), basis.ground.artifacts
    if mount is None or path is None:
        return None
    return ArtifactFolder(path.parent.parent, (ARTIFACTS, path.name), basis.ground.clean)
