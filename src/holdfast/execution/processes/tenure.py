"""How long the processes of a session may run: until a moment that is put off again and again.

Each warden knows the moment and keeps to it by itself. So a runtime that stands still, or has lost
the session to another machine, has no process left by then, and one that goes on later starts none:
a warden that is begun after the moment ends at once. Why it is put off is not known here.
"""

from collections.abc import Awaitable, Callable

from anyio import sleep

from holdfast.execution.drive import Delayed
from holdfast.execution.processes.wardens import Warden

_END_SECONDS = 5.0


class Tenure:
    """Of one session. Used on one event loop."""

    def __init__(self, put_off: Callable[[], Awaitable[None]], seconds: float) -> None:
        """``put_off``: asked every so many seconds as long as anything runs."""
        self._put_off = put_off
        self._seconds = seconds
        self._until: float | None = None
        self._wardens: list[Warden] = []
        self._asking: Delayed | None = None

    def hold(self, until: float) -> None:
        """All may run until then, in seconds since the machine was started."""
        self._until = until
        for warden in self._living():
            warden.live_until(until)

    def include(self, warden: Warden) -> None:
        """Another warden was started; nothing runs in it yet."""
        self._wardens = [*self._living(), warden]
        if self._until is not None:
            warden.live_until(self._until)
        if self._asking is None or not self._asking.is_under_way:
            self._asking = Delayed(0, self._ask)

    async def close(self) -> None:
        """Nothing runs any more."""
        asking, self._asking = self._asking, None
        self._wardens = []
        if asking is not None:
            await asking.end(_END_SECONDS)

    async def _ask(self) -> None:
        while living := self._living():
            if any(warden.pool.busy for warden in living):
                await self._put_off()
            await sleep(self._seconds)

    def _living(self) -> list[Warden]:
        return [warden for warden in self._wardens if not warden.lost]
