"""What stands behind the tools of `tools/managed/sandbox`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.sandbox import SandboxDesk
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.sandbox_desk import ManagedSandbox


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    desk = ManagedSandbox(basis.shells.book, basis.shells.reader)
    return {SandboxDesk: lambda _call: desk}
