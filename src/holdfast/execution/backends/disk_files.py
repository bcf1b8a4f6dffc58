"""The files of a local sandbox: opened as they were judged, and nobody takes changes back."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from holdfast.contract.files import Files
from holdfast.contract.gates import PathGate
from holdfast.execution.files.changes import State, observed
from holdfast.execution.files.disk_files import DiskFiles
from holdfast.execution.files.locks import PathLocks
from holdfast.execution.files.opening import Spot
from holdfast.execution.files.recorder import Recorder


class Unrecorded(Recorder):
    """Records nothing: what is changed belongs to the sandbox, as what its commands change does."""

    def __init__(self) -> None:
        """There is nothing to record to."""

    def changing(self) -> AbstractContextManager[None]:
        """Nothing to wait for."""
        return nullcontext()

    def before(self, spot: Spot) -> State:
        """What is there; it is not kept."""
        return observed(spot)

    @contextmanager
    def recorded(
        self,
        spot: Spot,  # noqa: ARG002 - the interface's
        before: State,  # noqa: ARG002 - the interface's
        after: State,  # noqa: ARG002 - the interface's
        aside: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Generator[None]:
        """Let it happen."""
        yield


def sandbox_files(gate: PathGate, working_dir: str) -> Files:
    """What the gate admits, relative paths from that directory."""
    return DiskFiles(gate, working_dir, Unrecorded(), PathLocks())
