"""Makes the sandboxes of a session: their directories, and what their commands are told.

Nothing is started here, and which policy gets which sandbox is not known.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from holdfast.contract.errors import Unavailable
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.network.conversation import Ways
from holdfast.execution.processes.appearances import settled
from holdfast.execution.processes.capture import Scrubber
from holdfast.execution.processes.claims import SCRATCH, Claim, remove_abandoned
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts, Spools
from holdfast.execution.processes.scratch import make_scratch
from holdfast.execution.processes.tenure import Tenure
from holdfast.execution.sidecars import make_private


class Shared(NamedTuple):
    """What all sandboxes of a session have in common."""

    session: SessionFacts
    environment: Mapping[str, str]
    spools: Spools
    scrubber: Callable[[], Scrubber] | None
    confinement: Confinement | None
    tenure: Tenure | None = None


class SandboxMaker:
    """Makes sandboxes in a session's folder, and removes what is left of them."""

    def __init__(self, shared: Shared, folder: Path) -> None:
        self._shared = shared
        self._folder = folder
        self._claim: Claim | None = None
        self._numbers = count()

    def made(
        self, policy: SandboxPolicy, ways: Ways | None, *, files_only: bool = False
    ) -> Sandbox:
        """One of its own; raises Unavailable where there is no place for it."""
        folder = self._folder / SCRATCH
        try:
            self._claim_it()
            make_private(folder)
            scratch = self._place_in(folder)
        except OSError as problem:
            raise _no_place(str(folder), problem) from None
        return Sandbox(self._parts(policy, scratch, ways)._replace(files_only=files_only))

    def remove(self) -> None:
        """Remove all their directories; nothing runs in them any more. It blocks."""
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.release()

    def _place_in(self, folder: Path) -> Scratch:
        while True:
            # What is there already was left by a runtime that was killed, or is another's.
            with suppress(FileExistsError):
                own = folder / str(next(self._numbers))
                return make_scratch(own, self._shared.environment.get("HOME"))

    def _claim_it(self) -> None:
        if self._claim is None:
            self._claim = Claim(self._folder)
            # By the way, what runtimes left that were killed.
            Thread(target=remove_abandoned, args=(self._folder.parent,), daemon=True).start()

    def _parts(self, policy: SandboxPolicy, scratch: Scratch, ways: Ways | None) -> SandboxParts:
        shared = self._shared
        workspace = shared.session.workspace
        variables = {"HOLDFAST_SESSION": shared.session.id}
        if workspace is not None:
            variables["HOLDFAST_WORKSPACE"] = workspace
        return SandboxParts(
            policy=settled(policy),
            scratch=scratch,
            workspace=workspace or scratch.temporary,
            environment=shared.environment,
            spools=shared.spools,
            scrubber=shared.scrubber,
            variables=variables,
            confinement=shared.confinement,
            ways=ways,
            tenure=shared.tenure,
        )


def _no_place(path: str, problem: OSError) -> Unavailable:
    return Unavailable(
        f"There is no place for a sandbox's files: nothing can be made in {path}"
        f" ({problem.strerror}). Set HOLDFAST_HOME to a directory that can be written."
    )
