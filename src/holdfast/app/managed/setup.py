"""What stands behind the tools of `tools/managed/setup`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.runtime import Ports


def ports_of(basis: Basis) -> Ports:  # noqa: ARG001 - nothing of it is there yet
    """By port, what each call is handed."""
    return {}
