"""What stands behind the tools of `tools/managed/resources`, put together for one session."""

from collections.abc import Callable
from functools import partial

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.resources import SharedFiles
from holdfast.contract.mounts import of_kind
from holdfast.contract.runtime import Ports, Runtime
from holdfast.runtime.managed.call_reach import CallReach
from holdfast.runtime.managed.resource_port import CallFiles
from holdfast.runtime.managed.sharing import Desk
from holdfast.runtime.managed.substrate import Substrate
from holdfast.runtime.managed.write_leases import SessionLease

_LEASES = "leases"


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    return {SharedFiles: files_of(basis)}


def files_of(basis: Basis) -> Callable[[Runtime], CallFiles]:
    """The shared files, as a call reaches them."""
    desk = Desk(basis.ground, Substrate(basis.ground, _lease(basis)), basis.gate, basis.artifacts)
    return partial(_of_call, desk, basis)


def _of_call(desk: Desk, basis: Basis, call: Runtime) -> CallFiles:
    against = partial(basis.parts.against_writing, call)
    return CallFiles(desk, CallReach(lambda: call.fs, against))


def _lease(basis: Basis) -> SessionLease:
    mount = of_kind(basis.ground.mounts, "agent_substrate")
    folder = basis.parts.surroundings.data_home / _LEASES
    return SessionLease(
        folder, "nothing" if mount is None else mount.mount_path, basis.ground.session_id
    )
