"""What the commands of a session print, for whoever watches it from another window.

Nobody tells that by itself: whoever runs the session is asked again and again.
"""

from collections.abc import Callable
from contextlib import suppress

from anyio import sleep

from holdfast.agent.place import Sign
from holdfast.app.control.client import Owner, RefusedRequest, Unreachable, owner_of
from holdfast.app.control.following import Followed
from holdfast.app.session_store import runner_of
from holdfast.app.settings import Surroundings
from holdfast.contract.events import CallAsked, CallSettled, Event
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.runtime import Progress
from holdfast.contract.shell import LiveCommand
from holdfast.runtime.clock import SystemClock

LOOK_SECONDS = 0.5


class CommandSigns:
    """Tells the last line of each command when it is new, as a sign of life of its call.

    Only of calls that whoever watches knows: what was asked for comes by another way, and may come
    later.
    """

    def __init__(
        self, session_id: str, journal: Journal, around: Surroundings, tell: Callable[[Sign], None]
    ) -> None:
        self._session_id = session_id
        self._journal = journal
        self._around = around
        self._tell = tell
        self._open: set[str] = set()
        self._told: dict[str, str] = {}

    def note(self, told: Followed) -> None:
        """Whoever watches was told this."""
        match told.payload if isinstance(told, Event) else None:
            case CallAsked(call_id=call_id):
                self._open.add(call_id)
            case CallSettled(call_id=call_id):
                self._open.discard(call_id)
            case _:
                pass

    async def __call__(self) -> None:
        """Look and tell, until nobody wants to hear it."""
        while True:
            # Who does not answer is asked again: the session may have been taken up elsewhere.
            with suppress(Unreachable, RefusedRequest, JournalError):
                lease = (await self._journal.session(self._session_id)).lease
                if lease is not None and runner_of(lease, SystemClock()) == "somebody":
                    async with owner_of(self._session_id, lease.holder, self._around) as owner:
                        await self._ask(owner)
            await sleep(LOOK_SECONDS)

    async def _ask(self, owner: Owner) -> None:
        while True:
            if self._open:
                for one in await owner.commands(self._session_id):
                    self._look_at(await owner.tail(self._session_id, one.id))
            await sleep(LOOK_SECONDS)

    def _look_at(self, command: LiveCommand) -> None:
        line = last_printed(command)
        if command.call_id in self._open and line and self._told.get(command.id) != line:
            self._told[command.id] = line
            self._tell(Sign(call_id=command.call_id, progress=Progress(message=line)))


def last_printed(command: LiveCommand) -> str:
    """The last line that a command printed."""
    lines = (command.stdout_tail.strip() or command.stderr_tail.strip()).splitlines()
    return lines[-1] if lines else ""
