"""What the commands of a session print, for whoever watches it from another window.

Nobody tells that by itself: whoever runs the session is asked again and again.
"""

from collections.abc import Callable
from contextlib import suppress

from anyio import sleep

from holdfast.agent.place import Sign
from holdfast.app.control.client import Owner, RefusedRequest, Unreachable, owner_of
from holdfast.app.session_store import runner_of
from holdfast.app.settings import Surroundings
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.runtime import Progress
from holdfast.contract.shell import LiveCommand
from holdfast.runtime.clock import SystemClock

LOOK_SECONDS = 0.5


async def tell_printed(
    session_id: str, journal: Journal, around: Surroundings, tell: Callable[[Sign], None]
) -> None:
    """Tell the last line of each command when it is new, until nobody wants to hear it."""
    told: dict[str, str] = {}
    while True:
        # Who does not answer is asked again: the session may have been taken up elsewhere.
        with suppress(Unreachable, RefusedRequest, JournalError):
            lease = (await journal.session(session_id)).lease
            if lease is not None and runner_of(lease, SystemClock()) == "somebody":
                async with owner_of(session_id, lease.holder, around) as owner:
                    await _asked(owner, session_id, told, tell)
        await sleep(LOOK_SECONDS)


async def _asked(
    owner: Owner, session_id: str, told: dict[str, str], tell: Callable[[Sign], None]
) -> None:
    while True:
        for one in await owner.commands(session_id):
            found = await owner.tail(session_id, one.id)
            line = last_printed(found)
            if found.call_id and line and told.get(found.id) != line:
                told[found.id] = line
                tell(Sign(call_id=found.call_id, progress=Progress(message=line)))
        await sleep(LOOK_SECONDS)


def last_printed(command: LiveCommand) -> str:
    """The last line that a command printed."""
    lines = (command.stdout_tail.strip() or command.stderr_tail.strip()).splitlines()
    return lines[-1] if lines else ""
