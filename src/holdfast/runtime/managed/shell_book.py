"""How the shells of an agent's sessions stand, by what their events tell and by the live process.

What can be done in them is not known here.
"""

from holdfast.contract.managed.shell_views import ShellPosture, ShellState
from holdfast.contract.shell import PersistentFacts
from holdfast.runtime.managed.ground import Ground


class ShellBook:
    """As one session sees it."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def live(self) -> PersistentFacts | None:
        """The calling session's persistent shell, as it is this moment; None: none lives here."""
        return self._ground.live_shell()

    async def state(self, session_id: str | None = None, /) -> ShellState:
        """What is durable of a session's shell; without an id, of the calling one."""
        session = await self._ground.session(session_id)
        return ShellState(cwd=session.state.workspace or "/")

    async def posture(self, session_id: str | None = None, /) -> ShellPosture:
        """What can be done with it. The live view counts for the calling session alone."""
        return ShellPosture(status="none", cwd=(await self.state(session_id)).cwd)
