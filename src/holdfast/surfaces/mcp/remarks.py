"""What is doubtful about the sources of tools while they are served, for the person at the server.

A line on standard error, once for each change, however many sessions see it. What is doubtful is
found elsewhere.
"""

import select
from collections.abc import Callable, Collection

_STDERR = 2
_MOST_CHARACTERS = 800
"""Of a line: it has to fit into a pipe whenever there is room at all."""


class Remarks:
    """Remembers what was said."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """``tell``: writes one line to standard error."""
        self._tell = tell
        self._by_session: dict[object, Collection[str]] = {}
        self._room = select.poll()
        self._room.register(_STDERR, select.POLLOUT)

    def take(self, session: object, now: Collection[str]) -> None:
        """Say what nobody has found doubtful before."""
        known = {one for others in self._by_session.values() for one in others}
        self._by_session[session] = now
        for remark in now:
            # Some clients never read what their servers say: the server must not wait for them.
            if remark not in known and self._room.poll(0):
                known.add(remark)
                self._tell(remark[:_MOST_CHARACTERS])

    def forget(self, session: object) -> None:
        """It is over."""
        self._by_session.pop(session, None)
