"""What stands behind the tools of `tools/managed/shell`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.shell_book import ShellBook


def shell_of(basis: Basis) -> ShellView:
    """Who knows how the shells of the agent's sessions stand."""
    return ShellBook(basis.ground)


def ports_of(basis: Basis) -> Ports:  # noqa: ARG001 - nothing of it is there yet
    """By port, what each call is handed."""
    return {}
